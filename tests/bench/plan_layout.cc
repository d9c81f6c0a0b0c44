// plan_layout RUN: measures how long it takes to create every communicator of a run's workload, one
// at a time as workload-gen does, and then to plan every call as simccl does. Prints
//     <CPU seconds to create> <to plan> <peak MB> <communicators> <plans>
#include <fmt/format.h>

#include <memory>

#include "core/schema/artefacts/artefacts.h"
#include "simccl/plan/plan_workload.h"
#include "simccl/planner_table.h"
#include "tests/bench/usage.h"
#include "workload-gen/graph/check/communicators.h"

namespace drydock {
namespace {

Status Main(const std::string& run) {
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run, WorkloadParts::kTables));
  const double start = CpuSeconds();
  ASSIGN_OR_RETURN(const size_t communicators, CreateCommunicators(file.workload, {}));
  const double created = CpuSeconds();
  ASSIGN_OR_RETURN(const auto planner,
                   MakePlanner(PlannerChoices().front(), file.workload.topology, {}));
  ASSIGN_OR_RETURN(const FlowPlan plans,
                   PlanWorkload(file.workload, planner.get(), [](size_t, size_t) {}));
  fmt::print("{:.4f} {:.4f} {:.1f} {} {}\n", created - start, CpuSeconds() - created,
             PeakMegabytes(), communicators, plans.plans.size());
  return OkStatus();
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: plan_layout RUN\n");
    return 2;
  }
  const drydock::Status status = drydock::Main(argv[1]);
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", status.error().ToString());
  return 1;
}
