#include "exec-engine/folding/alike_hosts.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/base/check.h"
#include "core/containers/hash.h"
#include "core/model/fabric/fabric_paths.h"

namespace drydock {
namespace {

// Calls up to this size are short: what they carry is nothing beside what it costs to start them.
constexpr Bytes kShortCall{64 << 10};

uint64_t NumberOf(const FabricPath& path) {
  return HashOf(path.latency.ps(), path.bottleneck.bits_per_second(), path.last.bits_per_second(),
                path.switches);
}

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
        places_(workload_.roles.size(), std::vector<int>(workload_.class_of_rank.size(), -1)) {}

  AlikeHosts Find() {
    for (int host = 0; host < workload_.topology.host_count(); ++host) AddHost(host);
    for (const Workload::Use& use : workload_.uses) AddUse(use);
    Number(own_);
    for (int before = 0; before != out_.kinds;) {
      before = out_.kinds;
      Number(Signatures());
    }
    return std::move(out_);
  }

 private:
  // A connection between two hosts: how each of them calls its end, and the ways there and back.
  struct Wire {
    int host[2];
    uint64_t end[2];
    uint64_t way[2];
  };
  struct UnevenCall {
    std::vector<std::pair<int, uint64_t>> members;  // host, and what it calls its part
  };

  // What the host is by itself, and which of its ranks' roles name the same communicator.
  void AddHost(int host) {
    uint64_t number = HashOf(workload_.topology.hosts[static_cast<size_t>(host)]);
    std::vector<int> groups;
    const int first = index_.first_rank(host);
    const int end =
        std::min(first + workload_.topology.kind_of_host(host).gpus, workload_.rank_count());
    for (int rank = first; rank < end; ++rank) {
      number = HashOf(number, workload_.class_of_rank[static_cast<size_t>(rank)]);
      for (size_t role = 0; role < workload_.roles.size(); ++role) {
        const int group = index_.group_of(rank, static_cast<uint8_t>(role));
        const auto known = std::find(groups.begin(), groups.end(), group);
        const auto place = static_cast<int>(known - groups.begin());
        if (known == groups.end()) groups.push_back(group);
        places_[role][static_cast<size_t>(rank)] = group < 0 ? -1 : place;
        number = HashOf(number, group < 0 ? -1 : place);
      }
    }
    for (const SlowGpu& slow : variation_.slow_gpus) {
      if (slow.host != host) continue;
      number = HashOf(number, slow.at.ps(), slow.gpu, static_cast<uint64_t>(slow.slowdown * 1e9));
    }
    own_[static_cast<size_t>(host)] = number;
  }

  // How a rank's host calls its part in a call: the same on hosts that are alike.
  uint64_t PartOf(int rank, const Workload::Use& use) const {
    const int role = RoleIn(workload_, rank, use.group);
    CHECK(role >= 0);
    const int place = places_[static_cast<size_t>(role)][static_cast<size_t>(rank)];
    return HashOf(place, index_.placement().of(rank).gpu, use.call);
  }

  void AddUse(const Workload::Use& use) {
    const Plan& plan = *index_.PlanFor(use.call, use.group);
    const PlanEnds& ends = ends_.Of(plan);
    const std::vector<int>& ranks = workload_.groups[use.group].ranks;
    std::vector<uint64_t> does, part;
    std::map<std::pair<int, int>, uint64_t> of_kind;  // by class and GPU
    const bool wide = std::any_of(ranks.begin(), ranks.end(),
                                  [&](int rank) { return HostOf(rank) != HostOf(ranks[0]); });
    const bool spread =
        relaxed_ && wide && std::count(ends.by_position.begin(), ends.by_position.end(), true) > 0;
    bool even = true;
    for (size_t m = 0; m < ranks.size(); ++m) {
      does.push_back(WhatItDoes(plan, ends, m, ranks, spread));
      part.push_back(PartOf(ranks[m], use));
      const int gpu = index_.placement().of(ranks[m]).gpu;
      const int of = workload_.class_of_rank[static_cast<size_t>(ranks[m])];
      even &= of_kind.try_emplace({of, gpu}, does[m]).first->second == does[m];
    }
    const bool is_short = workload_.calls[use.call].bytes() <= kShortCall;
    const bool uneven = relaxed_ && wide && !even && is_short;
    out_.uneven.push_back(uneven);
    out_.spread.push_back(spread && !uneven);
    UnevenCall call;
    for (size_t m = 0; m < ranks.size(); ++m) {
      uint64_t& own = own_[static_cast<size_t>(HostOf(ranks[m]))];
      own += HashOf(part[m], uneven ? ends.works : does[m]);
      if (uneven) call.members.emplace_back(HostOf(ranks[m]), part[m]);
    }
    if (uneven) {
      uneven_.push_back(std::move(call));
    } else {
      AddWires(plan, ends, ranks, part);
    }
  }

  int HostOf(int rank) const { return index_.placement().of(rank).host; }

  // What a member does in a call, but for the hosts that it does it with.
  uint64_t WhatItDoes(const Plan& plan, const PlanEnds& ends, size_t m,
                      const std::vector<int>& ranks, bool spread) const {
    uint64_t number = HashOf(ends.works, plan.members[m].size());
    for (const ChannelProgram& program : plan.members[m]) {
      const bool by_position = !spread && ends.by_position[program.pattern];
      number = HashOf(number, program.channel, program.work,
                      (spread ? ends.spread : ends.patterns)[program.pattern],
                      by_position ? program.position : 0);
      for (uint32_t i = 0; i < plan.patterns[program.pattern].operands; ++i) {
        const uint32_t c = plan.operands[program.operand_begin + i];
        number = HashOf(number, NumberOf(plan.connections[c], ends, c, m, ranks));
      }
    }
    return number;
  }

  uint64_t NumberOf(const Connection& c, const PlanEnds& ends, uint32_t connection, size_t m,
                    const std::vector<int>& ranks) const {
    const bool sends = c.from == m;
    const int peer = ranks[sends ? c.to : c.from];
    const bool here = HostOf(peer) == HostOf(ranks[m]);
    const auto gpu_of = [&](int member) {
      return member < 0 ? -1 : index_.placement().of(ranks[static_cast<size_t>(member)]).gpu;
    };
    const uint64_t other = here ? ends.at(connection, !sends) : 0;
    return HashOf(sends, ends.at(connection, sends), here,
                  here ? gpu_of(sends ? c.to : c.from) : -1, other, static_cast<uint64_t>(c.link),
                  c.send_nic, c.recv_nic, gpu_of(c.proxy), c.send_gdr, c.recv_gdr, c.reduction,
                  c.first, c.direct);
  }

  void AddWires(const Plan& plan, const PlanEnds& ends, const std::vector<int>& ranks,
                const std::vector<uint64_t>& part) {
    for (uint32_t i = 0; i < plan.connections.size(); ++i) {
      const Connection& c = plan.connections[i];
      if (c.link != LinkKind::kNet) continue;
      const int from = HostOf(ranks[c.from]), to = HostOf(ranks[c.to]);
      if (from == to) continue;
      Wire wire = {
          {from, to},
          {HashOf(part[c.from], ends.at_sender[i], 0), HashOf(part[c.to], ends.at_receiver[i], 1)},
          {0, 0}};
      if (!relaxed_) {
        const int out = paths_.NicNode(from, c.send_nic), in = paths_.NicNode(to, c.recv_nic);
        wire.way[0] = drydock::NumberOf(paths_.Between(out, in));
        wire.way[1] = drydock::NumberOf(paths_.Between(in, out));
      }
      wires_.push_back(wire);
    }
  }

  // Of each host: what it was, and what those it is joined to were.
  std::vector<uint64_t> Signatures() const {
    std::vector<uint64_t> out;
    for (const int kind : out_.kind) out.push_back(HashOf(kind));
    for (const Wire& wire : wires_) {
      for (const int side : {0, 1}) {
        const auto peer = static_cast<size_t>(wire.host[1 - side]);
        out[static_cast<size_t>(wire.host[side])] +=
            HashOf(wire.end[side], wire.end[1 - side], out_.kind[peer], wire.way[side],
                   wire.way[1 - side]);
      }
    }
    for (const UnevenCall& call : uneven_) {
      uint64_t all = 0;
      for (const auto& [host, part] : call.members) {
        all += HashOf(out_.kind[static_cast<size_t>(host)], part);
      }
      for (const auto& [host, part] : call.members) {
        out[static_cast<size_t>(host)] += HashOf(part, all);
      }
    }
    return out;
  }

  void Number(const std::vector<uint64_t>& signatures) {
    std::unordered_map<uint64_t, int> known;  // only looked up
    out_.kind.clear();
    for (const uint64_t signature : signatures) {
      out_.kind.push_back(
          known.try_emplace(signature, static_cast<int>(known.size())).first->second);
    }
    out_.kinds = static_cast<int>(known.size());
  }

  const ReplayIndex& index_;
  const Workload& workload_;
  const Variation& variation_;
  const bool relaxed_;
  PlanEndsTable& ends_;
  FabricPaths paths_;
  std::vector<uint64_t> own_;             // by host
  std::vector<std::vector<int>> places_;  // [role][rank]: of the group among its host's
  std::vector<Wire> wires_;
  std::vector<UnevenCall> uneven_;
  AlikeHosts out_;
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

AlikeHosts FindAlikeHosts(const ReplayIndex& index, const Variation& variation, bool relaxed,
                          PlanEndsTable* ends) {
  return Search(index, variation, relaxed, ends).Find();
}

}  // namespace drydock
