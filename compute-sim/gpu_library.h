// GPUs by name or file, for commands that have no cluster.
#ifndef DRYDOCK_COMPUTE_SIM_GPU_LIBRARY_H_
#define DRYDOCK_COMPUTE_SIM_GPU_LIBRARY_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// The names of the GPUs in configs/gpus, sorted.
std::vector<std::string> ShippedGpuNames();

// `name`: a shipped GPU, or the path of a GPU's file. Its reference is searched beside that file,
// then among the shipped GPUs. An unknown name is an error that suggests the nearest name.
Result<GpuSpec> LoadGpu(const std::string& name);

// The profiles that ship with these GPUs and with their references.
std::vector<std::string> ShippedProfiles(const std::vector<GpuSpec>& gpus);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_GPU_LIBRARY_H_
