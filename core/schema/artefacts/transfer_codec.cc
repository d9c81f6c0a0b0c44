#include "core/schema/artefacts/transfer_codec.h"

#include <algorithm>

#include "core/schema/artefacts/protocol.h"
#include "core/schema/host/host_memory_file.h"

namespace drydock {

void EncodeHostMemory(const HostMemory& from, proto::Manifest::HostMemory* to) {
  to->set_bits_per_second(from.bandwidth.bits_per_second());
  to->set_copy_efficiency(from.copy_efficiency);
  to->set_optimizer_efficiency(from.optimizer_efficiency);
  to->set_latency_ps(from.latency.ps());
  to->set_remote_sharing(static_cast<uint32_t>(from.remote.sharing));
  to->set_remote_bits_per_second(from.remote.bandwidth.bits_per_second());
  to->set_remote_latency_ps(from.remote.latency.ps());
}

HostMemory DecodeHostMemory(const proto::Manifest::HostMemory& from) {
  return {Bandwidth::BitsPerSecond(from.bits_per_second()), from.copy_efficiency(),
          from.optimizer_efficiency(), Time::Ps(from.latency_ps()),
          RemoteMemory{protocol::ToEnum<RemoteSharing>(from.remote_sharing()),
                       Bandwidth::BitsPerSecond(from.remote_bits_per_second()),
                       Time::Ps(from.remote_latency_ps())}};
}

void EncodeTransfers(const Workload& from, proto::Manifest* to) {
  for (const MemoryTransfer& transfer : from.transfers) {
    proto::Manifest::Transfer* added = to->add_transfers();
    added->set_name(transfer.name);
    added->set_tier(static_cast<uint32_t>(transfer.tier));
    added->set_bytes(transfer.bytes.count());
    added->set_time_ps(transfer.time.ps());
  }
  for (const HostMemory& memory : from.host_memory) {
    EncodeHostMemory(memory, to->add_host_memory());
  }
}

void DecodeTransfers(const proto::Manifest& from, Workload* to) {
  for (const auto& transfer : from.transfers()) {
    to->transfers.push_back({transfer.name(), protocol::ToEnum<MemoryTier>(transfer.tier()),
                             Bytes(transfer.bytes()), Time::Ps(transfer.time_ps())});
  }
  for (const auto& memory : from.host_memory()) {
    to->host_memory.push_back(DecodeHostMemory(memory));
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
               t.bytes <= kLargestTransfer && t.time >= Time() && t.time <= kLongestHostWork &&
               (t.tier != MemoryTier::kRemote || has_remote);
      });
}

}  // namespace drydock
