#include "workload-gen/graph/check/proof.h"

#include <fmt/format.h>

#include <utility>

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
      "{} ranks, {} programs of {} ops together: no circle, every op is reached; {} kinds of "
      "ranks by whom they meet: {} collectives are made by all members in one order, {} sends and "
      "receives have their other half",
      w.rank_count(), w.class_count, report.ops, report.rank_classes, report.collectives,
      report.messages);
}

}  // namespace drydock
