// Memory that a program's loads and stores go to, and the host's own work on what lies there
// (docs/explanation/memory.md). Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_HOST_MEMORY_H_
#define DRYDOCK_CORE_MODEL_HOST_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace drydock {

// Where the data lies: the GPU's own memory; that of its host, behind PCIe or NVLink-C2C; memory
// further away that several GPUs may share.
enum class MemoryTier : uint8_t { kGpu, kHost, kRemote };
inline constexpr int kMemoryTierCount = 3;
const std::vector<std::string>& MemoryTierNames();  // "gpu", "host", "remote"

// More in one piece is refused.
inline constexpr Bytes kLargestTransfer = Bytes(int64_t{1} << 50);

// A distinct load or store; or work of the host, which reads and writes `bytes` of its own memory.
struct MemoryTransfer {
  std::string name;  // "zero.gradients"
  MemoryTier tier = MemoryTier::kHost;
  Bytes bytes;
  bool operator==(const MemoryTransfer&) const = default;
};

// Who shares a remote memory's bandwidth. ASTRA-sim's PER_NPU_MEMORY_EXPANSION,
// PER_NODE_MEMORY_EXPANSION and MEMORY_POOL.
enum class RemoteSharing : uint8_t { kNone, kPerGpu, kPerHost, kPool };
inline constexpr int kRemoteSharingCount = 4;
const std::vector<std::string>& RemoteSharingNames();  // "none", "per-gpu", "per-host", "pool"

struct RemoteMemory {
  RemoteSharing sharing = RemoteSharing::kNone;  // kNone: there is none
  Bandwidth bandwidth;                           // reads and writes together
  Time latency;                                  // of an access, before its first byte
  bool operator==(const RemoteMemory&) const = default;
};

// What a kind of host has. In a Topology, what cluster.topo states: 0, or a negative latency, where
// it states nothing. In a Workload, all of it.
struct HostMemory {
  Bandwidth bandwidth;              // of a socket's memory, reads and writes together
  double copy_efficiency = 0;       // share of PCIe's or NVLink-C2C's rate that a copy reaches
  double optimizer_efficiency = 0;  // share of `bandwidth` that the host's own work reaches
  Time latency = Time::Ps(-1);      // of a copy, before its first byte
  RemoteMemory remote;
  bool operator==(const HostMemory&) const = default;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_HOST_MEMORY_H_
