// The planner that asks NCCL. It creates the group's communicator on the virtual cluster, makes the
// call, and expands what NCCL would launch into steps.
#ifndef DRYDOCK_SIMCCL_NCCL_NCCL_PLANNER_H_
#define DRYDOCK_SIMCCL_NCCL_NCCL_PLANNER_H_

#include <memory>
#include <string>

#include "simccl/planner/collective_planner.h"

namespace drydock {

// `library_path` names libhacknccl.so (NcclLibrary::Find). Errors: the library is missing, or NCCL
// refuses the hosts or the settings. `topology` must outlive the planner.
Result<std::unique_ptr<CollectivePlanner>> MakeNcclPlanner(const Topology& topology,
                                                           const std::string& library_path = {});

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_NCCL_NCCL_PLANNER_H_
