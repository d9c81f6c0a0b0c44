// Runs a whole workload as ASTRA-sim's workload layer does, over its system layer and its
// congestion-unaware analytical network (dimensions/dimension_system.h).
//
// A node begins when all nodes that it waits for have ended and its NPU is free for it: an NPU runs
// one node of its host, one of compute and one of communication at a time, and any number of
// receives. Of the nodes that may begin, the one with the smallest id does. A send ends when its
// message arrives.
#ifndef DRYDOCK_EXEC_ENGINE_ASTRA_ASTRA_REPLAY_H_
#define DRYDOCK_EXEC_ENGINE_ASTRA_ASTRA_REPLAY_H_

#include <vector>

#include "core/base/result.h"
#include "exec-engine/astra/astra_trace.h"

namespace drydock {

struct AstraNpuTimes {
  Time end;
  Time compute;  // while a node of compute runs
  Time exposed;  // until the end, while none does
};

// Returns the times by NPU; a single one if one NPU stands for all. The error names a node that
// never ends.
Result<std::vector<AstraNpuTimes>> ReplayAstra(const AstraWorkload& workload,
                                               const DimensionNetwork& network,
                                               const CollectiveSystem& system);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_ASTRA_ASTRA_REPLAY_H_
