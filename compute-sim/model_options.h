// The options that say which compute models are asked, and with which profiles. Shared by the
// commands of compute-sim.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_OPTIONS_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "compute-sim/model/compute_model.h"
#include "compute-sim/model/simulate.h"
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
// Wrong usage whatever the input holds.
Status CheckModelOptions(const ModelOptions& options);

// The profiles to ask, the user's before those that ship with the GPUs.
std::vector<std::string> ProfilePaths(const ModelOptions& options,
                                      const std::vector<GpuSpec>& gpus);

struct LoadedOptions {
  SimulateOptions simulate;
  std::vector<std::pair<std::string, std::string>> hashes;  // of the profiles: name, SHA-256
};
// `attention_backend`: the workload's, where the options name no attention library.
Result<LoadedOptions> LoadModelOptions(const ModelOptions& options,
                                       const std::vector<std::string>& profile_paths,
                                       const std::string& attention_backend);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_OPTIONS_H_
