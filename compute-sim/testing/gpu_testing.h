// GPUs for tests, from configs/gpus.
#ifndef DRYDOCK_COMPUTE_SIM_TESTING_GPU_TESTING_H_
#define DRYDOCK_COMPUTE_SIM_TESTING_GPU_TESTING_H_

#include <string>

#include "compute-sim/model/simulate.h"
#include "compute-sim/submodules/kernel_assumptions.h"
#include "core/base/files.h"
#include "core/schema/cluster/gpu_file.h"

namespace drydock {

// With the text of its reference, as the reader of a cluster fills it in.
inline GpuSpec ShippedGpu(const std::string& name) {
  const auto path = [](const std::string& gpu) { return "configs/gpus/" + gpu + ".yaml"; };
  GpuSpec spec = *ParseGpuFile(*ReadFile(path(name)), path(name));
  if (!spec.reference.empty()) spec.reference_text = *ReadFile(path(spec.reference));
  return spec;
}

inline GpuData ShippedGpuData(const std::string& name, KernelParameters::Clocks clocks) {
  GpuData data = *MakeGpuData(ShippedGpu(name), {});
  data.parameters.clocks = clocks;
  return data;
}

// Of configs/kernels.yaml.
inline KernelAssumptions ShippedAssumptions() {
  const std::string path = "configs/kernels.yaml";
  return *ParseKernelAssumptions(*ReadFile(path), path);
}

inline ProfilePtr SharedProfile(const std::string& text) {
  return std::make_shared<const Profile>(*ParseProfile(text, "p.csv"));
}

inline constexpr auto kBurst = KernelParameters::Clocks::kBurst;
inline constexpr auto kSustained = KernelParameters::Clocks::kSustained;

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_TESTING_GPU_TESTING_H_
