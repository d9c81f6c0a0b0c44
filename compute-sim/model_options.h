// The options that choose the compute models and their profiles. The commands of compute-sim share
// them.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_OPTIONS_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "compute-sim/model/simulate.h"
#include "compute-sim/model_table.h"
#include "core/base/cli.h"

namespace drydock {

struct ModelOptions {
  std::vector<std::string> profiles;
  bool no_shipped_profiles = false;
  std::vector<std::string> order = ComputeModelNames();
  std::string attention_library;
  std::string clocks;  // "" = each GPU file's
};

void DeclareModelOptions(CLI::App* app, ModelOptions* options);
// Errors of usage, which do not depend on any input.
Status CheckModelOptions(const ModelOptions& options);

// The paths of the profiles: the user's profiles, then the profiles that ship with the GPUs.
std::vector<std::string> ProfilePaths(const ModelOptions& options,
                                      const std::vector<GpuSpec>& gpus);

struct LoadedOptions {
  SimulateOptions simulate;
  std::vector<std::pair<std::string, std::string>> hashes;  // name and SHA-256 of each file read
};
// `attention_backend`: the backend of the workload, used if the options name no attention library.
Result<LoadedOptions> LoadModelOptions(const ModelOptions& options,
                                       const std::vector<std::string>& profile_paths,
                                       const std::string& attention_backend);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_OPTIONS_H_
