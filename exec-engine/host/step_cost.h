// What a primitive costs the thread block that runs it, synchronisation excluded.
#ifndef DRYDOCK_EXEC_ENGINE_HOST_STEP_COST_H_
#define DRYDOCK_EXEC_ENGINE_HOST_STEP_COST_H_

#include <string_view>

#include "core/model/flow_plan.h"
#include "core/model/gpu.h"
#include "exec-engine/host/ports.h"

namespace drydock {

bool IsNvls(Algorithm algorithm);

const CollectiveCosts::Protocol& CostsOf(const Work& work, const CollectiveCosts& costs);

// What a thread block does with the data that passes on a connection.
enum class Handling : char {
  kBuffered = 'b',  // moves it, at its end between the user's buffer and NCCL's
  kDirect = 'd',    // the sender stores it into the receiver's own buffer
  kFetched = 'f',   // the receiver of a message loads it from the sender's
  kOffloaded = 'o'  // nothing: the NICs, or the switches, read and write the users' buffers
};
Handling HandlingOf(const Connection& connection, Algorithm algorithm);

// Of a step of a work whose protocol counts bytes, not passes. `handling` has a letter for each
// operand of the program, or none where all are buffered.
//
// Direct: what is received without a sum is where it belongs, so a step that does not pass it on
// has nothing to do; one that does is counted as if it kept a copy, too, for no measurement tells
// the two apart. Offloaded sends cost nothing (NCCL's prims_simple.h: a slice of registered buffers
// is a pointer that is handed on), but what is kept is copied. Sums and multicast are the thread
// block's own work in any case.
ByteCost CostOf(const Step& step, const Work& work, const GpuSpec& gpu, std::string_view handling);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_HOST_STEP_COST_H_
