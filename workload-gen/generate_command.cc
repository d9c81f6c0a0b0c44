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
#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/model/memory_total.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_world.h"
#include "core/progress/progress_line.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"
#include "core/schema/cluster/cluster_file.h"
#include "core/schema/cluster/nic_file.h"
#include "core/schema/cluster/processor_file.h"
#include "core/schema/memory/memory_curve_file.h"
#include "core/schema/tokens/token_costs.h"
#include "workload-gen/generate/generate.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/check/communicators.h"
#include "workload-gen/graph/text/workload_text.h"
#include "workload-gen/host/host_launch.h"
#include "workload-gen/host/host_memory.h"
#include "workload-gen/import/job_source.h"
#include "workload-gen/job/graph_rules.h"
#include "workload-gen/job/job_rules.h"
#include "workload-gen/job/key.h"
#include "workload-gen/job_text.h"
#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/routing/expert_loads.h"

namespace drydock {
namespace {

const ToolInfo kTool = {
    "workload-gen",
    "Turns a model, its parallel layout and a cluster into what every rank does in one iteration.",
    "reads model.yaml, a config.json of Hugging Face or a Megatron-LM launch script "
    "(docs/reference/model-file.md) and cluster.topo (docs/reference/cluster-file.md); writes "
    "RUN/1-workload/: "
    "manifest.pb, topology.pb and a Chakra trace per rank class",
    "workload-gen configs/models/gpt-22b.yaml configs/clusters/dgx-a100-80g-1.topo -o "
    "runs/gpt-22b"};

struct Options {
  JobSource model;
  std::string cluster;
  int64_t sequence = 0;  // 0: as the model says
  std::string run;
  std::vector<std::string> overrides;
  bool dump = false;
  bool print_model = false;
  bool require_fit = false;
  std::string megatron_arguments;
  CommunicatorOptions communicators;
};

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
  app->add_option("model", options->model.path,
                  "The training run: a model.yaml, or a config.json of Hugging Face. A config.json "
                  "says nothing of the training: what is assumed is named, and the layout is the "
                  "smallest that fits the memory");
  app->add_option("cluster", options->cluster, "The cluster (cluster.topo)");
  app->add_option("--megatron-args", options->megatron_arguments,
                  "Takes the training run from a Megatron-LM launch script, a file of its "
                  "arguments, a YAML file with MODEL_ARGS, or a recipe of NeMo or "
                  "Megatron-Bridge, in place of model.yaml");
  app->add_option(
         "--variable", options->model.variables,
         "NAME=VALUE: sets a variable of the launch script, in place of what the script "
         "assigns, a name that a recipe does not define, or a key of it. 1=VALUE sets its first "
         "argument, @=VALUES all its arguments. May be "
         "repeated")
      ->allow_extra_args(false);
  app->add_flag("--strict", options->model.strict,
                "Settings of a launch script, a config.json or a file of overlaps that are not "
                "modeled are errors, and so are unknown settings of the latter two");
  app->add_flag(
      "--ignore-unknown", options->model.ignore_unknown,
      "Unknown arguments of a launch script, and variables that no line before assigns, are named "
      "and left out; otherwise they are errors");
  app->add_flag("--print-model", options->print_model,
                "Print the training run as it was understood, as a model.yaml; write nothing");
  app->add_option("--sequence", options->sequence,
                  "Tokens of a sample, as --set model.sequence=N; without it, a config.json means "
                  "4096, or all positions of a shorter model")
      ->check(CLI::Range(int64_t{1}, kMaxDimension));
  app->add_option("-o,--out", options->run, "Run directory");
  app->add_option("--set", options->overrides,
                  "section.key=value: replaces a value of either file; may be repeated")
      ->allow_extra_args(false);
  app->add_flag("--require-fit", options->require_fit,
                "A run that needs more memory than its GPUs have is an error");
  app->add_flag("--dump", options->dump, "Print tables and programs as text; write nothing");
  app->add_option("--nccl-library", options->communicators.library_path, "Another libhacknccl.so");
  app->add_flag("--alike-once", options->communicators.once_per_placement,
                "Create one NCCL communicator for all process groups of the same placement; "
                "saves minutes beyond 10,000 GPUs");
  CheckOptions(app, [options, &common]() -> Status {
    if (options->sequence > 0) {
      options->overrides.push_back(fmt::format("model.sequence={}", options->sequence));
    }
    RETURN_IF_ERROR(SplitOverrides(options->overrides));
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
  if (options.require_fit) flags.push_back("--require-fit");
  flags.push_back(options.model.path + " " + Sha256(job.yaml));
  flags.push_back(options.cluster + " " + Sha256(cluster.yaml));
  for (const auto& [name, text] : cluster.files) flags.push_back(name + " " + Sha256(text));
  const std::string library = NcclLibrary::Find(options.communicators.library_path);
  std::vector<std::string> inputs = {library,          ExpertLoadsPath(), HostLaunchPath(),
                                     HostMemoryPath(), NicPath(),         ProcessorPath(),
                                     TokenCostsPath()};
  for (const std::string& table : ImportTables()) inputs.push_back(table);
  return {options.run, kTool.name, inputs, flags, OutputsOf(options)};
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
             const Workload& workload, TaskProgress* progress) {
  ASSIGN_OR_RETURN(const std::vector<std::string> idle,
                   CheckSettings(cluster, options.communicators.library_path));
  if (!idle.empty()) {
    Report(kTool, common,
           fmt::format("{} NCCL settings change nothing here: {}", idle.size(), Join(idle)));
  }
  CommunicatorOptions communicators = options.communicators;
  communicators.progress = [&](size_t done, size_t of) {
    progress->Show("process groups with a communicator of NCCL", done, of);
  };
  ASSIGN_OR_RETURN(const size_t created,
                   PlacedIn(options.cluster, CreateCommunicators(workload, communicators)));
  progress->Show("checks that all ranks finish");
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
                              const std::vector<std::string>& overrides, ImportNotes* notes) {
  Result<TrainingJob> job = LoadJob(options.model, overrides, notes);
  if (job.ok()) {
    for (const std::string& line : notes->Lines(options.model.path)) Report(kTool, common, line);
    if (HasDeterministicAttention(*job)) {
      Report(kTool, common, fmt::format("deterministic: {}", kDeterministicAttention));
    }
    if (KeepsExpertNorm(*job)) Report(kTool, common, kKeptExpertNorm);
  }
  return job;
}

void ReportAssumed(const Options& options, const CommonOptions& common, const ImportNotes& notes) {
  const std::string line = notes.AssumedLine(options.model.path);
  if (!line.empty()) Report(kTool, common, line);
}

Result<std::string> DigestOf(const Generated& run) {
  return DigestOf(run.workload, run.cluster, run.attention);
}

// The digest of the run with these values of --set. Errors: also values that need another one.
Result<std::string> DigestWith(const std::vector<std::string>& overrides, const Options& options) {
  ASSIGN_OR_RETURN(const Generated run, Generate(options.model, options.cluster, overrides));
  return DigestOf(run);
}

// Larger runs take too long to build again, so their values of --set are not tried.
constexpr size_t kMostOpsToBuildAgain = 100'000;
constexpr int kMostRanksToBuildAgain = 512;

// Lists the values of --set. Each is left out in turn, and the workload is built again.
Result<std::vector<ReplacedValue>> ReplacedValues(const Options& options,
                                                  const CommonOptions& common, const Generated& run,
                                                  TaskProgress* progress) {
  std::vector<ReplacedValue> values;
  for (const std::string& text : options.overrides) values.push_back({text, true});
  size_t ops = 0;
  for (const Program& program : run.workload.programs) ops += program.ops.size();
  if (ops > kMostOpsToBuildAgain || run.workload.rank_count() > kMostRanksToBuildAgain) {
    return values;
  }
  ASSIGN_OR_RETURN(const std::string digest, DigestOf(run));
  for (size_t i = 0; i < values.size(); ++i) {
    progress->Show("values of --set left out in turn", i, values.size());
    std::vector<std::string> others = options.overrides;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<std::string> without = DigestWith(others, options);
    values[i].changes = !without.ok() || *without != digest;
    if (!values[i].changes) {
      Report(
          kTool, common,
          fmt::format("--set {} changes nothing: the run is the same without it", values[i].text));
    }
  }
  return values;
}

Status RequireFit(const Workload& workload) {
  const std::optional<MemoryVerdict> verdict = JudgeMemory(workload);
  if (!verdict || verdict->fits()) return OkStatus();
  return Error(
      fmt::format("--require-fit: the fullest ranks need {:.1f} GB and their GPUs have {:.1f} GB; "
                  "use more GPUs, "
                  "larger parallel.tensor or parallel.pipeline, or training.recompute",
                  static_cast<double>(verdict->total.count()) / 1e9,
                  static_cast<double>(verdict->capacity.count()) / 1e9));
}

Status Run(const Options& options, const CommonOptions& common) {
  const bool writes = !common.check && !options.dump && !options.print_model;
  ASSIGN_OR_RETURN(const Overrides overrides, SplitOverrides(options.overrides));
  RunLock lock;
  if (writes) {
    ASSIGN_OR_RETURN(lock, LockRun(kTool, common, options.run, RunLock::Missing::kMake));
  }
  TaskProgress progress(kTool, common);
  progress.Show("reads the model and the cluster");
  Generated run;
  ASSIGN_OR_RETURN(run.job, ReadModel(options, common, overrides.model, &run.notes));
  if (options.print_model && (options.cluster.empty() || run.notes.assumed.empty())) {
    ReportAssumed(options, common, run.notes);
    progress.End();
    fmt::print("{}", JobText(run.job));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(run.cluster, LoadCluster(options.cluster, overrides.cluster));
  for (const std::string& note : run.cluster.notes) Report(kTool, common, "note: " + note);
  if (writes && SkipsRun(StampOf(options, run.job, run.cluster), kTool, common)) {
    return OkStatus();
  }
  if (writes) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kManifestName));
  progress.Show("completes the layout");
  RETURN_IF_ERROR(Complete(&run));
  if (run.job.training.moe.loads != "uniform") {
    Report(kTool, common,
           fmt::format("moe_expert_loads {}: the busiest rank gets {:.3f} times the mean",
                       run.job.training.moe.loads, run.job.training.moe.imbalance));
  }
  ReportAssumed(options, common, run.notes);
  if (options.print_model) {
    progress.End();
    fmt::print("{}", JobText(run.job));
    return OkStatus();
  }
  progress.Show("builds the programs of the ranks");
  RETURN_IF_ERROR(Build(&run));
  Announce(common, run.workload);
  if (options.require_fit) RETURN_IF_ERROR(RequireFit(run.workload));
  if (options.dump) {
    progress.End();
    fmt::print("{}", TablesText(run.workload));
    for (int c = 0; c < run.workload.class_count; ++c) {
      fmt::print("{}", ProgramText(run.workload, c));
    }
    return OkStatus();
  }
  RETURN_IF_ERROR(Prove(options, common, run.cluster, run.workload, &progress));
  ASSIGN_OR_RETURN(run.workload.replaced, ReplacedValues(options, common, run, &progress));
  if (!writes) return OkStatus();
  progress.Show("writes 1-workload/");
  RETURN_IF_ERROR(MakeDirectories(options.run));
  RETURN_IF_ERROR(WriteWorkload(options.run, run.workload, run.cluster,
                                ProvenanceOf(options, run.job, run.cluster), run.attention));
  if (!run.memory.allocated.empty()) {
    RETURN_IF_ERROR(WriteMemoryCurve(options.run, run.memory, kTool.name));
  }
  return SaveStamp(StampOf(options, run.job, run.cluster));
}

std::string Subject(const Options& options) { return options.model.path; }

}  // namespace

std::unique_ptr<Command> MakeGenerateCommand() {
  return MakeCommand<Options>(kTool, Declare, Run, Subject);
}

}  // namespace drydock
