// workload-gen model.yaml cluster.topo -o RUN: writes what every rank does as RUN/1-workload/.
#include "workload-gen/generate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/model/attention_backend.h"
#include "core/model/memory_total.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_world.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/cluster/nic_file.h"
#include "core/schema/cluster/processor_file.h"
#include "core/schema/memory/memory_curve_file.h"
#include "workload-gen/framework/framework.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/check/communicators.h"
#include "workload-gen/graph/text/workload_text.h"
#include "workload-gen/host/assumptions.h"
#include "workload-gen/host/host_costs.h"
#include "workload-gen/host/host_launch.h"
#include "workload-gen/host/host_memory.h"
#include "workload-gen/import/job_source.h"
#include "workload-gen/job/graph_rules.h"
#include "workload-gen/job/inference_scope.h"
#include "workload-gen/job/job_rules.h"
#include "workload-gen/job/key.h"
#include "workload-gen/job_text.h"
#include "workload-gen/layout/gpu_format.h"
#include "workload-gen/layout/nearest_layout.h"
#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/routing/expert_loads.h"

namespace drydock {
namespace {

const ToolInfo kTool = {
    "workload-gen",
    "Turns a model, its parallel layout and a cluster into what every rank does in one iteration.",
    "reads model.yaml or a Megatron-LM launch script (docs/reference/model-file.md) and "
    "cluster.topo "
    "(docs/reference/cluster-file.md); writes RUN/1-workload/: "
    "manifest.pb, topology.pb and a Chakra trace per rank class",
    "workload-gen configs/models/gpt-22b.yaml configs/clusters/dgx-a100-80g-1.topo -o "
    "runs/gpt-22b"};

struct Options {
  JobSource model;
  std::string cluster;
  std::string run;
  std::vector<std::string> overrides;
  bool dump = false;
  bool print_model = false;
  std::string megatron_arguments;
  CommunicatorOptions communicators;
};

// Sorts the --set assignments by the file that has their section.
Status SplitOverrides(const std::vector<std::string>& all, std::vector<std::string>* model,
                      std::vector<std::string>* cluster) {
  for (const std::string& assignment : all) {
    if (IsTrainingOverride(assignment)) {
      model->push_back(assignment);
    } else if (IsClusterOverride(assignment)) {
      cluster->push_back(assignment);
    } else if (MeansInference(assignment.substr(0, assignment.find_first_of(".=")))) {
      return Error(fmt::format("--set {}: {}", assignment, kInferenceText));
    } else {
      return Error(
          fmt::format("--set {}: no such section; sections are {} (model.yaml) and cluster, hosts, "
                      "fabric, transport, faults, jitter, nccl (cluster.topo)",
                      assignment, Join(SectionNames())));
    }
  }
  return OkStatus();
}

// With --megatron-args, the only file is the cluster.
Status SortFiles(Options* options) {
  JobSource& model = options->model;
  model.megatron_arguments = !options->megatron_arguments.empty();
  if (model.megatron_arguments) {
    if (!options->cluster.empty()) {
      return Error(
          fmt::format("--megatron-args takes the place of {}; give one of them", model.path));
    }
    options->cluster = std::exchange(model.path, options->megatron_arguments);
  } else if (model.ignore_unknown || !model.variables.empty()) {
    return Error(fmt::format("{} is for a launch script; give it with --megatron-args",
                             model.ignore_unknown ? "--ignore-unknown" : "--variable"));
  }
  if (model.path.empty()) return MissingOption("model");
  if (options->cluster.empty() && !options->print_model) return MissingOption("cluster");
  return OkStatus();
}

void Declare(CLI::App* app, Options* options, const CommonOptions& common) {
  app->add_option("model", options->model.path, "The training run (model.yaml)");
  app->add_option("cluster", options->cluster, "The cluster (cluster.topo)");
  app->add_option("--megatron-args", options->megatron_arguments,
                  "Takes the training run from a Megatron-LM launch script or a file of its "
                  "arguments, in place of model.yaml");
  app->add_option("--variable", options->model.variables,
                  "NAME=VALUE: sets a variable of the launch script, in place of what the script "
                  "assigns. 1=VALUE sets its first argument, @=VALUES all its arguments. May be "
                  "repeated")
      ->allow_extra_args(false);
  app->add_flag("--strict", options->model.strict,
                "Settings of a launch script, a config.json or a file of overlaps that are not "
                "modeled are errors, and so are unknown settings of the latter two");
  app->add_flag(
      "--ignore-unknown", options->model.ignore_unknown,
      "Unknown arguments of a launch script, and variables that it never assigns, are named "
      "and left out; otherwise they are errors");
  app->add_flag("--print-model", options->print_model,
                "Print the training run as it was understood, as a model.yaml; write nothing");
  app->add_option("-o,--out", options->run, "Run directory");
  app->add_option("--set", options->overrides,
                  "section.key=value: replaces a value of either file; may be repeated")
      ->allow_extra_args(false);
  app->add_flag("--dump", options->dump, "Print tables and programs as text; write nothing");
  app->add_option("--nccl-library", options->communicators.library_path, "Another libhacknccl.so");
  app->add_flag("--alike-once", options->communicators.once_per_placement,
                "Create one NCCL communicator for all process groups of the same placement; "
                "saves minutes beyond 10,000 GPUs");
  CheckOptions(app, [options, &common]() -> Status {
    std::vector<std::string> for_model, for_cluster;
    RETURN_IF_ERROR(SplitOverrides(options->overrides, &for_model, &for_cluster));
    RETURN_IF_ERROR(SortFiles(options));
    if (options->run.empty() && !options->dump && !options->print_model && !common.check) {
      return MissingOption("-o RUN");
    }
    return OkStatus();
  });
}

// Returns the present files of 1-workload/, sorted; the manifest if there are none yet.
std::vector<std::string> OutputsOf(const Options& options) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(options.run + "/" + kWorkloadName, error)) {
    paths.push_back(entry.path().string());
  }
  if (paths.empty()) paths.push_back(options.run + "/" + kManifestName);
  const std::string curve = options.run + "/" + kMemoryCurveName;
  if (FileExists(curve)) paths.push_back(curve);
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The stamp has the content of the model, the cluster and the files that the cluster names (GPU
// specifications, NCCL topologies), not their names: a pipe, as in <(sed ... model.yaml), cannot be
// read again.
Stamp StampOf(const Options& options, const TrainingJob& job, const ClusterInput& cluster) {
  std::vector<std::string> flags = options.overrides;
  flags.push_back(options.model.path + " " + Sha256(job.yaml));
  flags.push_back(options.cluster + " " + Sha256(cluster.yaml));
  for (const auto& [name, text] : cluster.files) flags.push_back(name + " " + Sha256(text));
  const std::string library = NcclLibrary::Find(options.communicators.library_path);
  return {options.run,
          kTool.name,
          {library, ExpertLoadsPath(), HostLaunchPath(), HostMemoryPath(), NicPath(),
           ProcessorPath(), TokenCostsPath()},
          flags,
          OutputsOf(options)};
}

void Announce(const CommonOptions& common, const Workload& workload) {
  size_t ops = 0;
  for (const Program& program : workload.programs) ops += program.ops.size();
  Report(kTool, common,
         fmt::format("{}: {}, {} in {}, {}, {}, {}", workload.totals.model_name,
                     workload.totals.layout, Plural(workload.rank_count(), "rank"),
                     Plural(workload.class_count, "class"), Plural(ops, "op"),
                     Plural(workload.submodules.size(), "submodule"),
                     Plural(workload.calls.size(), "call")));
  Report(kTool, common, MemoryText(workload));
}

// Checks that NCCL creates the groups of the workload, that the calls of their members match, and
// that all ranks finish.
Status Prove(const Options& options, const CommonOptions& common, const ClusterInput& cluster,
             const Workload& workload) {
  ASSIGN_OR_RETURN(const std::vector<std::string> idle,
                   CheckSettings(cluster, options.communicators.library_path));
  if (!idle.empty()) {
    Report(kTool, common,
           fmt::format("{} NCCL settings change nothing here: {}", idle.size(), Join(idle)));
  }
  ASSIGN_OR_RETURN(const size_t created, CreateCommunicators(workload, options.communicators));
  const CheckReport report = CheckWorkload(workload);
  CHECK_NOTE(report.violations.count() == 0, report.violations.texts().front());
  Report(kTool, common,
         fmt::format("{}, {} created", Plural(workload.groups.size(), "process group"),
                     Plural(created, "NCCL communicator")));
  return OkStatus();
}

Provenance ProvenanceOf(const Options& options, const TrainingJob& job,
                        const ClusterInput& cluster) {
  Provenance provenance;
  provenance.tool = kTool.name;
  provenance.inputs = {{BaseName(options.model.path), Sha256(job.yaml)},
                       {BaseName(options.cluster), Sha256(cluster.yaml)}};
  provenance.options = options.overrides;
  return provenance;
}

Result<TrainingJob> ReadModel(const Options& options, const CommonOptions& common,
                              const std::vector<std::string>& overrides) {
  ImportNotes notes;
  Result<TrainingJob> job = LoadJob(options.model, overrides, &notes);
  if (job.ok()) {
    for (const std::string& line : notes.Lines(options.model.path)) Report(kTool, common, line);
    if (HasDeterministicAttention(*job)) {
      Report(kTool, common, fmt::format("deterministic: {}", kDeterministicAttention));
    }
    if (KeepsExpertNorm(*job)) Report(kTool, common, kKeptExpertNorm);
  }
  return job;
}

const char* AttentionOf(const TrainingJob& job, const Framework& framework) {
  switch (job.training.kernels.attention) {
    case AttentionKernels::kFlash:
      return kAttentionByFlash;
    case AttentionKernels::kCudnn:
      return kAttentionByCudnn;
    default:
      return framework.AttentionBackend();
  }
}

// MemoryMistake of a layout that ResolveLayoutOrSuggest tries. The peak does not grow with
// micro-batches beyond those in flight, so the job runs no more of them.
std::optional<std::string> MemoryMistakeOf(const Framework& framework, const Topology& topology,
                                           TrainingJob job, ParallelLayout layout) {
  const int most = 2 * layout.virtual_stages();
  if (layout.microbatches > most) {
    job.training.batch.global = job.training.batch.micro * layout.data * most;
    Result<ParallelLayout> fewer = ResolveLayout(job, topology);
    if (fewer.ok()) layout = *std::move(fewer);
  }
  if (!framework.Check(job).ok() || !framework.CheckLayout(job, layout).ok()) return std::nullopt;
  const std::optional<MemoryVerdict> verdict =
      JudgeMemory(framework.Build(job, layout, topology, nullptr));
  if (!verdict || verdict->fits()) return "";
  return fmt::format("{:.1f} of {:.1f} GB", static_cast<double>(verdict->total.count()) / 1e9,
                     static_cast<double>(verdict->capacity.count()) / 1e9);
}

Status Run(const Options& options, const CommonOptions& common) {
  const bool writes = !common.check && !options.dump;
  std::vector<std::string> for_model, for_cluster;
  RETURN_IF_ERROR(SplitOverrides(options.overrides, &for_model, &for_cluster));
  ASSIGN_OR_RETURN(TrainingJob job, ReadModel(options, common, for_model));
  if (options.print_model) {
    fmt::print("{}", JobText(job));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const ClusterInput cluster, LoadCluster(options.cluster, for_cluster));
  if (writes && SkipsRun(StampOf(options, job, cluster), kTool, common)) return OkStatus();
  if (writes) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kManifestName));
  RETURN_IF_ERROR(ResolveExpertLoads(&job));
  if (job.training.moe.loads != "uniform") {
    Report(kTool, common,
           fmt::format("moe_expert_loads {}: the busiest rank gets {:.3f} times the mean",
                       job.training.moe.loads, job.training.moe.imbalance));
  }
  const std::unique_ptr<Framework> framework = MakeFramework(job.training.framework);
  RETURN_IF_ERROR(framework->Check(job));
  RETURN_IF_ERROR(CheckGpuFormat(job, cluster.topology));
  if (job.training.moe.without_nccl()) {
    ASSIGN_OR_RETURN(const TokenCostTable costs, LoadTokenCosts());
    RETURN_IF_ERROR(CheckTokenKernels(job, cluster.topology, costs));
  }
  ASSIGN_OR_RETURN(
      const ParallelLayout layout,
      ResolveLayoutOrSuggest(job, cluster.topology,
                             [&](const TrainingJob& other, const ParallelLayout& tried) {
                               return MemoryMistakeOf(*framework, cluster.topology, other, tried);
                             }));
  RETURN_IF_ERROR(framework->CheckLayout(job, layout));
  MemoryCurve curve;
  Workload workload = framework->Build(job, layout, cluster.topology, &curve);
  ASSIGN_OR_RETURN(const HostLaunchSet launch, HostLaunchOf(job));
  ChargeHost(launch, job, &workload);
  ASSIGN_OR_RETURN(const LaunchSpeeds processors, LoadLaunchSpeeds());
  const char* attention = AttentionOf(job, *framework);
  workload.assumptions =
      AssumptionsOf({job, workload, cluster.variation, launch, processors, attention});
  RETURN_IF_ERROR(FillHostMemory(&workload));
  Announce(common, workload);
  if (options.dump) {
    fmt::print("{}", TablesText(workload));
    for (int c = 0; c < workload.class_count; ++c) fmt::print("{}", ProgramText(workload, c));
    return OkStatus();
  }
  RETURN_IF_ERROR(Prove(options, common, cluster, workload));
  if (!writes) return OkStatus();
  RETURN_IF_ERROR(MakeDirectories(options.run));
  RETURN_IF_ERROR(WriteWorkload(options.run, workload, cluster, ProvenanceOf(options, job, cluster),
                                attention));
  if (!curve.allocated.empty()) {
    RETURN_IF_ERROR(WriteMemoryCurve(options.run, curve, kTool.name));
  }
  return SaveStamp(StampOf(options, job, cluster));
}

}  // namespace

std::unique_ptr<Command> MakeGenerateCommand() { return MakeCommand(kTool, Declare, Run); }

}  // namespace drydock
