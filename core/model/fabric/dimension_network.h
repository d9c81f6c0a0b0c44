// A network as ASTRA-sim describes it: NPUs on a grid whose every dimension is a ring, a switch or
// a full mesh with a bandwidth and a latency of its own; rings in several dimensions are a torus.
// And how its system layer makes a collective of messages. Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_DIMENSION_NETWORK_H_
#define DRYDOCK_CORE_MODEL_FABRIC_DIMENSION_NETWORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace drydock {

enum class DimensionShape : uint8_t { kRing, kFullyConnected, kSwitch };
const std::vector<std::string>& DimensionShapeNames();  // "Ring", ...

struct NetworkDimension {
  DimensionShape shape = DimensionShape::kRing;
  int npus = 0;
  Bandwidth bandwidth;
  Time latency;  // of a hop
};

// NPU 0 is at the origin; the coordinate of the first dimension changes first.
class DimensionNetwork {
 public:
  DimensionNetwork() = default;
  explicit DimensionNetwork(std::vector<NetworkDimension> dimensions);

  const std::vector<NetworkDimension>& dimensions() const { return dimensions_; }
  int npus() const { return npus_; }
  // From an NPU to the next one along a dimension.
  int stride(size_t dimension) const { return strides_[dimension]; }
  int CoordinateOf(int npu, size_t dimension) const {
    return npu / strides_[dimension] % dimensions_[dimension].npus;
  }
  // How long a message takes: its hops' latencies and its bytes at the bandwidth of the first
  // dimension in which the two differ, which ASTRA-sim takes for the whole way; in whole
  // nanoseconds, rounded down. `from` and `to` are not the same. Nothing is contended for.
  Time Delay(int from, int to, int64_t bytes) const;

 private:
  std::vector<NetworkDimension> dimensions_;
  std::vector<int> strides_;
  int npus_ = 1;
};

enum class DimensionAlgorithm : uint8_t { kRing, kDirect, kHalvingDoubling, kDoubleBinaryTree };

struct DimensionRule {
  DimensionAlgorithm algorithm = DimensionAlgorithm::kRing;
  int window = 0;         // kDirect: messages at once; 0: to all others
  bool over_all = false;  // "oneRing" and the like: one phase over all NPUs, not one a dimension
};

// Which collective's chunks go first where several wait: the last one's, the first one's, or by the
// calls' own priorities.
enum class ChunkOrder : uint8_t { kLifo, kFifo, kExplicit };

struct CollectiveSystem {
  // By dimension.
  std::vector<DimensionRule> all_reduce, all_gather, reduce_scatter, all_to_all;
  ChunkOrder order = ChunkOrder::kLifo;
  int splits = 1;            // chunks of a collective
  int active_chunks = 1;     // at once in a dimension
  Time endpoint_delay;       // between an NPU and its network, whole nanoseconds
  Bandwidth memory;          // a sum writes once and reads twice
  bool hierarchical = true;  // all-reduce: scattered on the way out and gathered on the way back
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_DIMENSION_NETWORK_H_
