#include "core/schema/host/host_memory_file.h"

#include <fmt/format.h>

#include "core/schema/fabric/limits.h"

namespace drydock {
namespace {

bool IsEfficiency(double value) { return value > 0 && value <= 1; }

void CheckEfficiency(const std::string& key, double value, YamlReader* reader) {
  if (!reader->Has(key) || IsEfficiency(value)) return;
  reader->Fail(key, fmt::format("'{}' is {}; it is a share, above 0 and at most 1", key, value));
}

void ReadRemote(const YamlNode& node, RemoteMemory* remote, Diagnostics* diagnostics) {
  YamlReader reader(node, "remote", diagnostics);
  int sharing = 0;
  reader.ReadChoice("sharing", {"per-gpu", "per-host", "pool"}, &sharing, /*required=*/true);
  remote->sharing = static_cast<RemoteSharing>(sharing + 1);
  reader.Read("bandwidth", &remote->bandwidth);
  CheckRate("bandwidth", remote->bandwidth, &reader);
  reader.Read("latency", &remote->latency);
  CheckLatency("latency", remote->latency, &reader);
  reader.Finish();
}

void ReadSockets(const YamlNode& node, HostMemoryDefaults* defaults, Diagnostics* diagnostics) {
  YamlReader reader(node, "sockets", diagnostics);
  for (const std::string& cpu : CpuNames()) {
    const YamlNode* entry = reader.Take(cpu, /*required=*/true);
    if (entry == nullptr) continue;
    YamlReader socket(*entry, cpu, diagnostics);
    Bandwidth& bandwidth = defaults->sockets[cpu];
    std::string source;
    socket.Read("bandwidth", &bandwidth);
    CheckRate("bandwidth", bandwidth, &socket);
    socket.Read("source", &source);
    socket.Finish();
  }
  reader.Finish();
}

// Reads a section with an efficiency, an optional latency, and their source.
void ReadRule(const YamlNode& node, const char* what, double* efficiency, Time* latency,
              Diagnostics* diagnostics) {
  YamlReader reader(node, what, diagnostics);
  std::string source;
  reader.Read("efficiency", efficiency);
  CheckEfficiency("efficiency", *efficiency, &reader);
  if (latency != nullptr) {
    reader.Read("latency", latency);
    CheckLatency("latency", *latency, &reader);
  }
  reader.Read("source", &source);
  reader.Finish();
}

}  // namespace

Result<HostMemoryDefaults> ParseHostMemoryFile(const std::string& text,
                                               const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of host memory", &diagnostics);
  HostMemoryDefaults defaults;
  if (const YamlNode* node = file.Take("host_memory", /*required=*/true)) {
    YamlReader reader(*node, "host_memory", &diagnostics);
    if (const YamlNode* sockets = reader.Take("sockets", /*required=*/true)) {
      ReadSockets(*sockets, &defaults, &diagnostics);
    }
    HostMemory& rest = defaults.rest;
    if (const YamlNode* copy = reader.Take("copy", /*required=*/true)) {
      ReadRule(*copy, "copy", &rest.copy_efficiency, &rest.latency, &diagnostics);
    }
    if (const YamlNode* optimizer = reader.Take("optimizer", /*required=*/true)) {
      ReadRule(*optimizer, "optimizer", &rest.optimizer_efficiency, nullptr, &diagnostics);
    }
    reader.Finish();
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return defaults;
}

HostMemory WithDefaults(const HostKind& kind, const GpuSpec& gpu,
                        const HostMemoryDefaults& defaults) {
  HostMemory memory = kind.memory;
  if (memory.bandwidth == Bandwidth()) {
    memory.bandwidth = defaults.sockets.at(kind.CpuName(gpu.compute_capability));
  }
  if (memory.copy_efficiency == 0) memory.copy_efficiency = defaults.rest.copy_efficiency;
  if (memory.optimizer_efficiency == 0) {
    memory.optimizer_efficiency = defaults.rest.optimizer_efficiency;
  }
  if (memory.latency < Time()) memory.latency = defaults.rest.latency;
  return memory;
}

void ReadHostMemory(const YamlNode& node, HostMemory* memory, Diagnostics* diagnostics) {
  YamlReader reader(node, "memory", diagnostics);
  reader.ReadOptional("bandwidth", &memory->bandwidth);
  CheckRate("bandwidth", memory->bandwidth, &reader);
  reader.ReadOptional("copy_efficiency", &memory->copy_efficiency);
  CheckEfficiency("copy_efficiency", memory->copy_efficiency, &reader);
  reader.ReadOptional("optimizer_efficiency", &memory->optimizer_efficiency);
  CheckEfficiency("optimizer_efficiency", memory->optimizer_efficiency, &reader);
  reader.ReadOptional("copy_latency", &memory->latency);
  CheckLatency("copy_latency", memory->latency, &reader);
  if (const YamlNode* remote = reader.Take("remote", /*required=*/false)) {
    ReadRemote(*remote, &memory->remote, diagnostics);
  }
  reader.Finish();
}

bool IsComplete(const HostMemory& memory) {
  const RemoteMemory& remote = memory.remote;
  const bool has_remote = remote.sharing != RemoteSharing::kNone;
  return memory.bandwidth >= kMinRate && IsEfficiency(memory.copy_efficiency) &&
         IsEfficiency(memory.optimizer_efficiency) && memory.latency >= Time() &&
         memory.latency <= kMaxLatency && static_cast<int>(remote.sharing) < kRemoteSharingCount &&
         (!has_remote || remote.bandwidth >= kMinRate) && remote.latency >= Time() &&
         remote.latency <= kMaxLatency;
}

}  // namespace drydock
