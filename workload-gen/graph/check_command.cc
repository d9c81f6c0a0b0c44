// workload-gen check: proves that a workload can run.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/schema/artefacts/artefacts.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/check/proof.h"
#include "workload-gen/graph/commands.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "workload-gen check", "Proves that the ops of a workload can run to their end.",
    "reads RUN/1-workload/, writes nothing; docs/how-to/work-with-traces.md says what is proven",
    "workload-gen check runs/gpt-22b", false};

class CheckCommand final : public Command {
 public:
  CheckCommand() : Command(kInfo) {}

  void Declare(CLI::App* command, const CommonOptions&) override {
    command->add_option("run", run_, "Run directory")->type_name("RUN");
    RequireIf(command, "RUN", [this] { return run_.empty(); });
  }

  Status Run(const CommonOptions& common) const override {
    ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run_, WorkloadParts::kAll));
    const CheckReport report = CheckWorkload(file.workload);
    RETURN_IF_ERROR(ToStatus(report, run_ + "/" + kWorkloadName));
    for (const std::string& note : report.notes) Report(kInfo, common, "note: " + note);
    fmt::print("{}\n", ProofText(file.workload, report));
    return OkStatus();
  }

 private:
  std::string run_;
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() { return std::make_unique<CheckCommand>(); }

}  // namespace drydock
