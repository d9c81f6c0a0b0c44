#include "core/schema/artefacts/transfer_codec.h"

#include <algorithm>

#include "core/schema/artefacts/protocol.h"
#include "core/schema/cluster/host_memory_file.h"

namespace drydock {

void EncodeTransfers(const Workload& from, proto::Manifest* to) {
  for (const MemoryTransfer& transfer : from.transfers) {
    proto::Manifest::Transfer* added = to->add_transfers();
    added->set_name(transfer.name);
    added->set_tier(static_cast<uint32_t>(transfer.tier));
    added->set_bytes(transfer.bytes.count());
  }
  for (const HostMemory& memory : from.host_memory) {
    proto::Manifest::HostMemory* added = to->add_host_memory();
    added->set_bits_per_second(memory.bandwidth.bits_per_second());
    added->set_copy_efficiency(memory.copy_efficiency);
    added->set_optimizer_efficiency(memory.optimizer_efficiency);
    added->set_latency_ps(memory.latency.ps());
    added->set_remote_sharing(static_cast<uint32_t>(memory.remote.sharing));
    added->set_remote_bits_per_second(memory.remote.bandwidth.bits_per_second());
    added->set_remote_latency_ps(memory.remote.latency.ps());
  }
}

void DecodeTransfers(const proto::Manifest& from, Workload* to) {
  for (const auto& transfer : from.transfers()) {
    to->transfers.push_back(
        {transfer.name(), protocol::ToEnum<MemoryTier>(transfer.tier()), Bytes(transfer.bytes())});
  }
  for (const auto& memory : from.host_memory()) {
    HostMemory& added = to->host_memory.emplace_back();
    added.bandwidth = Bandwidth::BitsPerSecond(memory.bits_per_second());
    added.copy_efficiency = memory.copy_efficiency();
    added.optimizer_efficiency = memory.optimizer_efficiency();
    added.latency = Time::Ps(memory.latency_ps());
    added.remote = {protocol::ToEnum<RemoteSharing>(memory.remote_sharing()),
                    Bandwidth::BitsPerSecond(memory.remote_bits_per_second()),
                    Time::Ps(memory.remote_latency_ps())};
  }
}

bool TransfersConsistent(const Workload& workload) {
  const std::vector<HostMemory>& memories = workload.host_memory;
  const bool has_memory = memories.size() == workload.topology.host_kinds.size();
  if (!(has_memory || (memories.empty() && workload.transfers.empty())) ||
      !std::all_of(memories.begin(), memories.end(), IsComplete)) {
    return false;
  }
  const bool has_remote = std::all_of(memories.begin(), memories.end(), [](const HostMemory& m) {
    return m.remote.sharing != RemoteSharing::kNone;
  });
  return std::all_of(
      workload.transfers.begin(), workload.transfers.end(), [&](const MemoryTransfer& t) {
        return protocol::Within(t.tier, kMemoryTierCount) && t.bytes >= Bytes() &&
               t.bytes <= kLargestTransfer && (t.tier != MemoryTier::kRemote || has_remote);
      });
}

}  // namespace drydock
