// compute-sim: 1-workload/ in, 3-times.pb out. Parses flags; the work is in simulate.h.
#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/simulate.h"
#include "core/base/cli.h"
#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/version.h"
#include "core/base/writable.h"
#include "core/schema/artefacts.h"
#include "core/schema/stamp.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "compute-sim",
    "How long each distinct piece of compute takes on each GPU type of the cluster.",
    "reads RUN/1-workload/manifest.pb and GPU profiles, writes RUN/3-times.pb",
    "compute-sim out/gpt-22b --gpu-profile my-a100.csv",
};

struct Options {
  std::string run;
  std::vector<std::string> profiles;
  bool no_shipped_profiles = false;
  std::vector<std::string> order = ComputeModelNames();
  std::string attention_library;
  bool explain = false;
  bool dump = false;
};

// `--model-order help` needs no run directory.
void PrintModelsIfHelp(const std::string& name) {
  if (name != "help") return;
  for (const ComputeModelChoice& choice : ComputeModelChoices()) {
    fmt::print("{:<10} {}\n", choice.name, choice.summary);
  }
  throw CLI::Success();
}

void Declare(CLI::App* app, Options* options) {
  app->add_option("run", options->run, "Run directory")->type_name("RUN")->required();
  app->add_option("--gpu-profile", options->profiles,
                  "Measured kernel times (CSV), asked before the shipped ones; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app->add_flag("--no-shipped-profiles", options->no_shipped_profiles,
                "Leave out the profiles that come with a GPU (configs/profiles/<gpu>.csv)");
  app->add_option("--model-order", options->order,
                  "Compute models, in the order they are asked; 'help' lists them")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAME,...")
      ->allow_extra_args(false)
      ->each(PrintModelsIfHelp);
  app->add_option("--attention-library", options->attention_library,
                  "Fused attention kernels to assume, instead of each GPU file's default")
      ->type_name("NAME");
  app->add_flag("--explain", options->explain, "Print every kernel with its time and its source");
  app->add_flag("--dump,--text", options->dump,
                "Print the present RUN/3-times.pb; compute nothing");
  CheckOptions(app, [options]() -> Status {
    for (const std::string& name : options->order) RETURN_IF_ERROR(FindComputeModel(name));
    return OkStatus();
  });
}

Status Dump(const Options& options) {
  ASSIGN_OR_RETURN(const WorkloadFile workload, ReadWorkload(options.run, WorkloadParts::kTables));
  ASSIGN_OR_RETURN(const KernelTimes times, ReadKernelTimes(options.run, workload));
  fmt::print("{}{}\n", Explain(workload.workload, times), Summary(times));
  return OkStatus();
}

// The profiles to ask, the user's before those that ship with the cluster's GPUs.
std::vector<std::string> ProfilePaths(const Options& options, const Topology& topology) {
  std::vector<std::string> paths = options.profiles;
  if (options.no_shipped_profiles) return paths;
  std::vector<std::string> names;
  for (const GpuSpec& spec : topology.gpus) {
    names.push_back(spec.name);
    if (!spec.reference.empty()) names.push_back(spec.reference);
  }
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/profiles/{}.csv", kDefaultConfigDirectory, name);
    if (FileExists(path) && std::find(paths.begin(), paths.end(), path) == paths.end()) {
      paths.push_back(path);
    }
  }
  return paths;
}

Status LoadProfiles(const std::vector<std::string>& paths, SimulateOptions* simulate,
                    Provenance* provenance) {
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(Profile profile, ParseProfile(text, path));
    simulate->profiles.push_back(std::move(profile));
    provenance->inputs.push_back({"profile " + BaseName(path), Sha256(text)});
  }
  return OkStatus();
}

Status Run(const Options& options, const CommonOptions& common) {
  if (options.dump) return Dump(options);
  ASSIGN_OR_RETURN(const WorkloadFile file, ReadWorkload(options.run, WorkloadParts::kTables));
  const std::vector<std::string> paths = ProfilePaths(options, file.workload.topology);
  Stamp stamp{options.run,
              "compute-sim",
              paths,
              {"model-order " + Join(options.order), "attention " + options.attention_library},
              {options.run + "/" + kKernelTimesName}};
  stamp.inputs.push_back(options.run + "/" + kManifestName);
  if (common.if_changed && !options.explain && IsUpToDate(stamp)) {
    Report(kInfo, common, "up to date");
    return OkStatus();
  }
  if (!common.check) RETURN_IF_ERROR(CheckCanWrite(options.run + "/" + kKernelTimesName));
  SimulateOptions simulate{options.order, {}, options.attention_library};
  Provenance provenance{"compute-sim", {{kManifestName, file.sha256}}, stamp.options};
  RETURN_IF_ERROR(LoadProfiles(paths, &simulate, &provenance));
  ASSIGN_OR_RETURN(const KernelTimes times, Simulate(file.workload, simulate));
  if (options.explain) fmt::print("{}", Explain(file.workload, times));
  if (!common.check) {
    RETURN_IF_ERROR(WriteKernelTimes(options.run, times, provenance));
    RETURN_IF_ERROR(SaveStamp(stamp));
  }
  Report(kInfo, common, Summary(times));
  return OkStatus();
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Options options;
  drydock::CommonOptions common;
  return drydock::RunTool(
      argc, argv, drydock::kInfo, &common, [&](CLI::App* app) { drydock::Declare(app, &options); },
      [&] { return drydock::Run(options, common); });
}
