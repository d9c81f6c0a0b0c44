#include "workload-gen/host/host_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/schema/host/host_memory_file.h"

namespace drydock {

std::string HostMemoryPath() { return ConfigDirectory() + "/host-memory.yaml"; }

Status FillHostMemory(Workload* workload) {
  const auto& transfers = workload->transfers;
  if (transfers.empty()) return OkStatus();
  const bool remote = std::any_of(transfers.begin(), transfers.end(), [](const MemoryTransfer& t) {
    return t.tier == MemoryTier::kRemote;
  });
  ASSIGN_OR_RETURN(const std::string text, ReadFile(HostMemoryPath()));
  ASSIGN_OR_RETURN(const HostMemoryDefaults defaults, ParseHostMemoryFile(text, HostMemoryPath()));
  for (const HostKind& kind : workload->topology.host_kinds) {
    if (remote && kind.memory.remote.sharing == RemoteSharing::kNone) {
      return Error(
          fmt::format("loads and stores access a remote memory, but the host '{}' has none: set "
                      "hosts: {}: memory: remote (docs/explanation/memory.md)",
                      kind.name, kind.name));
    }
    const GpuSpec& gpu = workload->topology.gpus[static_cast<size_t>(kind.gpu)];
    workload->host_memory.push_back(WithDefaults(kind, gpu, defaults));
  }
  return OkStatus();
}

}  // namespace drydock
