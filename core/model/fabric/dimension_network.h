// A network as ASTRA-sim describes it: NPUs on a grid in which each dimension is a ring, a switch
// or a full mesh with its own bandwidth and latency; rings in several dimensions are a torus.
// CollectiveSystem describes how ASTRA-sim's system layer divides a collective into messages. Plain
// data; immutable once built.
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
  // Distance in NPU numbers to the next NPU along a dimension.
  int stride(size_t dimension) const { return strides_[dimension]; }
  int CoordinateOf(int npu, size_t dimension) const {
    return npu / strides_[dimension] % dimensions_[dimension].npus;
  }
  // Returns how long a message takes without contention: the latencies of its hops plus its bytes
  // at the bandwidth of the first dimension in which the NPUs differ, which ASTRA-sim uses for the
  // whole path. In whole nanoseconds, rounded down. REQUIRES: `from` != `to`.
  Time Delay(int from, int to, int64_t bytes) const;

 private:
  std::vector<NetworkDimension> dimensions_;
  std::vector<int> strides_;
  int npus_ = 1;
};

enum class DimensionAlgorithm : uint8_t { kRing, kDirect, kHalvingDoubling, kDoubleBinaryTree };

struct DimensionRule {
  DimensionAlgorithm algorithm = DimensionAlgorithm::kRing;
  int window = 0;         // kDirect: concurrent messages; 0: to all others
  bool over_all = false;  // "oneRing" etc.: one phase over all NPUs, not one per dimension
};

// Which chunks go first if several collectives wait: those of the last call, those of the first
// call, or those of the call with the highest priority.
enum class ChunkOrder : uint8_t { kLifo, kFifo, kExplicit };

struct CollectiveSystem {
  // By dimension.
  std::vector<DimensionRule> all_reduce, all_gather, reduce_scatter, all_to_all;
  ChunkOrder order = ChunkOrder::kLifo;
  int splits = 1;            // chunks per collective
  int active_chunks = 1;     // concurrent in a dimension
  Time endpoint_delay;       // between an NPU and its network, whole nanoseconds
  Bandwidth memory;          // a sum writes once and reads twice
  bool hierarchical = true;  // all-reduce: reduce-scatter out, all-gather back
  // How long an NPU computes: by a roofline of `peak` and `memory`, or as a trace states it.
  bool roofline = false;
  FlopRate peak;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_DIMENSION_NETWORK_H_
