// GPUs by name or file, for commands that have no cluster.
#ifndef DRYDOCK_COMPUTE_SIM_GPU_LIBRARY_H_
#define DRYDOCK_COMPUTE_SIM_GPU_LIBRARY_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// Those of configs/gpus, sorted.
std::vector<std::string> ShippedGpuNames();

// `name`: one of them, or the path of a GPU's file; its reference is looked for beside that file,
// then among the shipped. An unknown name is an error with the nearest.
Result<GpuSpec> LoadGpu(const std::string& name);

// The profiles that ship with these GPUs and with those that they refer to.
std::vector<std::string> ShippedProfiles(const std::vector<GpuSpec>& gpus);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_GPU_LIBRARY_H_
