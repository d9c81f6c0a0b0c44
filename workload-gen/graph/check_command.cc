// workload-gen check: proves that a workload can run.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/schema/artefacts/artefacts.h"
#include "core/schema/cluster/cluster_file.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/check/proof.h"
#include "workload-gen/graph/commands.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "workload-gen check", "Proves that the ops of a workload can run to their end.",
    "reads RUN/1-workload/ and, with --cluster, a cluster.topo; writes nothing; docs/how-to/work-with-traces.md says what is proven",
    "workload-gen check runs/gpt-22b", false};

class CheckCommand final : public Command {
 public:
  CheckCommand() : Command(kInfo) {}

  void Declare(CLI::App* command, const CommonOptions&) override {
    command->add_option("run", run_, "Run directory")->type_name("RUN");
    command
        ->add_option("--cluster", cluster_,
                     "Proves only that the workload is of this cluster (cluster.topo), with --set")
        ->type_name("FILE");
    command
        ->add_option("--set", overrides_,
                     "section.key=value: replaces a value of the cluster; may be repeated")
        ->allow_extra_args(false);
    CheckOptions(command, [this]() -> Status {
      if (run_.empty()) return MissingOption("RUN");
      if (cluster_.empty() && !overrides_.empty()) return Error("--set needs --cluster");
      return CheckClusterOverrides(overrides_);
    });
  }

  std::string Subject() const override { return run_; }

  Status Run(const CommonOptions& common) const override {
    if (!cluster_.empty()) return CheckCluster();
    ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run_, WorkloadParts::kAll));
    const CheckReport report = CheckWorkload(file.workload);
    RETURN_IF_ERROR(ToStatus(report, run_ + "/" + kWorkloadName));
    for (const std::string& note : report.notes) Report(kInfo, common, "note: " + note);
    fmt::print("{}\n", ProofText(file.workload, report));
    return OkStatus();
  }

 private:
  Status CheckCluster() const {
    ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(run_, WorkloadParts::kTables));
    ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(cluster_, overrides_));
    if (cluster.yaml == file.cluster.yaml && cluster.files == file.cluster.files) return OkStatus();
    return Error(fmt::format("is not the cluster of the workload in {}; give the --set with which "
                             "the workload was made, or no cluster",
                             run_),
                 {cluster_, 0, 0});
  }

  std::string run_, cluster_;
  std::vector<std::string> overrides_;
};

}  // namespace

std::unique_ptr<Command> MakeCheckCommand() { return std::make_unique<CheckCommand>(); }

}  // namespace drydock
