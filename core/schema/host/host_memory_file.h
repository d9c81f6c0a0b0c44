// Reads configs/host-memory.yaml: the defaults for a host's memory and for copies between it and
// its GPUs (docs/explanation/memory.md), each with its source.
#ifndef DRYDOCK_CORE_SCHEMA_HOST_HOST_MEMORY_FILE_H_
#define DRYDOCK_CORE_SCHEMA_HOST_HOST_MEMORY_FILE_H_

#include <map>
#include <string>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "core/model/topology.h"

namespace drydock {

struct HostMemoryDefaults {
  std::map<std::string, Bandwidth> sockets;  // one for each of CpuNames()
  HostMemory rest;                           // all but the bandwidth
};

// Reports all mistakes at once.
Result<HostMemoryDefaults> ParseHostMemoryFile(const std::string& text,
                                               const std::string& file_name);

// Returns the values that the host states, and the defaults for the rest.
HostMemory WithDefaults(const HostKind& kind, const GpuSpec& gpu,
                        const HostMemoryDefaults& defaults);

// Reads the section `memory` of a host in cluster.topo.
void ReadHostMemory(const YamlNode& node, HostMemory* memory, Diagnostics* diagnostics);

// Returns true if every value is stated and valid.
bool IsComplete(const HostMemory& memory);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_HOST_HOST_MEMORY_FILE_H_
