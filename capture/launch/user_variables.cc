#include "capture/launch/user_variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/launch/words.h"

namespace drydock::capture {
namespace {

bool IsSetting(const std::string& name) {
  static constexpr const char* kPrefixes[] = {
      "ACCELERATE_", "CUBLAS_",  "CUDNN_", "DEEPSPEED_", "DS_",      "FSDP_",  "GLOO_",
      "HF_",         "MEGATRON", "MKL_",   "MPI_",       "NCCL_",    "NVTE_",  "OMPI_",
      "OMP_",        "PET_",     "PMIX_",  "PMI_",       "PYTORCH_", "SLURM_", "TORCH",
      "TRITON_",     "UB_",      "UCX_",   "XLA_"};
  static constexpr const char* kNames[] = {"CUDA_DEVICE_MAX_CONNECTIONS",
                                           "CUDA_DEVICE_ORDER",
                                           "CUDA_LAUNCH_BLOCKING",
                                           "CUDA_MODULE_LOADING",
                                           "CUDA_VISIBLE_DEVICES",
                                           "GROUP_RANK",
                                           "LD_PRELOAD",
                                           "LOCAL_RANK",
                                           "LOCAL_WORLD_SIZE",
                                           "MASTER_ADDR",
                                           "MASTER_PORT",
                                           "NODE_RANK",
                                           "PYTHONPATH",
                                           "RANK",
                                           "WORLD_SIZE"};
  for (const char* secret : {"TOKEN", "KEY", "SECRET", "PASSWORD"}) {
    if (name.find(secret) != std::string::npos) return false;
  }
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return name.starts_with(prefix); }) ||
         std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const char* known) { return name == known; });
}

}  // namespace

Variables SettingsIn(const Variables& environment) {
  Variables settings;
  for (const auto& variable : environment) {
    if (IsSetting(variable.first)) settings.push_back(variable);
  }
  std::sort(settings.begin(), settings.end());
  return settings;
}

std::string InheritedSettings(const std::vector<Launch>& launches, const Variables& own) {
  std::string text;
  for (const auto& setting : SettingsIn(own)) {
    const bool reaches = std::any_of(launches.begin(), launches.end(), [&](const Launch& launch) {
      const Variables& all = launch.environment;
      return std::find(all.begin(), all.end(), setting) != all.end();
    });
    if (!reaches) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", setting.first, Quoted(setting.second));
  }
  return text;
}

}  // namespace drydock::capture
