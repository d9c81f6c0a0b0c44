#include "exec-engine/folding/replica_folding.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/model/fabric/flow_name.h"
#include "exec-engine/network/message_tag.h"

namespace drydock {
namespace {

// From so many ranks on a run is folded as far as it can be.
constexpr int kManyRanks = 512;

bool ByChance(const Variation& variation) {
  return variation.jitter.compute > 0 || variation.jitter.call > Time();
}

}  // namespace

std::unique_ptr<ReplicaFolding> ReplicaFolding::Find(const ReplayIndex& index,
                                                     const Variation& variation, Fold fold,
                                                     bool exactly) {
  const int hosts = index.workload().topology.host_count();
  if (fold == Fold::kOff || ByChance(variation) || !index.aggregation().empty()) return nullptr;
  const bool many = index.workload().rank_count() >= kManyRanks;
  if (!exactly && fold == Fold::kAuto && !many) return nullptr;
  auto ends = std::make_unique<PlanEndsTable>();
  AlikeHosts alike = FindAlikeHosts(index, variation, /*relaxed=*/false, ends.get());
  if (fold == Fold::kRelaxed || (fold == Fold::kAuto && many)) {
    AlikeHosts fewer = FindAlikeHosts(index, variation, /*relaxed=*/true, ends.get());
    if (fewer.kinds < alike.kinds) {
      std::unique_ptr<ReplicaFolding> folding(
          new ReplicaFolding(index, std::move(fewer), /*relaxed=*/true, std::move(ends)));
      if (folding->PartsMeet()) return folding;
      ends = std::move(folding->ends_);
    }
  }
  if (alike.kinds == hosts) return nullptr;
  return std::unique_ptr<ReplicaFolding>(
      new ReplicaFolding(index, std::move(alike), /*relaxed=*/false, std::move(ends)));
}

ReplicaFolding::ReplicaFolding(const ReplayIndex& index, AlikeHosts alike, bool relaxed,
                               std::unique_ptr<PlanEndsTable> ends)
    : index_(index),
      alike_(std::move(alike)),
      relaxed_(relaxed),
      ends_(std::move(ends)),
      paths_(index.workload().topology),
      replicas_(alike_.kind.size()),
      of_kind_(static_cast<size_t>(alike_.kinds)) {
  for (size_t host = 0; host < alike_.kind.size(); ++host) {
    std::vector<HostId>& alike_hosts = of_kind_[static_cast<size_t>(alike_.kind[host])];
    alike_hosts.push_back(static_cast<HostId>(host));
    standing_for_.push_back(alike_hosts.front());
    ++replicas_[static_cast<size_t>(alike_hosts.front())];
  }
}

int ReplicaFolding::RankFor(int rank) const {
  const Placement::Slot& at = index_.placement().of(rank);
  return index_.first_rank(StandsFor(at.host)) + at.gpu;
}

size_t ReplicaFolding::IndexOf(const Workload::Use& use) const {
  const std::vector<Workload::Use>& uses = index_.workload().uses;
  const auto it = std::lower_bound(uses.begin(), uses.end(), use);
  CHECK(it != uses.end() && *it == use);
  return static_cast<size_t>(it - uses.begin());
}

bool ReplicaFolding::PlaysAllParts(const Workload::Use& use) const {
  return alike_.uneven[IndexOf(use)];
}

const Plan& ReplicaFolding::PlanOf(const Workload::Use& use) {
  const Plan* plan = index_.PlanFor(use.call, use.group);
  CHECK(plan != nullptr);
  if (!alike_.spread[IndexOf(use)]) return *plan;
  std::unique_ptr<const Plan>& known = spread_[plan];
  if (known == nullptr) {
    auto spread = std::make_unique<Plan>(*plan);
    for (Pattern& pattern : spread->patterns) pattern = Spread(pattern);
    known = std::move(spread);
  }
  return *known;
}

int64_t ReplicaFolding::spread_calls() const {
  return std::count(alike_.spread.begin(), alike_.spread.end(), true);
}

int64_t ReplicaFolding::uneven_calls() const {
  return std::count(alike_.uneven.begin(), alike_.uneven.end(), true);
}

// Those who stand for the members of an uneven call are in one group, in which they play it.
bool ReplicaFolding::PartsMeet() const {
  const Workload& workload = index_.workload();
  const auto host_of = [this](int rank) { return index_.placement().of(rank).host; };
  for (size_t i = 0; i < workload.uses.size(); ++i) {
    const uint32_t group = workload.uses[i].group;
    const std::vector<int>& ranks = workload.groups[group].ranks;
    const bool here =
        std::any_of(ranks.begin(), ranks.end(), [&](int rank) { return Replayed(host_of(rank)); });
    if (!alike_.uneven[i] || !here) continue;
    for (const int rank : ranks) {
      const auto role = static_cast<uint8_t>(RoleIn(workload, rank, group));
      if (index_.group_of(RankFor(rank), role) != static_cast<int>(group)) return false;
    }
  }
  return true;
}

int ReplicaFolding::RankAt(const End& end) const {
  const Connection& c = index_.PlanFor(end.use.call, end.use.group)->connections[end.connection];
  return index_.workload().groups[end.use.group].ranks[end.sends ? c.from : c.to];
}

// What the end of another rank is to `rank`, on the same GPU of a host that is alike.
ReplicaFolding::End ReplicaFolding::SameEndOf(const End& end, int rank) const {
  const Workload& workload = index_.workload();
  const PlanEnds& theirs = ends_->Of(*index_.PlanFor(end.use.call, end.use.group));
  const int role = RoleIn(workload, RankAt(end), end.use.group);
  End same = end;
  same.use.group = static_cast<uint32_t>(index_.group_of(rank, static_cast<uint8_t>(role)));
  const std::vector<int>& ranks = workload.groups[same.use.group].ranks;
  const auto member =
      static_cast<size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  const Plan& plan = *index_.PlanFor(same.use.call, same.use.group);
  const PlanEnds& ends = ends_->Of(plan);
  same.connection = ends.of_member[member][theirs.at(end.connection, end.sends)];
  const Connection& c = plan.connections[same.connection];
  CHECK_NOTE((end.sends ? c.from : c.to) == member && c.link == LinkKind::kNet,
             "hosts that are not alike were taken to be");
  return same;
}

FabricPath ReplicaFolding::PathFrom(const End& end) {
  const Connection& c = index_.PlanFor(end.use.call, end.use.group)->connections[end.connection];
  const std::vector<int>& ranks = index_.workload().groups[end.use.group].ranks;
  const int out = paths_.NicNode(index_.placement().of(ranks[c.from]).host, c.send_nic);
  const int in = paths_.NicNode(index_.placement().of(ranks[c.to]).host, c.recv_nic);
  return end.sends ? paths_.Between(out, in) : paths_.Between(in, out);
}

// Of all the connections that this one stands for; their own if they do not differ. A ring's chunk
// goes once along almost all of them, so what counts is their sum.
FabricPath ReplicaFolding::MeanPath(const End& end) {
  const Placement::Slot& at = index_.placement().of(RankAt(end));
  const FabricPath own = PathFrom(end);
  FabricPath mean = own;
  int64_t latency = 0, switches = 0;
  bool differ = false;
  const auto& hosts = of_kind_[static_cast<size_t>(alike_.kind[static_cast<size_t>(at.host)])];
  for (const HostId host : hosts) {
    const FabricPath path = PathFrom(SameEndOf(end, index_.first_rank(host) + at.gpu));
    if (path.switches < 0) return path;
    latency += path.latency.ps();
    switches += path.switches;
    mean.bottleneck = std::min(mean.bottleneck, path.bottleneck);
    mean.last = std::min(mean.last, path.last);
    differ |= path.latency != own.latency || path.switches != own.switches;
  }
  const auto count = static_cast<int64_t>(hosts.size());
  differ |= mean.bottleneck != own.bottleneck || mean.last != own.last;
  if (!differ) return {};
  ++mean_ways_;
  mean.latency = Time::Ps(latency / count);
  mean.switches = static_cast<int>((switches + count / 2) / count);
  return mean;
}

uint32_t ReplicaFolding::WireOf(const Workload::Use& use, uint32_t connection, bool sends) {
  const End here{use, connection, sends};
  End there{use, connection, !sends};
  Wire wire;
  if (relaxed_) wire.path = MeanPath(here);
  const int peer = RankAt(there);
  const bool replayed = Replayed(index_.placement().of(peer).host);
  wire.alike = Replicas(StandsFor(index_.placement().of(RankAt(here)).host));
  if (replayed && wire.path.switches < 0 && wire.alike == 1) return 0;
  if (!replayed) there = SameEndOf(there, RankFor(peer));
  wire.group = there.use.group;
  wire.connection = there.connection;
  there.sends = sends;
  wire.seen_from = index_.placement().of(RankAt(there)).host;
  wire.end = here;
  return Add(wire);
}

uint32_t ReplicaFolding::WireOfPart(const Workload::Use& use, uint32_t connection, bool sends) {
  const End here{use, connection, sends}, there{use, connection, !sends};
  const int host = index_.placement().of(RankAt(here)).host;
  if (index_.placement().of(RankAt(there)).host == host) return 0;
  return Add({use.group, connection, StandsFor(host), PathFrom(here), 1, /*part=*/true, here});
}

namespace {

uint16_t ChannelOf(const Plan& plan, uint32_t connection) {
  for (const ChannelProgram& program : plan.members[plan.connections[connection].from]) {
    const auto first = plan.operands.begin() + program.operand_begin;
    const auto end = first + plan.patterns[program.pattern].operands;
    if (std::find(first, end, connection) != end) return program.channel;
  }
  CHECK_NOTE(false, "nobody sends on a connection");
  return 0;
}

}  // namespace

std::vector<FlowEnds> ReplicaFolding::AlikeFlows(uint32_t wire) const {
  const Wire& known = wires_[wire];
  if (wire == 0 || known.part || !known.end.sends) return {};
  const Placement::Slot& at = index_.placement().of(RankAt(known.end));
  std::vector<FlowEnds> flows;
  for (const HostId host :
       of_kind_[static_cast<size_t>(alike_.kind[static_cast<size_t>(at.host)])]) {
    const End end = SameEndOf(known.end, index_.first_rank(host) + at.gpu);
    const Plan& plan = *index_.PlanFor(end.use.call, end.use.group);
    const Connection& c = plan.connections[end.connection];
    const std::vector<int>& ranks = index_.workload().groups[end.use.group].ranks;
    flows.push_back(
        {host, index_.placement().of(ranks[c.to]).host, c.send_nic, c.recv_nic,
         FlowOfConnection(end.use.group, c.from, c.to, ChannelOf(plan, end.connection))});
  }
  return flows;
}

uint32_t ReplicaFolding::Add(const Wire& wire) {
  wires_.push_back(wire);
  return static_cast<uint32_t>(wires_.size()) - 1;
}

Message ReplicaFolding::AtReceiver(const Message& message) const {
  Message out = message;
  if (message.wire == 0) return out;
  const Wire& wire = wires_[message.wire];
  out.source = wire.seen_from;
  out.destination = StandsFor(message.destination);
  MessageTag tag = MessageTag::Of(message);
  tag.call = MakeCallKey(wire.group, static_cast<uint32_t>(tag.call));
  tag.connection = wire.connection;
  tag.Write(&out);
  return out;
}

}  // namespace drydock
