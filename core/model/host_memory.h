// Memory that a program loads from and stores to, and the host's own work on the data in it
// (docs/explanation/memory.md). Plain data; immutable once built.
#ifndef DRYDOCK_CORE_MODEL_HOST_MEMORY_H_
#define DRYDOCK_CORE_MODEL_HOST_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace drydock {

// Where the data is: in the GPU's memory; in its host's memory, behind PCIe or NVLink-C2C; in
// remote memory that several GPUs may share.
enum class MemoryTier : uint8_t { kGpu, kHost, kRemote };
inline constexpr int kMemoryTierCount = 3;
const std::vector<std::string>& MemoryTierNames();  // "gpu", "host", "remote"

// The maximum of one transfer; larger ones are errors.
inline constexpr Bytes kLargestTransfer = Bytes(int64_t{1} << 50);
// The maximum of a stated time.
inline constexpr Time kLongestHostWork = Time::Us(int64_t{100'000'000'000});

// A distinct load or store, or work of the host that reads and writes `bytes` of the host's memory.
struct MemoryTransfer {
  std::string name;  // "zero.gradients"
  MemoryTier tier = MemoryTier::kHost;
  Bytes bytes;
  Time time = {};  // of host work that takes a stated time, whatever its bytes; otherwise 0
  bool operator==(const MemoryTransfer&) const = default;
};

// Which GPUs share a remote memory's bandwidth: ASTRA-sim's PER_NPU_MEMORY_EXPANSION,
// PER_NODE_MEMORY_EXPANSION and MEMORY_POOL.
enum class RemoteSharing : uint8_t { kNone, kPerGpu, kPerHost, kPool };
inline constexpr int kRemoteSharingCount = 4;
const std::vector<std::string>& RemoteSharingNames();  // "none", "per-gpu", "per-host", "pool"

struct RemoteMemory {
  RemoteSharing sharing = RemoteSharing::kNone;  // kNone: no remote memory
  Bandwidth bandwidth;                           // reads and writes together
  Time latency;                                  // of an access, before its first byte
  bool operator==(const RemoteMemory&) const = default;
};

// The memory of a kind of host. A Topology has the values that cluster.topo states, and 0 or a
// negative latency for the others. A Workload has all values.
struct HostMemory {
  Bandwidth bandwidth;              // of a socket's memory, reads and writes together
  double copy_efficiency = 0;       // share of PCIe's or NVLink-C2C's rate that a copy reaches
  double optimizer_efficiency = 0;  // share of `bandwidth` that host work reaches
  Time latency = Time::Ps(-1);      // of a copy, before its first byte
  RemoteMemory remote;
  bool operator==(const HostMemory&) const = default;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_HOST_MEMORY_H_
