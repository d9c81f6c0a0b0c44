// What differs by chance between ops that are alike (Variation::jitter). Each draw is a function of
// the seed and of whom it is for, so it does not matter when, where and how often it is made.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_JITTER_DRAWS_H_
#define DRYDOCK_EXEC_ENGINE_HOST_JITTER_DRAWS_H_

#include <cstdint>

#include "core/base/units.h"
#include "core/model/variation.h"

namespace drydock {

class JitterDraws {
 public:
  explicit JitterDraws(const Jitter& jitter) : jitter_(jitter) {}

  // What a compute op that takes `duration` on average takes on this rank: normally distributed,
  // cut off at three standard deviations.
  Time ComputeTime(Time duration, int rank, uint32_t op) const;
  // How late the rank comes to a communication op: exponentially distributed.
  Time CallDelay(int rank, uint32_t op) const;

 private:
  // Uniform in (0, 1]; `number` tells several for one op apart.
  double Uniform(int rank, uint32_t op, uint64_t number) const;

  const Jitter jitter_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_JITTER_DRAWS_H_
