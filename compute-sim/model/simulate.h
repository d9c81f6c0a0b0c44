// From a workload's submodules to their times on every GPU type of its cluster.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_SIMULATE_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_SIMULATE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compute-sim/model/compute_model.h"
#include "compute-sim/model/gpu_data.h"
#include "compute-sim/profile/profile.h"
#include "compute-sim/submodules/kernel_assumptions.h"
#include "core/base/result.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

struct SimulateOptions {
  ComputeModelOrder models;
  std::vector<ProfilePtr> profiles;                // an earlier profile comes first
  std::string attention_library;                   // as KernelParameters::AttentionFor takes it
  std::optional<KernelParameters::Clocks> clocks;  // instead of each GPU file's
  KernelAssumptions kernels;
  // Called with the number of submodules that are done and that of all, over the GPU types.
  std::function<void(size_t done, size_t of)> progress;
};

// The data of `spec`: its file's `kernels:` and the profiles measured on it, at `limits` of hosts.
Result<GpuData> MakeGpuData(const GpuSpec& spec, const SimulateOptions& options,
                            const GpuLimits& limits = {});
// The data of its reference. An error if the text of the reference's file is missing or wrong.
Result<GpuData> MakeReferenceData(const GpuSpec& spec, const SimulateOptions& options);

// Collects the errors of all GPU types. KernelTimes::source_count counts the kernels of the
// distinct submodules by the source of their time, without launch gaps.
Result<KernelTimes> Simulate(const Workload& workload, const SimulateOptions& options);

// A line for each limit of a host's GPUs that changes no time, with the reason. REQUIRES: Simulate
// has succeeded.
std::vector<std::string> LimitsWithoutEffect(const Workload& workload,
                                             const SimulateOptions& options);

// The number of kernels by source: "42 kernels: 0 profile, 42 model, 0 scaled".
std::string SourcesText(const KernelTimes& times);

// A text of every submodule with its kernels, one line for each kernel.
std::string Explain(const Workload& workload, const KernelTimes& times);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_SIMULATE_H_
