// The planners that simccl offers.
#ifndef DRYDOCK_SIMCCL_PLANNER_TABLE_H_
#define DRYDOCK_SIMCCL_PLANNER_TABLE_H_

#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "simccl/planner/collective_planner.h"

namespace drydock {

struct PlannerOptions {
  std::string nccl_library;  // empty: the libhacknccl.so that set-up built
  std::string file;          // of a choice with a file
};

struct PlannerChoice {
  const char* name;
  bool has_file;  // it is given as NAME:FILE
  const char* summary;
  // `topology` must outlive the planner.
  Result<std::unique_ptr<CollectivePlanner>> (*make)(const Topology& topology,
                                                     const PlannerOptions& options);
};

// Returns all choices. The first is the default.
std::span<const PlannerChoice> PlannerChoices();

// Returns the choice called `name`, "nccl" or "custom:FILE". The error lists the valid names.
Result<const PlannerChoice*> FindPlanner(const std::string& name);
// Returns the FILE of a name, or "".
std::string FileOfPlanner(const std::string& name);
// Returns a name as a user writes it: "custom:FILE".
std::string UsageOf(const PlannerChoice& choice);

// Returns a planner of this choice. Calls in Transformer Engine's userbuffers, and exchanges of
// tokens by DeepEP and HybridEP, bypass it.
// `topology` must outlive the planner.
Result<std::unique_ptr<CollectivePlanner>> MakePlanner(const PlannerChoice& choice,
                                                       const Topology& topology,
                                                       const PlannerOptions& options);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PLANNER_TABLE_H_
