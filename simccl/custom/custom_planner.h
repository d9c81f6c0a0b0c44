// The planner of `--planner custom:FILE`: calls that the file's algorithm is for follow it, and
// another planner plans all others.
//
// MSCCL's interpreter runs an algorithm with NCCL's primitives: it passes the whole program once
// for each piece that fits a connection's buffer. So a plan has the steps of the file, over the
// connections that NCCL makes between two ranks for messages.
#ifndef DRYDOCK_SIMCCL_CUSTOM_CUSTOM_PLANNER_H_
#define DRYDOCK_SIMCCL_CUSTOM_CUSTOM_PLANNER_H_

#include <memory>
#include <string>

#include "core/nccl/nccl_library.h"
#include "simccl/custom/msccl_file.h"
#include "simccl/planner/collective_planner.h"

namespace drydock {

// Returns true if the algorithm is for a call over that many members: its collective, members and
// sizes, and a count that divides into its chunks.
bool IsFor(const MscclAlgorithm& algorithm, const CommCall& call, int members);

// Returns the plan of a call, which is proven: every member ends with the data that the call
// defines. The error names the GPU's line in the file otherwise. REQUIRES: IsFor.
Result<Plan> PlanMsccl(const MscclAlgorithm& algorithm, const CommCall& call,
                       const NcclCommunicator& communicator);

// Errors: those of the file, and of NcclLibrary::Find. `topology` must outlive the planner.
Result<std::unique_ptr<CollectivePlanner>> MakeCustomPlanner(
    const Topology& topology, const std::string& file, const std::string& nccl_library,
    std::unique_ptr<CollectivePlanner> others);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_CUSTOM_CUSTOM_PLANNER_H_
