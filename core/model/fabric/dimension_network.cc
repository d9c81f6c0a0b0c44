#include "core/model/fabric/dimension_network.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr int64_t kPsPerSecond = 1'000'000'000'000, kPsPerNs = 1000;

int64_t Hops(const NetworkDimension& dimension, int from, int to) {
  if (dimension.shape == DimensionShape::kFullyConnected) return 1;
  if (dimension.shape == DimensionShape::kSwitch) return 2;
  const int there = std::abs(to - from);
  return std::min(there, dimension.npus - there);  // rings have both directions
}

}  // namespace

const std::vector<std::string>& DimensionShapeNames() {
  static const std::vector<std::string> names = {"Ring", "FullyConnected", "Switch"};
  return names;
}

DimensionNetwork::DimensionNetwork(std::vector<NetworkDimension> dimensions)
    : dimensions_(std::move(dimensions)) {
  for (const NetworkDimension& dimension : dimensions_) {
    CHECK(dimension.npus > 0 && dimension.bandwidth > Bandwidth());
    strides_.push_back(npus_);
    npus_ *= dimension.npus;
  }
}

Time DimensionNetwork::Delay(int from, int to, int64_t bytes) const {
  CHECK(from != to);
  size_t d = 0;
  while (CoordinateOf(from, d) == CoordinateOf(to, d)) ++d;
  const NetworkDimension& dimension = dimensions_[d];
  const int64_t hops = Hops(dimension, CoordinateOf(from, d), CoordinateOf(to, d));
  const auto bits = static_cast<__int128>(bytes) * 8;
  const auto sending =
      static_cast<int64_t>(bits * kPsPerSecond / dimension.bandwidth.bits_per_second());
  return Time::Ns((dimension.latency.ps() * hops + sending) / kPsPerNs);
}

}  // namespace drydock
