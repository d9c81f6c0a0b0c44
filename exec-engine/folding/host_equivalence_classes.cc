#include "exec-engine/folding/host_equivalence_classes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "core/containers/hash.h"
#include "core/containers/index_table.h"
#include "core/containers/partition_refinement.h"
#include "core/model/fabric/fabric_paths.h"

namespace drydock {
namespace {

// Calls up to this size are short: their latency exceeds the time for their bytes by far, so that
// relaxed folding may treat their members as equal. This is a bound of the method, measured by
// tests/integration/folding_test.py, and not a property of a cluster.
constexpr Bytes kShortCall{64 << 10};

// One side of a connection between two hosts: what distinguishes it from other connections, as the
// host on that side sees it. Search assigns the numbers.
struct Side {
  int part = 0, peer_part = 0;      // of the members, in their calls
  uint32_t end = 0, peer_end = 0;   // of the members' ends (plan_ends.h)
  int path_out = -1, path_in = -1;  // -1: paths make no difference
  bool sends = false;
  friend bool operator==(const Side&, const Side&) = default;
};
struct SideHash {
  size_t operator()(const Side& side) const {
    return HashOf(side.part, side.peer_part, InOneNumber(side.path_out, side.end),
                  InOneNumber(side.path_in, side.peer_end), side.sends);
  }
};

// A graph of hosts and uneven calls, with labeled edges. Its coarsest stable partition has the
// equivalence classes.
//
// Edges: a connection joins two hosts, and an uneven call joins itself to the hosts of its members.
class Search {
 public:
  Search(const ReplayIndex& index, const Variation& variation, bool relaxed, PlanEndsTable* ends)
      : index_(index),
        workload_(index.workload()),
        variation_(variation),
        relaxed_(relaxed),
        ends_(*ends),
        paths_(workload_.topology),
        own_(static_cast<size_t>(workload_.topology.host_count())),
        calls_(own_.size()),
        edges_(own_.size()),
        places_(workload_.roles.size(), std::vector<int>(workload_.class_of_rank.size(), -1)) {}

  HostEquivalenceClasses Find() {
    const size_t hosts = own_.size();
    for (size_t host = 0; host < hosts; ++host) AddHost(static_cast<int>(host));
    for (const Workload::Use& use : workload_.uses) AddUse(use);
    for (std::vector<Edge>& edges : edges_) std::sort(edges.begin(), edges.end());
    PartitionRefinement partition(std::vector<int>(edges_.size(), 0));
    partition.Split([this](size_t node, Signature* out) { AppendOwn(node, out); });
    while (partition.Split([&](size_t node, Signature* out) {
      AppendNeighbors(edges_[node], partition.class_of(), out);
    })) {
    }
    // Hosts come before calls, so that their classes are numbered first.
    out_.class_of_host.assign(partition.class_of().begin(),
                              partition.class_of().begin() + static_cast<ptrdiff_t>(hosts));
    for (const int of_host : out_.class_of_host) out_.count = std::max(out_.count, of_host + 1);
    return std::move(out_);
  }

 private:
  struct Edge {
    int label = 0;
    uint32_t to = 0;  // node: a host, or the number of hosts and that of an uneven call
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  // Adds what distinguishes the host apart from its calls, and which roles of its ranks share a
  // group.
  void AddHost(int host) {
    Signature& own = own_[static_cast<size_t>(host)];
    std::vector<int> groups;
    const int first = index_.first_rank(host);
    const int end =
        std::min(first + workload_.topology.kind_of_host(host).gpus, workload_.rank_count());
    own = {workload_.topology.hosts[static_cast<size_t>(host)], end - first};
    for (int rank = first; rank < end; ++rank) {
      own.push_back(workload_.class_of_rank[static_cast<size_t>(rank)]);
      for (size_t role = 0; role < workload_.roles.size(); ++role) {
        const int group = index_.group_of(rank, static_cast<uint8_t>(role));
        const auto known = std::find(groups.begin(), groups.end(), group);
        const auto place = static_cast<int>(known - groups.begin());
        if (known == groups.end()) groups.push_back(group);
        places_[role][static_cast<size_t>(rank)] = group < 0 ? -1 : place;
        own.push_back(group < 0 ? -1 : place);
      }
    }
    for (const SlowGpu& slow : variation_.slow_gpus) {
      if (slow.host != host) continue;
      own.insert(own.end(), {slow.at.ps(), slow.gpu, std::bit_cast<int64_t>(slow.slowdown)});
    }
    own.push_back(-1);
  }

  // Returns the number of a rank's part in a call. Equivalent hosts have equal parts.
  int PartOf(int rank, const Workload::Use& use) {
    const int role = RoleIn(workload_, rank, use.group);
    CHECK(role >= 0);
    const int place = places_[static_cast<size_t>(role)][static_cast<size_t>(rank)];
    return parts_.Of({place, index_.placement().of(rank).gpu, use.call});
  }

  void AddUse(const Workload::Use& use) {
    const Plan& plan = *index_.PlanFor(use.call, use.group);
    const PlanEnds& ends = ends_.Of(plan);
    const std::vector<int>& ranks = workload_.groups[use.group].ranks;
    std::vector<int> does, part;
    std::map<std::pair<int, int>, int> by_class;  // by rank class and GPU: what members do
    const bool wide = std::any_of(ranks.begin(), ranks.end(),
                                  [&](int rank) { return HostOf(rank) != HostOf(ranks[0]); });
    const bool spread =
        relaxed_ && wide && std::count(ends.by_position.begin(), ends.by_position.end(), true) > 0;
    bool even = true;
    for (size_t m = 0; m < ranks.size(); ++m) {
      does.push_back(WorkOf(plan, ends, m, ranks, spread));
      part.push_back(PartOf(ranks[m], use));
      const int gpu = index_.placement().of(ranks[m]).gpu;
      const int of = workload_.class_of_rank[static_cast<size_t>(ranks[m])];
      even &= by_class.try_emplace({of, gpu}, does[m]).first->second == does[m];
    }
    const bool is_short = workload_.calls[use.call].bytes() <= kShortCall;
    const bool uneven = relaxed_ && wide && !even && is_short;
    out_.uneven.push_back(uneven);
    out_.spread.push_back(spread && !uneven);
    // An uneven call ignores what each member does: no member has the number -1 - works.
    for (size_t m = 0; m < ranks.size(); ++m) {
      const int known = uneven ? -1 - ends.works : does[m];
      calls_[static_cast<size_t>(HostOf(ranks[m]))].push_back(
          InOneNumber(known, static_cast<uint32_t>(part[m])));
    }
    if (uneven) {
      AddUnevenCall(ranks, part);
    } else {
      AddConnections(plan, ends, ranks, part);
    }
  }

  int HostOf(int rank) const { return index_.placement().of(rank).host; }

  // Returns the number of a member's work in a call. The hosts of its peers do not affect the
  // number.
  int WorkOf(const Plan& plan, const PlanEnds& ends, size_t m, const std::vector<int>& ranks,
             bool spread) {
    scratch_ = {ends.works};
    for (const ChannelProgram& program : plan.members[m]) {
      const bool by_position = !spread && ends.by_position[program.pattern];
      const int pattern = (spread ? ends.spread : ends.patterns)[program.pattern];
      scratch_.push_back(InOneNumber(program.channel, program.work));
      scratch_.push_back(
          InOneNumber(pattern, by_position ? static_cast<uint32_t>(program.position) : 0));
      for (uint32_t i = 0; i < plan.patterns[program.pattern].operands; ++i) {
        const uint32_t c = plan.operands[program.operand_begin + i];
        AppendConnection(plan.connections[c], ends, c, m, ranks);
      }
    }
    return work_.Of(scratch_);
  }

  // Appends five numbers to scratch_.
  void AppendConnection(const Connection& c, const PlanEnds& ends, uint32_t connection, size_t m,
                        const std::vector<int>& ranks) {
    const bool sends = c.from == m;
    const size_t peer = sends ? c.to : c.from;
    const bool here = HostOf(ranks[peer]) == HostOf(ranks[m]);
    const auto gpu_of = [&](int member) {
      return member < 0 ? -1 : index_.placement().of(ranks[static_cast<size_t>(member)]).gpu;
    };
    const uint64_t flags = uint64_t{sends} | uint64_t{here} << 1 | uint64_t{c.send_gdr} << 2 |
                           uint64_t{c.recv_gdr} << 3 | uint64_t{c.direct} << 4 |
                           static_cast<uint64_t>(c.link) << 8 |
                           uint64_t{static_cast<uint16_t>(c.send_nic)} << 16 |
                           uint64_t{static_cast<uint16_t>(c.recv_nic)} << 32;
    scratch_.push_back(static_cast<int64_t>(flags));
    scratch_.push_back(ends.at(connection, sends));
    scratch_.push_back(here ? ends.at(connection, !sends) : 0);
    scratch_.push_back(InOneNumber(here ? gpu_of(static_cast<int>(peer)) : -1,
                                   static_cast<uint32_t>(gpu_of(c.proxy))));
    scratch_.push_back(InOneNumber(c.reduction, c.first));
  }

  void AddConnections(const Plan& plan, const PlanEnds& ends, const std::vector<int>& ranks,
                      const std::vector<int>& part) {
    for (uint32_t i = 0; i < plan.connections.size(); ++i) {
      const Connection& c = plan.connections[i];
      if (c.link != LinkKind::kNet) continue;
      const int from = HostOf(ranks[c.from]), to = HostOf(ranks[c.to]);
      if (from == to) continue;
      Side sender = {part[c.from], part[c.to], ends.at_sender[i], ends.at_receiver[i]};
      sender.sends = true;
      if (!relaxed_) {
        const int out = paths_.NicNode(from, c.send_nic), in = paths_.NicNode(to, c.recv_nic);
        sender.path_out = NumberOf(paths_.Between(out, in));
        sender.path_in = NumberOf(paths_.Between(in, out));
      }
      const Side receiver = {sender.peer_part, sender.part,    sender.peer_end,
                             sender.end,       sender.path_in, sender.path_out};
      AddEdge(static_cast<size_t>(from), LabelOf(sender), static_cast<size_t>(to));
      AddEdge(static_cast<size_t>(to), LabelOf(receiver), static_cast<size_t>(from));
    }
  }

  void AddUnevenCall(const std::vector<int>& ranks, const std::vector<int>& part) {
    const size_t call = edges_.size();
    edges_.emplace_back();
    for (size_t m = 0; m < ranks.size(); ++m) {
      const auto host = static_cast<size_t>(HostOf(ranks[m]));
      const int label = -1 - part[m];  // no label of a connection
      AddEdge(host, label, call);
      AddEdge(call, label, host);
    }
  }

  void AddEdge(size_t from, int label, size_t to) {
    edges_[from].push_back({label, static_cast<uint32_t>(to)});
  }

  int LabelOf(const Side& side) {
    const auto next = static_cast<uint32_t>(labels_.size());
    return static_cast<int>(labels_.FindOrAdd(side, next));
  }

  int NumberOf(const FabricPath& path) {
    return path_numbers_.Of({path.latency.ps(), path.bottleneck.bits_per_second(),
                             path.last.bits_per_second(), path.switches});
  }

  // Appends what distinguishes the node apart from its neighbors, and the labels of its edges.
  void AppendOwn(size_t node, Signature* out) {
    if (node < own_.size()) {
      std::vector<int64_t>& calls = calls_[node];
      std::sort(calls.begin(), calls.end());
      out->insert(out->end(), own_[node].begin(), own_[node].end());
      out->push_back(static_cast<int64_t>(calls.size()));
      out->insert(out->end(), calls.begin(), calls.end());
    } else {
      out->push_back(-1);  // hosts begin with their kind, which is not negative
    }
    for (const Edge& edge : edges_[node]) out->push_back(edge.label);
  }

  // Appends the classes of the neighbors in the order of the labels. The signature need not repeat
  // the labels: AppendOwn has made them equal within a class.
  static void AppendNeighbors(const std::vector<Edge>& edges, const std::vector<int>& class_of,
                              Signature* out) {
    for (size_t i = 0; i < edges.size();) {
      const auto begin = static_cast<ptrdiff_t>(out->size());
      const int label = edges[i].label;
      for (; i < edges.size() && edges[i].label == label; ++i) {
        out->push_back(class_of[edges[i].to]);
      }
      std::sort(out->begin() + begin, out->end());
    }
  }

  const ReplayIndex& index_;
  const Workload& workload_;
  const Variation& variation_;
  const bool relaxed_;
  PlanEndsTable& ends_;
  FabricPaths paths_;
  std::vector<Signature> own_;               // by host
  std::vector<std::vector<int64_t>> calls_;  // by host: each member's part and what it does
  std::vector<std::vector<Edge>> edges_;     // by node
  std::vector<std::vector<int>> places_;     // [role][rank]: of the group among those of its host
  SignatureNumbers<> parts_, work_, path_numbers_;
  IndexTable<Side, SideHash> labels_;
  Signature scratch_;
  HostEquivalenceClasses out_;
};

}  // namespace

int RoleIn(const Workload& workload, int rank, uint32_t group) {
  for (size_t role = 0; role < workload.roles.size(); ++role) {
    if (workload.group_of_rank[role][static_cast<size_t>(rank)] == static_cast<int>(group)) {
      return static_cast<int>(role);
    }
  }
  return -1;
}

HostEquivalenceClasses FindHostEquivalenceClasses(const ReplayIndex& index,
                                                  const Variation& variation, bool relaxed,
                                                  PlanEndsTable* ends) {
  return Search(index, variation, relaxed, ends).Find();
}

}  // namespace drydock
