// compute-sim explain: the tree of submodules, kernels and times, of a run or of a list of
// submodules on given GPUs. Writes nothing.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "compute-sim/commands.h"
#include "compute-sim/gpu_library.h"
#include "compute-sim/model_options.h"
#include "compute-sim/submodules/submodule_file.h"
#include "core/base/files.h"
#include "core/schema/artefacts/artefacts.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "compute-sim explain",
    "Prints every submodule with its kernels: shape, time, what bounds it, where it is from.",
    "reads RUN/1-workload/, or a GPU's file and a list of submodules "
    "(docs/reference/submodules.md)",
    "compute-sim explain --gpu h100-sxm-80g --submodule 'kind: linear, rows: 8192, n: 4096, k: "
    "4096'",
    false};

struct Options {
  std::string run;
  std::vector<std::string> gpus;
  std::string list;                 // a file of submodules
  std::vector<std::string> single;  // submodules as YAML keys and values
  ModelOptions model;
};

Status CheckUsage(const Options& options) {
  RETURN_IF_ERROR(CheckModelOptions(options.model));
  const bool listed = !options.list.empty() || !options.single.empty();
  if (!options.run.empty()) {
    if (!listed && options.gpus.empty()) return OkStatus();
    return Error("RUN has its own GPUs and submodules: give RUN alone, or leave it out");
  }
  if (!listed) return MissingOption("RUN, --submodules or --submodule");
  if (options.gpus.empty()) return MissingOption("--gpu");
  return OkStatus();
}

// A workload without ranks that has the GPUs and submodules of the command line.
Result<Workload> WorkloadOfCommandLine(const Options& options) {
  Workload workload;
  for (const std::string& name : options.gpus) {
    ASSIGN_OR_RETURN(GpuSpec spec, LoadGpu(name));
    workload.topology.gpus.push_back(std::move(spec));
  }
  if (!options.list.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(options.list));
    ASSIGN_OR_RETURN(workload.submodules, ParseSubmodules(text, options.list));
  }
  for (const std::string& words : options.single) {
    ASSIGN_OR_RETURN(const std::vector<Submodule> more, ParseSubmoduleWords(words));
    workload.submodules.insert(workload.submodules.end(), more.begin(), more.end());
  }
  return workload;
}

Result<WorkloadFile> ReadOrMakeWorkload(const Options& options) {
  if (!options.run.empty()) return ReadWorkload(options.run, WorkloadParts::kTables);
  WorkloadFile file;
  ASSIGN_OR_RETURN(file.workload, WorkloadOfCommandLine(options));
  return file;
}

void Declare(CLI::App* command, Options* options, const CommonOptions&) {
  command->add_option("run", options->run, "Run directory, after workload-gen")->type_name("RUN");
  command
      ->add_option("--gpu", options->gpus,
                   "A GPU of configs/gpus, or the path of a GPU's file; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--submodules", options->list, "A list of submodules (YAML)")
      ->type_name("FILE");
  command
      ->add_option("--submodule", options->single,
                   "One submodule, as a line of that list: 'kind: norm, rows: 8192, n: 4096'; may "
                   "be repeated")
      ->type_name("WORDS")
      ->allow_extra_args(false);
  DeclareModelOptions(command, &options->model);
  CheckOptions(command, [options] { return CheckUsage(*options); });
}

Status Run(const Options& options, const CommonOptions& common) {
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadOrMakeWorkload(options));
  const Workload& workload = file.workload;
  ASSIGN_OR_RETURN(
      const LoadedOptions loaded,
      LoadModelOptions(options.model, ProfilePaths(options.model, workload.topology.gpus),
                       file.attention_backend));
  ASSIGN_OR_RETURN(const KernelTimes times, Simulate(workload, loaded.simulate));
  if (!common.check) fmt::print("{}", Printable(Explain(workload, times)));
  Report(kInfo, common, SourcesText(times));
  for (const std::string& line : LimitsWithoutEffect(workload, loaded.simulate)) {
    Report(kInfo, common, line);
  }
  return OkStatus();
}

std::string Subject(const Options& options) {
  return !options.run.empty() ? options.run : options.list;
}

}  // namespace

std::unique_ptr<Command> MakeExplainCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
