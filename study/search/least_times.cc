#include "study/search/least_times.h"

#include <algorithm>
#include <set>

namespace drydock {
namespace {

const HostKind& KindOf(const Topology& topology, int host) {
  return topology.host_kinds[static_cast<size_t>(topology.hosts[static_cast<size_t>(host)])];
}

// The rate at which a host takes data from other hosts; 0: it has no NIC.
double NicBytesPerSecond(const HostKind& kind) {
  return kind.nics.rate.bytes_per_second() * kind.nics.count;
}

Time Over(double bytes, double bytes_per_second) {
  if (bytes_per_second <= 0 || bytes <= 0) return Time();
  return Time::Ps(static_cast<int64_t>(bytes / bytes_per_second * 1e12));  // rounded down
}

// Of the bytes of a call among n members, the share that k of them, together, have to take in from
// the others. 0: not known.
double ShareTakenIn(CollectiveType type, int n, int k) {
  const double members = n, here = k, others = n - k;
  switch (type) {
    case CollectiveType::kAllGather:
      return others / members;
    case CollectiveType::kAllReduce:
      // Every element of the result depends on the others. A single member may also take the parts
      // of a reduce-scatter and an all-gather, or let a switch add.
      return k == 1 ? others / members : 1;
    case CollectiveType::kReduceScatter:
      return here / members;
    case CollectiveType::kAllToAll:
      return here * others / members;
    default:
      return 0;
  }
}

}  // namespace

Time LeastTime(const CommCall& call, const std::vector<int>& ranks, const Topology& topology,
               const Placement& placement, int beside) {
  const auto n = static_cast<int>(ranks.size());
  if (n < 2 || ExchangesTokens(call.buffers)) return Time();
  const auto bytes = static_cast<double>(call.bytes().count());
  std::map<int, int> members_of_host;
  for (const int rank : ranks) ++members_of_host[placement.of(rank).host];
  Time least;
  for (const auto& [host, members] : members_of_host) {
    const HostKind& kind = KindOf(topology, host);
    if (members < n) {
      least = std::max(least, Over(beside * bytes * ShareTakenIn(call.collective, n, members),
                                   NicBytesPerSecond(kind)));
    } else {
      least = std::max(least, Over(bytes * ShareTakenIn(call.collective, n, 1),
                                   kind.scale_up.bandwidth.bytes_per_second()));
    }
  }
  return least;
}

LeastTimes::LeastTimes(const Workload& workload, const KernelTimes& times)
    : workload_(workload), times_(times), placement_(workload.topology) {}

Time LeastTimes::Of(int rank, const Op& op) {
  if (op.kind == OpKind::kCompute) {
    const Placement::Slot& slot = placement_.of(rank);
    const auto gpu = static_cast<size_t>(KindOf(workload_.topology, slot.host).gpu);
    const auto [known, added] = compute_.emplace(std::pair(gpu, op.work), Time());
    if (added) known->second = ComputeTime(gpu, op);
    return known->second;
  }
  if (op.kind != OpKind::kCollective) return Time();
  const auto key = std::pair(op.work, GroupOf(rank, op));
  const auto [known, added] = collectives_.emplace(key, Time());
  if (added) {
    known->second = LeastTime(workload_.calls[op.work], Members(key.second), workload_.topology,
                              placement_, GroupsBeside(rank, op.role));
  }
  return known->second;
}

Time LeastTimes::ComputeTime(size_t gpu, const Op& op) const {
  const GpuKernelTimes& of_gpu = times_.gpus[gpu];
  Time sum;
  for (const uint32_t submodule : workload_.blocks[op.work].submodules) {
    const SubmoduleTime& time = of_gpu.submodules[submodule];
    sum += time.total;
    for (const KernelTime& kernel : time.kernels) {
      if (kernel.gap) sum -= kernel.time;
    }
  }
  return std::max(Time(), sum);
}

Time LeastTimes::WireTime(const Op& op, int sender, int receiver) {
  const auto bytes = static_cast<double>(workload_.calls[op.work].bytes().count());
  const int to = placement_.of(receiver).host;
  const HostKind& kind = KindOf(workload_.topology, to);
  return placement_.of(sender).host == to
             ? Over(bytes, kind.scale_up.bandwidth.bytes_per_second())
             : Over(bytes * GroupsBeside(sender, op.role), NicBytesPerSecond(kind));
}

int LeastTimes::GroupsBeside(int rank, uint8_t role) {
  const std::vector<int>& group_of = workload_.group_of_rank[role];
  const int own = group_of[static_cast<size_t>(rank)];
  const auto [known, added] = beside_.emplace(std::pair(role, own), 1);
  if (!added) return known->second;
  // Groups of one shape: as many members on each host, of this class.
  const auto shape = [&](int group) {
    std::map<int, int> members_of_host;
    for (const int member : Members(group)) ++members_of_host[placement_.of(member).host];
    return members_of_host;
  };
  const std::map<int, int> members_of_host = shape(own);
  const int host = placement_.of(rank).host;
  std::set<int> groups;
  for (int other = 0; other < workload_.rank_count(); ++other) {
    if (placement_.of(other).host != host || ClassOf(other) != ClassOf(rank)) continue;
    const int group = group_of[static_cast<size_t>(other)];
    if (group >= 0 && shape(group) == members_of_host) groups.insert(group);
  }
  return known->second = std::max<int>(1, static_cast<int>(groups.size()));
}

std::pair<int, int> LeastTimes::EndsOf(int rank, const Op& op) const {
  const CommCall& call = workload_.calls[op.work];
  const std::vector<int>& members = Members(GroupOf(rank, op));
  return {members[static_cast<size_t>(call.root)], members[static_cast<size_t>(call.peer)]};
}

}  // namespace drydock
