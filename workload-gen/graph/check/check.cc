#include "workload-gen/graph/check/check.h"

#include <fmt/format.h>

#include <utility>

#include "core/model/deadlock/deadlock.h"
#include "core/schema/artefacts/trace_file.h"
#include "workload-gen/graph/check/check_steps.h"

namespace drydock {
namespace {

// Checks that every op ends if no send waits. Adds a note if an op does not end when all sends
// wait.
void CheckProgress(const Workload& workload, CheckReport* report) {
  const Status free = CheckDeadlock(workload, UnplannedSends::kEnd);
  if (!free.ok()) return report->violations.Add(free.error().message());
  if (report->messages == 0) return;
  const Status waiting = CheckDeadlock(workload, UnplannedSends::kWait);
  if (waiting.ok()) return;
  report->notes.push_back(
      "it ends only if messages fit into NCCL's buffers (simccl checks this): if "
      "sends wait for their receives, " +
      waiting.error().message());
}

}  // namespace

std::string OpPlace(const Workload& workload, int rank, uint32_t op) {
  const auto rank_class = static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
  return fmt::format("rank {}, op {} ({})", rank, op,
                     OpName(workload, workload.programs[rank_class].ops[op]));
}

CheckReport CheckWorkload(const Workload& workload) {
  CheckReport report;
  for (const Program& program : workload.programs) report.ops += program.ops.size();
  CheckStructure(workload, &report.violations);
  if (report.violations.count() > 0) return report;
  CheckGroups(workload, &report.violations);
  if (report.violations.count() > 0) return report;
  CheckUses(workload, &report.violations);
  const RankClasses classes = FindRankClasses(workload, GroupsWithMessages(workload));
  report.rank_classes = classes.first_rank.size();
  const Result<std::vector<ClassProgram>> programs = MakeClassPrograms(workload, classes);
  if (!programs.ok()) {
    report.violations.Add(programs.error().message());
    return report;
  }
  CheckMatching(workload, classes, *programs, &report);
  if (report.violations.count() == 0) CheckProgress(WithHostWaits(workload), &report);
  return report;
}

}  // namespace drydock
