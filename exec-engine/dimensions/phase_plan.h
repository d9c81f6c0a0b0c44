// How ASTRA-sim's system layer divides a collective: it cuts the collective into chunks, and each
// chunk passes through one dimension after another, with a phase in each. A reduce-scatter leaves
// fewer bytes to the next phase, an all-gather more.
#ifndef DRYDOCK_EXEC_ENGINE_DIMENSIONS_PHASE_PLAN_H_
#define DRYDOCK_EXEC_ENGINE_DIMENSIONS_PHASE_PLAN_H_

#include <cstdint>
#include <vector>

#include "core/model/fabric/dimension_network.h"
#include "core/model/workload.h"

namespace drydock {

// The NPUs that a phase connects: NPUs in equal steps along a dimension, or the members of a group.
struct PhaseRing {
  int first = 0, stride = 1, size = 1;
  const std::vector<int>* members = nullptr;
  // `position` counts modulo `size` and may be negative.
  int NpuAt(int64_t position) const {
    const auto at = static_cast<int>((position % size + size) % size);
    return members == nullptr ? first + at * stride : (*members)[static_cast<size_t>(at)];
  }
};

struct PhasePlan {
  CollectiveType type = CollectiveType::kAllReduce;
  DimensionRule rule;
  int dimension = 0;
  PhaseRing ring;
  int position = 0;  // of this NPU in the ring
  int64_t bytes = 0;
  bool root_is_first = false;  // kDoubleBinaryTree: which of the two trees
  bool in_group = false;       // the ring of a group, whose endpoint has a different delay
};

// A call of an NPU. `bytes` is ASTRA-sim's comm_size: one member's part of an all-gather, else the
// buffer. The type is all-reduce, all-gather, reduce-scatter or all-to-all.
struct DimensionCall {
  uint64_t name = 0;  // the same at all members, unique among calls
  CollectiveType type = CollectiveType::kAllReduce;
  int64_t bytes = 0;
  const std::vector<int>* members = nullptr;  // null: all NPUs; outlives the call
  int priority = 0;                           // ChunkOrder::kExplicit
};

// Returns the bytes of each chunk, in the order of the chunks.
std::vector<int64_t> ChunksOf(int64_t bytes, int splits);

// Returns a chunk's phases at `npu`, in order; none in a group of one. `tree_phases` counts, by
// dimension, the phases over trees so far, which alternate between the two trees.
std::vector<PhasePlan> PhasesOf(const DimensionNetwork& network, const CollectiveSystem& system,
                                const DimensionCall& call, int64_t chunk, int npu,
                                std::vector<uint32_t>* tree_phases);

// Returns the bytes that a phase leaves to the next one.
int64_t BytesAfter(CollectiveType type, int64_t bytes, int npus);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_DIMENSIONS_PHASE_PLAN_H_
