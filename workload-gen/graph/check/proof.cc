#include "workload-gen/graph/check/proof.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/plural.h"

namespace drydock {

Status ToStatus(const CheckReport& report, const std::string& path) {
  const Violations& violations = report.violations;
  if (violations.count() == 0) return OkStatus();
  std::vector<Diagnostic> diagnostics;
  for (const std::string& text : violations.texts()) {
    diagnostics.push_back({text, {path, 0, 0}, {}});
  }
  if (violations.count() > violations.texts().size()) {
    diagnostics.push_back(
        {fmt::format("and {} violations more", violations.count() - violations.texts().size()),
         {path, 0, 0},
         {}});
  }
  return Error(std::move(diagnostics));
}

std::string ProofText(const Workload& w, const CheckReport& report) {
  return fmt::format(
      "{}, {} of {} together: no cycle, every op is reached; {} of ranks in their groups: "
      "collectives ({}) have the same order on all members, sends and receives ({}) match",
      Plural(w.rank_count(), "rank"), Plural(w.class_count, "program"), Plural(report.ops, "op"),
      Plural(report.rank_classes, "class"), report.collectives, report.messages);
}

}  // namespace drydock
