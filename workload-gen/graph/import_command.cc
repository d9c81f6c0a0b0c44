// workload-gen import: turns a workload of another tool into a run directory.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/cluster/cluster_file.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/check/communicators.h"
#include "workload-gen/graph/check/proof.h"
#include "workload-gen/graph/commands.h"
#include "workload-gen/graph/foreign/import.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "workload-gen import", "Turns a workload of another tool into a run directory.",
    "reads what --from names (docs/how-to/work-with-traces.md) and cluster.topo, writes "
    "RUN/1-workload/",
    "workload-gen import --from chakra traces/ --cluster configs/clusters/dgx-h100-1.topo -o "
    "runs/imported",
    false};

Result<DataType> TypeOfWord(const std::string& word) {
  const std::vector<std::string>& names = MessageTypeNames();
  const auto found = std::find(names.begin(), names.end(), word);
  if (found != names.end()) return static_cast<DataType>(found - names.begin());
  return Error(fmt::format("unknown data type '{}'{}", word, DidYouMean(word, names)));
}

void PrintFormatsIfHelp(const std::string& name) {
  if (name != "help") return;
  for (const ForeignFormat& format : ForeignFormats()) {
    fmt::print("{:<8} {}\n", format.name, format.summary);
  }
  throw CLI::Success();
}

class ImportCommand final : public Command {
 public:
  ImportCommand() : Command(kInfo) {}

  void Declare(CLI::App* command, const CommonOptions& common) override {
    command->add_option("place", input_.place, "The file; for Chakra traces, their folder")
        ->type_name("FILE");
    command->add_option("--from", from_, "The format of the input; 'help' lists the formats")
        ->type_name("FORMAT")
        ->each(PrintFormatsIfHelp);
    command->add_option("--cluster", cluster_, "The cluster (cluster.topo); rank i is its GPU i")
        ->type_name("FILE");
    command
        ->add_option("--groups", input_.groups,
                     "Chakra: the groups (JSON); default: the prefix's .json, if it exists")
        ->type_name("FILE");
    command
        ->add_option("--dtype", type_,
                     "The data type of communication and computation where the file states only "
                     "bytes")
        ->capture_default_str();
    command->add_option("--set", overrides_, "section.key=value: replaces a value of cluster.topo")
        ->allow_extra_args(false);
    command->add_option("--nccl-library", communicators_.library_path, "Another libhacknccl.so");
    command->add_flag("--alike-once", communicators_.once_per_placement,
                      "Create one NCCL communicator for all process groups of the same placement");
    command->add_option("-o,--out", run_, "Run directory")->type_name("RUN");
    CheckOptions(command, [this, &common] { return CheckUsage(common); });
  }

  std::string Subject() const override { return input_.place; }

  Status Run(const CommonOptions& common) const override {
    ASSIGN_OR_RETURN(const ForeignFormat* format, FindForeignFormat(from_));
    ASSIGN_OR_RETURN(const RunLock lock, LockRun(kInfo, common, run_, RunLock::Missing::kMake));
    if (!common.check) RETURN_IF_ERROR(CheckCanWrite(run_ + "/" + kManifestName));
    ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(cluster_, overrides_));
    for (const std::string& note : cluster.notes) Report(kInfo, common, "note: " + note);
    ForeignOptions options;
    ASSIGN_OR_RETURN(options.type, TypeOfWord(type_));
    ASSIGN_OR_RETURN(const Imported imported, format->read(input_, cluster.topology, options));
    for (const std::string& warning : imported.warnings) {
      Report(kInfo, common, "warning: " + warning);
    }
    RETURN_IF_ERROR(Prove(imported.workload, common));
    if (common.check) return OkStatus();
    RETURN_IF_ERROR(MakeDirectories(run_));
    return WriteWorkload(run_, imported.workload, cluster, ProvenanceOf(cluster));
  }

 private:
  Status CheckUsage(const CommonOptions& common) const {
    if (from_.empty()) return MissingOption("--from");
    RETURN_IF_ERROR(FindForeignFormat(from_));
    RETURN_IF_ERROR(TypeOfWord(type_));
    RETURN_IF_ERROR(CheckClusterOverrides(overrides_));
    if (input_.place.empty()) return MissingOption("FILE");
    if (cluster_.empty()) return MissingOption("--cluster");
    if (!input_.groups.empty() && from_ != "chakra") {
      return Error("--groups applies to --from chakra only");
    }
    if (run_.empty() && !common.check) return MissingOption("-o RUN");
    return OkStatus();
  }

  // Checks that the workload can run and that NCCL creates its communicators.
  Status Prove(const Workload& workload, const CommonOptions& common) const {
    const CheckReport report = CheckWorkload(workload);
    RETURN_IF_ERROR(ToStatus(report, input_.place));
    for (const std::string& note : report.notes) Report(kInfo, common, "note: " + note);
    ASSIGN_OR_RETURN(const size_t created,
                     PlacedIn(cluster_, CreateCommunicators(workload, communicators_)));
    Report(kInfo, common,
           fmt::format("{}: {} in {}, {}, {}, {}; {}, {} created", workload.totals.model_name,
                       workload.totals.layout, Plural(workload.class_count, "class"),
                       Plural(report.ops, "op"), Plural(workload.submodules.size(), "submodule"),
                       Plural(workload.calls.size(), "call"),
                       Plural(workload.groups.size(), "process group"),
                       Plural(created, "NCCL communicator")));
    return OkStatus();
  }

  // A folder of traces has no hash, because each rank has a separate file.
  Provenance ProvenanceOf(const ClusterInput& cluster) const {
    Provenance provenance;
    provenance.tool = "workload-gen";
    const Result<std::string> hash = Sha256OfFile(input_.place);
    provenance.inputs = {{BaseName(input_.place), hash.ok() ? *hash : ""},
                         {BaseName(cluster_), Sha256(cluster.yaml)}};
    provenance.options = overrides_;
    provenance.options.push_back(fmt::format("import --from {} --dtype {}", from_, type_));
    return provenance;
  }

  std::string from_, cluster_, type_ = "bf16", run_;
  std::vector<std::string> overrides_;
  ImportInput input_;
  CommunicatorOptions communicators_;
};

}  // namespace

std::unique_ptr<Command> MakeImportCommand() { return std::make_unique<ImportCommand>(); }

}  // namespace drydock
