// The cost of a step to the thread block that runs it, synchronization excluded.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_STEP_COST_H_
#define DRYDOCK_EXEC_ENGINE_HOST_STEP_COST_H_

#include <string_view>

#include "core/model/flow_plan.h"
#include "core/model/gpu.h"
#include "exec-engine/host/ports.h"

namespace drydock {

bool IsNvls(Algorithm algorithm);

const CollectiveCosts::Protocol& CostsOf(const Work& work, const CollectiveCosts& costs);

// How the data on a connection moves.
enum class Handling : char {
  kBuffered = 'b',   // each thread block copies between the user's buffer and NCCL's
  kDirect = 'd',     // the sender stores into the receiver's own buffer
  kFetched = 'f',    // the receiver of a message loads from the sender's own buffer
  kOffloaded = 'o',  // NICs or switches read and write the users' buffers, thread blocks do nothing
  kOwn = 'm'         // within a member's memory: the receiving step moves the data
};
Handling HandlingOf(const Connection& connection, Algorithm algorithm);

// Returns the cost of a step of a work whose protocol counts bytes, not passes. `handling` has a
// letter for each operand of the program, or is empty if all are buffered.
//
// Direct: data that is received without a sum is in its final place, so a step that only receives
// has nothing to do. A step that also sends the data counts as if it kept a copy, because no
// measurement distinguishes the two. Offloaded sends cost nothing (NCCL's prims_simple.h passes on
// a pointer to a slice of a registered buffer), but data that is kept is copied. Sums and multicast
// are work of the thread block in any case.
ByteCost CostOf(const Step& step, const Work& work, const GpuSpec& gpu, std::string_view handling);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_STEP_COST_H_
