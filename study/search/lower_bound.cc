#include "study/search/lower_bound.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

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

// The ops of some ranks, and what each waits for.
class Paths {
 public:
  Paths(const Workload& workload, const KernelTimes& times)
      : workload_(workload),
        times_(times),
        placement_(workload.topology),
        covered_(workload.programs.size()) {}

  Time Longest() {
    Time longest;
    for (int rank = 0; rank < workload_.rank_count(); ++rank) {
      if (covered_[ClassOf(rank)]) continue;
      longest = std::max(longest, LongestFrom(rank));
    }
    return longest;
  }

 private:
  struct Node {
    int waits_for = 0;           // edges into it that are not taken yet
    Time start, least;           // `least`: its own time
    std::vector<uint32_t> next;  // start at its end or later
    int receiver = -1;           // of a send: its receive
    Time wire;                   // from the start of the send to the end of the receive
    Time earliest_end;           // of a receive
  };
  // Sender, receiver, group, tag.
  using Message = std::tuple<int, int, int, int32_t>;

  size_t ClassOf(int rank) const {
    return static_cast<size_t>(workload_.class_of_rank[static_cast<size_t>(rank)]);
  }
  const Program& ProgramOf(int rank) const { return workload_.programs[ClassOf(rank)]; }
  int GroupOf(int rank, const Op& op) const {
    return workload_.group_of_rank[op.role][static_cast<size_t>(rank)];
  }
  const std::vector<int>& Members(int group) const {
    return workload_.groups[static_cast<size_t>(group)].ranks;
  }

  // The ranks that `rank` sends to or receives from, and theirs.
  std::vector<int> RanksFrom(int rank) {
    std::vector<int> ranks = {rank};
    std::vector<bool> seen(static_cast<size_t>(workload_.rank_count()));
    seen[static_cast<size_t>(rank)] = true;
    for (size_t i = 0; i < ranks.size(); ++i) {
      const int here = ranks[i];
      covered_[ClassOf(here)] = true;
      std::vector<std::pair<uint8_t, uint32_t>> asked;  // each call once
      for (const Op& op : ProgramOf(here).ops) {
        if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
        const std::pair<uint8_t, uint32_t> call(op.role, op.work);
        if (std::find(asked.begin(), asked.end(), call) != asked.end()) continue;
        asked.push_back(call);
        const auto [sender, receiver] = EndsOf(here, op);
        for (const int other : {sender, receiver}) {
          if (seen[static_cast<size_t>(other)]) continue;
          seen[static_cast<size_t>(other)] = true;
          ranks.push_back(other);
        }
      }
    }
    return ranks;
  }

  std::pair<int, int> EndsOf(int rank, const Op& op) const {
    const CommCall& call = workload_.calls[op.work];
    const std::vector<int>& members = Members(GroupOf(rank, op));
    return {members[static_cast<size_t>(call.root)], members[static_cast<size_t>(call.peer)]};
  }

  Time ComputeTime(int rank, const Op& op) const {
    const Placement::Slot& slot = placement_.of(rank);
    const int gpu = KindOf(workload_.topology, slot.host).gpu;
    const GpuKernelTimes& of_gpu = times_.gpus[static_cast<size_t>(gpu)];
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

  Time LeastOf(int rank, const Op& op) {
    if (op.kind == OpKind::kCompute) {
      const auto key = std::pair(ClassOf(rank), op.work);
      const auto [known, added] = compute_.emplace(key, Time());
      if (added) known->second = ComputeTime(rank, op);
      return known->second;
    }
    if (op.kind != OpKind::kCollective) return Time();
    const auto key = std::pair(op.work, GroupOf(rank, op));
    const auto [known, added] = collectives_.emplace(key, Time());
    if (added) {
      known->second =
          LeastTime(workload_.calls[op.work], Members(key.second), workload_.topology, placement_);
    }
    return known->second;
  }

  Time WireTime(const Op& op, int sender, int receiver) const {
    const auto bytes = static_cast<double>(workload_.calls[op.work].bytes().count());
    const int to = placement_.of(receiver).host;
    const HostKind& kind = KindOf(workload_.topology, to);
    return placement_.of(sender).host == to
               ? Over(bytes, kind.scale_up.bandwidth.bytes_per_second())
               : Over(bytes, NicBytesPerSecond(kind));
  }

  Time LongestFrom(int first) {
    const std::vector<int> ranks = RanksFrom(first);
    std::vector<Node> nodes;
    std::map<Message, std::vector<uint32_t>> sends, receives;
    for (const int rank : ranks) AddRank(rank, &nodes, &sends, &receives);
    for (const auto& [message, from] : sends) {
      const std::vector<uint32_t>& to = receives[message];
      for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
        nodes[from[i]].receiver = static_cast<int>(to[i]);
        ++nodes[to[i]].waits_for;
      }
    }
    return Relax(&nodes);
  }

  void AddRank(int rank, std::vector<Node>* nodes, std::map<Message, std::vector<uint32_t>>* sends,
               std::map<Message, std::vector<uint32_t>>* receives) {
    const Program& program = ProgramOf(rank);
    const auto base = static_cast<uint32_t>(nodes->size());
    nodes->resize(base + program.ops.size());
    std::vector<int64_t> last_of_stream(workload_.streams.size(), -1);
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      const auto here = base + static_cast<uint32_t>(i);
      Node& node = (*nodes)[here];
      node.least = LeastOf(rank, op);
      for (const uint32_t dependency : program.dependencies(i)) {
        (*nodes)[base + dependency].next.push_back(here);
        ++node.waits_for;
      }
      int64_t& last = last_of_stream[op.stream];
      if (last >= 0) {
        (*nodes)[static_cast<size_t>(last)].next.push_back(here);
        ++node.waits_for;
      }
      last = here;
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      const auto [sender, receiver] = EndsOf(rank, op);
      const Message message(sender, receiver, GroupOf(rank, op), op.tag);
      if (op.kind == OpKind::kSend) {
        node.wire = WireTime(op, sender, receiver);
        (*sends)[message].push_back(here);
      } else {
        (*receives)[message].push_back(here);
      }
    }
  }

  static Time Relax(std::vector<Node>* nodes) {
    std::vector<uint32_t> ready;
    for (size_t i = 0; i < nodes->size(); ++i) {
      if ((*nodes)[i].waits_for == 0) ready.push_back(static_cast<uint32_t>(i));
    }
    Time longest;
    while (!ready.empty()) {
      const uint32_t at = ready.back();
      ready.pop_back();
      const Node& node = (*nodes)[at];
      const Time end = std::max(node.start + node.least, node.earliest_end);
      longest = std::max(longest, end);
      for (const uint32_t next : node.next) {
        Node& later = (*nodes)[next];
        later.start = std::max(later.start, end);
        if (--later.waits_for == 0) ready.push_back(next);
      }
      if (node.receiver >= 0) {
        Node& receive = (*nodes)[static_cast<size_t>(node.receiver)];
        receive.earliest_end = std::max(receive.earliest_end, node.start + node.wire);
        if (--receive.waits_for == 0) ready.push_back(static_cast<uint32_t>(node.receiver));
      }
    }
    return longest;
  }

  const Workload& workload_;
  const KernelTimes& times_;
  const Placement placement_;
  std::vector<bool> covered_;  // by class
  std::map<std::pair<size_t, uint32_t>, Time> compute_;
  std::map<std::pair<uint32_t, int>, Time> collectives_;
};

}  // namespace

Time LeastTime(const CommCall& call, const std::vector<int>& ranks, const Topology& topology,
               const Placement& placement) {
  const auto n = static_cast<int>(ranks.size());
  if (n < 2 || ExchangesTokens(call.buffers)) return Time();
  const auto bytes = static_cast<double>(call.bytes().count());
  std::map<int, int> members_of_host;
  for (const int rank : ranks) ++members_of_host[placement.of(rank).host];
  Time least;
  for (const auto& [host, members] : members_of_host) {
    const HostKind& kind = KindOf(topology, host);
    if (members < n) {
      least = std::max(
          least, Over(bytes * ShareTakenIn(call.collective, n, members), NicBytesPerSecond(kind)));
    } else {
      least = std::max(least, Over(bytes * ShareTakenIn(call.collective, n, 1),
                                   kind.scale_up.bandwidth.bytes_per_second()));
    }
  }
  return least;
}

Time LowerBound(const Workload& workload, const KernelTimes& times) {
  return Paths(workload, times).Longest();
}

}  // namespace drydock
