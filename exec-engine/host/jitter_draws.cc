#include "exec-engine/host/jitter_draws.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drydock {
namespace {

// Cuts off the normal distribution, so that no op has a negative duration at the largest jitter
// that a cluster file may state. Part of the draw: another bound draws other durations.
constexpr double kMaxDeviations = 3;

// All draws use this function. It must not change, because another function would draw another
// jitter. A bijection; every bit of the result depends on every bit of `x`.
uint64_t Scramble(uint64_t x) {
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}

}  // namespace

double JitterDraws::Uniform(int rank, uint32_t op, uint64_t number) const {
  const uint64_t drawer = static_cast<uint64_t>(static_cast<uint32_t>(rank)) << 32 | op;
  const uint64_t seed = Scramble(static_cast<uint64_t>(jitter_.seed) + 1);
  const uint64_t drawn = Scramble(Scramble(drawer + seed) + number + 1);
  return static_cast<double>((drawn >> 11) + 1) * 0x1p-53;
}

Time JitterDraws::ComputeTime(Time duration, int rank, uint32_t op) const {
  if (jitter_.compute <= 0) return duration;
  // The Box-Muller transform.
  const double normal = std::sqrt(-2 * std::log(Uniform(rank, op, 0))) *
                        std::cos(2 * std::numbers::pi * Uniform(rank, op, 1));
  const double deviations = std::clamp(normal, -kMaxDeviations, kMaxDeviations);
  return Time::Ps(
      std::llround(static_cast<double>(duration.ps()) * (1 + jitter_.compute * deviations)));
}

Time JitterDraws::CallDelay(int rank, uint32_t op) const {
  if (jitter_.call <= Time()) return Time();
  return Time::Ps(
      std::llround(-static_cast<double>(jitter_.call.ps()) * std::log(Uniform(rank, op, 2))));
}

}  // namespace drydock
