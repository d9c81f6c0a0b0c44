#include "compute-sim/model_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

#include "compute-sim/gpu_library.h"
#include "core/base/files.h"

namespace drydock {
namespace {

// `--model-order help` works without a run directory.
void PrintModelsIfHelp(const std::string& name) {
  if (name != "help") return;
  for (const ComputeModelChoice& choice : ComputeModelChoices()) {
    fmt::print("{:<10} {}\n", choice.name, choice.summary);
  }
  throw CLI::Success();
}

}  // namespace

void DeclareModelOptions(CLI::App* app, ModelOptions* options) {
  app->add_option("--gpu-profile", options->profiles,
                  "Measured kernel times (CSV), used before the shipped profiles; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app->add_flag("--no-shipped-profiles", options->no_shipped_profiles,
                "Ignore the profiles that ship with a GPU (configs/profiles/<gpu>.csv)");
  app->add_option("--model-order", options->order,
                  "Compute models, in the order in which they are asked; 'help' lists them")
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("NAME,...")
      ->allow_extra_args(false)
      ->each(PrintModelsIfHelp);
  app->add_option("--attention-library", options->attention_library,
                  "Fused attention kernels to assume, instead of the workload's: a library, or the "
                  "framework that "
                  "picks one (transformer-engine, pytorch)")
      ->type_name("NAME");
  app->add_option("--clocks", options->clocks,
                  "'sustained': a run of hours at the power limit; 'burst': a short benchmark; "
                  "instead of each GPU file's")
      ->check(CLI::IsMember(KernelParameters::ClocksNames()))
      ->type_name("NAME");
}

Status CheckModelOptions(const ModelOptions& options) {
  RETURN_IF_ERROR(FindComputeModels(options.order));
  for (size_t i = 0; i < options.order.size(); ++i) {
    const std::string& name = options.order[i];
    if (std::find(options.order.begin(), options.order.begin() + i, name) ==
        options.order.begin() + i) {
      continue;
    }
    return Error(fmt::format("--model-order names '{}' twice", name));
  }
  return OkStatus();
}

std::vector<std::string> ProfilePaths(const ModelOptions& options,
                                      const std::vector<GpuSpec>& gpus) {
  std::vector<std::string> paths = options.profiles;
  if (options.no_shipped_profiles) return paths;
  for (const std::string& path : ShippedProfiles(gpus)) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  return paths;
}

Result<LoadedOptions> LoadModelOptions(const ModelOptions& options,
                                       const std::vector<std::string>& profile_paths,
                                       const std::string& attention_backend) {
  const bool asked = !options.attention_library.empty();
  ASSIGN_OR_RETURN(const ComputeModelOrder models, FindComputeModels(options.order));
  LoadedOptions loaded;
  loaded.simulate.models = models;
  loaded.simulate.attention_library = asked ? options.attention_library : attention_backend;
  const std::string kernels_path = KernelAssumptionsPath();
  ASSIGN_OR_RETURN(const std::string kernels, ReadFile(kernels_path));
  ASSIGN_OR_RETURN(loaded.simulate.kernels, ParseKernelAssumptions(kernels, kernels_path));
  loaded.hashes.emplace_back(BaseName(kernels_path), Sha256(kernels));
  loaded.simulate.clocks = KernelParameters::ClocksOf(options.clocks);
  for (const std::string& path : profile_paths) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(Profile profile, ParseProfile(text, path));
    loaded.simulate.profiles.push_back(std::make_shared<const Profile>(std::move(profile)));
    loaded.hashes.emplace_back("profile " + BaseName(path), Sha256(text));
  }
  return loaded;
}

}  // namespace drydock
