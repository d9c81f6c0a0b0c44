// How ASTRA-sim's system layer makes phases of a collective: a collective is cut into chunks, and
// each chunk passes through one dimension after another, a phase in each. On the way a
// reduce-scatter leaves less to do, an all-gather more.
#ifndef DRYDOCK_EXEC_ENGINE_DIMENSIONS_PHASE_PLAN_H_
#define DRYDOCK_EXEC_ENGINE_DIMENSIONS_PHASE_PLAN_H_

#include <cstdint>
#include <vector>

#include "core/model/fabric/dimension_network.h"
#include "core/model/workload.h"

namespace drydock {

// Those whom a phase connects: NPUs in equal steps along a dimension, or the members of a group.
struct PhaseRing {
  int first = 0, stride = 1, size = 1;
  const std::vector<int>* members = nullptr;
  // Positions count round and round, in either direction.
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
  bool in_group = false;       // its endpoint has a delay of its own
};

// What an NPU asks for. `bytes` is ASTRA-sim's comm_size: an all-gather's part, else the buffer.
// The type is all-reduce, all-gather, reduce-scatter or all-to-all.
struct DimensionCall {
  uint64_t name = 0;  // the same at all members, and no other's
  CollectiveType type = CollectiveType::kAllReduce;
  int64_t bytes = 0;
  const std::vector<int>* members = nullptr;  // null: all NPUs; outlives the call
  int priority = 0;                           // ChunkOrder::kExplicit
};

// Bytes of each chunk, in the order in which they are made.
std::vector<int64_t> ChunksOf(int64_t bytes, int splits);

// A chunk's phases at `npu`, in order; none where there is nobody to talk to. `tree_turns`: by
// dimension, how many phases over trees there were before; they take the two trees in turns.
std::vector<PhasePlan> PhasesOf(const DimensionNetwork& network, const CollectiveSystem& system,
                                const DimensionCall& call, int64_t chunk, int npu,
                                std::vector<uint32_t>* tree_turns);

// What a phase leaves of so many bytes.
int64_t BytesAfter(CollectiveType type, int64_t bytes, int npus);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_DIMENSIONS_PHASE_PLAN_H_
