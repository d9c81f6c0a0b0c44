// Limits of the power and of the clock of GPUs: their text, and the part of cluster.topo that sets
// them for the GPUs of a host.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_LIMITS_FILE_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_LIMITS_FILE_H_

#include <optional>
#include <string_view>

#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

// Returns the watts of a power, 700 of "700 W". Returns nothing if `text` is not a power that a GPU
// can have.
std::optional<int> WattsOf(std::string_view text);
// Returns the megahertz of a clock, 1410 of "1410 MHz". Returns nothing if `text` is not a clock
// that a GPU can have.
std::optional<int> MegahertzOf(std::string_view text);

// The power in watts that the GPU may draw (`scaling: power_limit` of its file); 0 if its file does
// not state it.
int OwnPowerLimit(const GpuSpec& gpu);
// The same of the GPU of the cluster's hosts.
int OwnPowerLimit(const Topology& topology);

// Reads power_limit and clock_limit of a kind of host. `gpu`: the host's GPU, or null if it could
// not be read; a limit that the GPU does not allow is a mistake.
void ReadGpuLimits(YamlReader* reader, const GpuSpec* gpu, GpuLimits* limits);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_GPU_LIMITS_FILE_H_
