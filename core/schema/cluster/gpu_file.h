// Reads configs/gpus/<name>.yaml: the specification (`gpu:`) and the communication costs
// (`collectives:`). compute-sim reads the kernel model (`kernels:`) from the text of the file.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_FILE_H_

#include <string>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "core/model/gpu.h"

namespace drydock {

Result<GpuSpec> ParseGpuFile(const std::string& text, const std::string& file_name);

// The name of a GPU's file among the files that a cluster names: "gpus/a100-sxm-80g.yaml".
std::string GpuFileName(const std::string& gpu);

// Reads the `collectives:` section; reports missing and unknown keys.
void ReadCollectiveCosts(const YamlNode& node, CollectiveCosts* costs, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_FILE_H_
