// Reads configs/gpus/<name>.yaml: the specification (`gpu:`) and the communication costs
// (`collectives:`). The kernel model (`kernels:`) is compute-sim's and only passed on as text.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_FILE_H_

#include <string>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "core/model/gpu.h"

namespace drydock {

Result<GpuSpec> ParseGpuFile(const std::string& text, const std::string& file_name);

// The `collectives:` section; reports what is missing or unknown in it.
void ReadCollectiveCosts(const YamlNode& node, CollectiveCosts* costs, Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_FILE_H_
