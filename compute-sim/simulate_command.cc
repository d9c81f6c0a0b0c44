// compute-sim RUN: reads 1-workload/, writes 3-times.pb.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "compute-sim/commands.h"
#include "compute-sim/model/simulate.h"
#include "compute-sim/model_options.h"
#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/progress/progress_line.h"
#include "core/rundir/run_lock.h"
#include "core/schema/artefacts/artefacts.h"
#include "core/schema/artefacts/stamp.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "compute-sim",
    "How long each distinct piece of compute takes on each GPU type of the cluster.",
    "reads RUN/1-workload/, GPU profiles and configs/kernels.yaml; writes RUN/3-times.pb",
    "compute-sim out/gpt-22b --gpu-profile my-a100.csv",
};

struct Options {
  std::string run;
  ModelOptions model;
  bool explain = false;
  bool dump = false;
};

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  app->add_option("run", options->run, "Run directory")->type_name("RUN");
  DeclareModelOptions(app, &options->model);
  app->add_flag("--explain", options->explain, "Print every kernel with its time and its source");
  app->add_flag("--dump,--text", options->dump,
                "Print the present RUN/3-times.pb; compute nothing");
  CheckOptions(app, [options]() -> Status {
    if (options->run.empty()) return MissingOption("RUN");
    return CheckModelOptions(options->model);
  });
}

Status Dump(const Options& options) {
  ASSIGN_OR_RETURN(const WorkloadFile workload, ReadWorkload(options.run, WorkloadParts::kTables));
  ASSIGN_OR_RETURN(const KernelTimes times, ReadKernelTimes(options.run, workload));
  fmt::print("{}{}\n", Explain(workload.workload, times), SourcesText(times));
  return OkStatus();
}

Status Run(const Options& options, const CommonOptions& common) {
  if (options.dump) return Dump(options);
  ASSIGN_OR_RETURN(const RunLock lock, LockRun(kInfo, common, options.run));
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(options.run, WorkloadParts::kTables));
  const std::vector<std::string> paths = ProfilePaths(options.model, file.workload.topology.gpus);
  Stamp stamp{
      options.run,
      "compute-sim",
      paths,
      {"model-order " + Join(options.model.order), "attention " + options.model.attention_library},
      {options.run + "/" + kKernelTimesName}};
  if (!options.model.clocks.empty()) stamp.options.push_back("clocks " + options.model.clocks);
  stamp.inputs.push_back(options.run + "/" + kManifestName);
  stamp.inputs.push_back(options.run + "/" + kTopologyName);
  stamp.inputs.push_back(KernelAssumptionsPath());
  if (!options.explain && SkipsRun(stamp, kInfo, common)) return OkStatus();
  if (!common.check) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kKernelTimesName));
  ASSIGN_OR_RETURN(LoadedOptions loaded,
                   LoadModelOptions(options.model, paths, file.attention_backend));
  Provenance provenance{"compute-sim", {{kManifestName, file.sha256}}, stamp.options};
  for (const auto& [name, sha256] : loaded.hashes) provenance.inputs.push_back({name, sha256});
  TaskProgress progress(kInfo, common);
  loaded.simulate.progress = [&](size_t done, size_t of) { progress.Show("submodules", done, of); };
  ASSIGN_OR_RETURN(const KernelTimes times, Simulate(file.workload, loaded.simulate));
  progress.End();
  if (options.explain) fmt::print("{}", Explain(file.workload, times));
  if (!common.check) {
    RETURN_IF_ERROR(WriteKernelTimes(options.run, times, provenance));
    RETURN_IF_ERROR(SaveStamp(stamp));
  }
  Report(kInfo, common, SourcesText(times));
  for (const std::string& line : LimitsWithoutEffect(file.workload, loaded.simulate)) {
    Report(kInfo, common, line);
  }
  return OkStatus();
}

std::string Subject(const Options& options) { return options.run; }

}  // namespace

std::unique_ptr<Command> MakeSimulateCommand() {
  return MakeCommand<Options>(kInfo, Declare, Run, Subject);
}

}  // namespace drydock
