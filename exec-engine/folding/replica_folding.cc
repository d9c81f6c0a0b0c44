#include "exec-engine/folding/replica_folding.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/model/fabric/flow_name.h"

namespace drydock {
namespace {

// With kAuto, runs of at least this many ranks are folded relaxed, and so are runs of which an
// exact folding replays at least kManyReplayed. These are choices between speed and exactness, not
// properties of a cluster.
constexpr int kManyRanks = 512, kManyReplayed = 128;

// Returns the number of ranks that are replayed, if all hosts have as many.
int64_t RanksReplayed(const HostEquivalenceClasses& classes, const Workload& workload) {
  return int64_t{workload.rank_count()} * classes.count / workload.topology.host_count();
}

bool IsRandom(const Variation& variation) {
  return variation.jitter.compute > 0 || variation.jitter.call > Time();
}

}  // namespace

std::unique_ptr<ReplicaFolding> ReplicaFolding::Find(const ReplayIndex& index,
                                                     const Variation& variation, Fold fold,
                                                     bool exactly) {
  const int hosts = index.workload().topology.host_count();
  if (fold == Fold::kOff || IsRandom(variation) || !index.aggregation().empty()) return nullptr;
  bool many = index.workload().rank_count() >= kManyRanks;
  if (!exactly && fold == Fold::kAuto && !many) return nullptr;
  auto ends = std::make_unique<PlanEndsTable>();
  HostEquivalenceClasses exact =
      FindHostEquivalenceClasses(index, variation, /*relaxed=*/false, ends.get());
  many |= RanksReplayed(exact, index.workload()) >= kManyReplayed;
  if (fold == Fold::kRelaxed || (fold == Fold::kAuto && many)) {
    HostEquivalenceClasses relaxed =
        FindHostEquivalenceClasses(index, variation, /*relaxed=*/true, ends.get());
    if (relaxed.count < exact.count) {
      std::unique_ptr<ReplicaFolding> folding(
          new ReplicaFolding(index, std::move(relaxed), /*relaxed=*/true, std::move(ends)));
      if (folding->UnevenCallsMeet()) return folding;
      ends = std::move(folding->ends_);
    }
  }
  if (exact.count == hosts) return nullptr;
  return std::unique_ptr<ReplicaFolding>(
      new ReplicaFolding(index, std::move(exact), /*relaxed=*/false, std::move(ends)));
}

ReplicaFolding::ReplicaFolding(const ReplayIndex& index, HostEquivalenceClasses classes,
                               bool relaxed, std::unique_ptr<PlanEndsTable> ends)
    : ReplicaMap(classes.class_of_host, classes.count),
      index_(index),
      classes_(std::move(classes)),
      relaxed_(relaxed),
      ends_(std::move(ends)),
      paths_(index.workload().topology),
      hosts_of_class_(static_cast<size_t>(classes_.count)) {
  for (size_t host = 0; host < classes_.class_of_host.size(); ++host) {
    hosts_of_class_[static_cast<size_t>(classes_.class_of_host[host])].push_back(
        static_cast<HostId>(host));
  }
}

int ReplicaFolding::RepresentativeRank(int rank) const {
  const Placement::Slot& at = index_.placement().of(rank);
  return index_.first_rank(RepresentativeOf(at.host)) + at.gpu;
}

const std::vector<HostId>& ReplicaFolding::ReplicasOf(HostId host) const {
  const int own = classes_.class_of_host[static_cast<size_t>(host)];
  return hosts_of_class_[static_cast<size_t>(own)];
}

size_t ReplicaFolding::IndexOf(const Workload::Use& use) const {
  const std::vector<Workload::Use>& uses = index_.workload().uses;
  const auto it = std::lower_bound(uses.begin(), uses.end(), use);
  CHECK(it != uses.end() && *it == use);
  return static_cast<size_t>(it - uses.begin());
}

bool ReplicaFolding::ServesEveryMember(const Workload::Use& use) const {
  return classes_.uneven[IndexOf(use)];
}

const Plan& ReplicaFolding::PlanOf(const Workload::Use& use) {
  const Plan* plan = index_.PlanFor(use.call, use.group);
  CHECK(plan != nullptr);
  if (!classes_.spread[IndexOf(use)]) return *plan;
  std::unique_ptr<const Plan>& known = spread_[plan];
  if (known == nullptr) {
    auto spread = std::make_unique<Plan>(*plan);
    for (Pattern& pattern : spread->patterns) pattern = Spread(pattern);
    known = std::move(spread);
  }
  return *known;
}

int64_t ReplicaFolding::spread_calls() const {
  return std::count(classes_.spread.begin(), classes_.spread.end(), true);
}

int64_t ReplicaFolding::uneven_calls() const {
  return std::count(classes_.uneven.begin(), classes_.uneven.end(), true);
}

// Returns whether the representatives of the members of each uneven call are members of one group,
// in which they can make the call.
bool ReplicaFolding::UnevenCallsMeet() const {
  const Workload& workload = index_.workload();
  const auto host_of = [this](int rank) { return index_.placement().of(rank).host; };
  for (size_t i = 0; i < workload.uses.size(); ++i) {
    const uint32_t group = workload.uses[i].group;
    const std::vector<int>& ranks = workload.groups[group].ranks;
    const bool replayed = std::any_of(ranks.begin(), ranks.end(),
                                      [&](int rank) { return IsRepresentative(host_of(rank)); });
    if (!classes_.uneven[i] || !replayed) continue;
    for (const int rank : ranks) {
      const auto role = static_cast<uint8_t>(RoleIn(workload, rank, group));
      if (index_.group_of(RepresentativeRank(rank), role) != static_cast<int>(group)) return false;
    }
  }
  return true;
}

int ReplicaFolding::RankAt(const End& end) const {
  const Connection& c = index_.PlanFor(end.use.call, end.use.group)->connections[end.connection];
  return index_.workload().groups[end.use.group].ranks[end.sends ? c.from : c.to];
}

// Returns the end of `rank` that corresponds to an end of another rank. REQUIRES: both ranks are on
// the same GPU of equivalent hosts.
ReplicaFolding::End ReplicaFolding::CorrespondingEnd(const End& end, int rank) const {
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
             "hosts in one equivalence class have different connections");
  return same;
}

FabricPath ReplicaFolding::PathFrom(const End& end) {
  const Connection& c = index_.PlanFor(end.use.call, end.use.group)->connections[end.connection];
  const std::vector<int>& ranks = index_.workload().groups[end.use.group].ranks;
  const int out = paths_.NicNode(index_.placement().of(ranks[c.from]).host, c.send_nic);
  const int in = paths_.NicNode(index_.placement().of(ranks[c.to]).host, c.recv_nic);
  return end.sends ? paths_.Between(out, in) : paths_.Between(in, out);
}

// Returns the mean path of the connections that this connection represents, or no path (`switches`
// below 0) if their paths are equal. The mean suffices because a chunk of a ring travels over
// almost all of these paths, so only their sum matters.
FabricPath ReplicaFolding::MeanPath(const End& end) {
  const Placement::Slot& at = index_.placement().of(RankAt(end));
  const FabricPath own = PathFrom(end);
  FabricPath mean = own;
  int64_t latency = 0, switches = 0;
  bool differ = false;
  const std::vector<HostId>& hosts = ReplicasOf(at.host);
  for (const HostId host : hosts) {
    const FabricPath path = PathFrom(CorrespondingEnd(end, index_.first_rank(host) + at.gpu));
    if (path.switches < 0) return path;
    latency += path.latency.ps();
    switches += path.switches;
    mean.bottleneck = std::min(mean.bottleneck, path.bottleneck);
    mean.first = std::min(mean.first, path.first);
    mean.last = std::min(mean.last, path.last);
    differ |= path.latency != own.latency || path.switches != own.switches;
  }
  const auto count = static_cast<int64_t>(hosts.size());
  differ |= mean.bottleneck != own.bottleneck || mean.first != own.first || mean.last != own.last;
  if (!differ) return {};
  ++mean_paths_;
  mean.latency = Time::Ps(latency / count);
  mean.switches = static_cast<int>((switches + count / 2) / count);
  return mean;
}

uint32_t ReplicaFolding::FoldConnection(const Workload::Use& use, uint32_t connection, bool sends) {
  const End here{use, connection, sends};
  End there{use, connection, !sends};
  FoldedConnection folded;
  if (relaxed_) folded.path = MeanPath(here);
  const int peer = RankAt(there);
  const bool replayed = IsRepresentative(index_.placement().of(peer).host);
  folded.replicas = ReplicaCount(RepresentativeOf(index_.placement().of(RankAt(here)).host));
  if (replayed && folded.path.switches < 0 && folded.replicas == 1) return kNotFolded;
  if (!replayed) there = CorrespondingEnd(there, RepresentativeRank(peer));
  folded.group = there.use.group;
  folded.connection = there.connection;
  there.sends = sends;
  folded.source = index_.placement().of(RankAt(there)).host;
  return AddEnd(folded, here);
}

uint32_t ReplicaFolding::FoldConnectionForEveryMember(const Workload::Use& use, uint32_t connection,
                                                      bool sends) {
  const End here{use, connection, sends}, there{use, connection, !sends};
  const int host = index_.placement().of(RankAt(here)).host;
  if (index_.placement().of(RankAt(there)).host == host) return kNotFolded;
  return AddEnd(
      {use.group, connection, RepresentativeOf(host), PathFrom(here), 1, /*every_member=*/true},
      here);
}

namespace {

uint16_t ChannelOf(const Plan& plan, uint32_t connection) {
  for (const ChannelProgram& program : plan.members[plan.connections[connection].from]) {
    const auto first = plan.operands.begin() + program.operand_begin;
    const auto end = first + plan.patterns[program.pattern].operands;
    if (std::find(first, end, connection) != end) return program.channel;
  }
  CHECK_NOTE(false, "no program sends on a connection");
  return 0;
}

}  // namespace

std::vector<FlowEnds> ReplicaFolding::ReplicaFlows(uint32_t number) const {
  const End& own = sending_end_[number];
  if (number == kNotFolded || connection(number).every_member || !own.sends) return {};
  const Placement::Slot& at = index_.placement().of(RankAt(own));
  std::vector<FlowEnds> flows;
  for (const HostId host : ReplicasOf(at.host)) {
    const End end = CorrespondingEnd(own, index_.first_rank(host) + at.gpu);
    const Plan& plan = *index_.PlanFor(end.use.call, end.use.group);
    const Connection& c = plan.connections[end.connection];
    const std::vector<int>& ranks = index_.workload().groups[end.use.group].ranks;
    flows.push_back(
        {host, index_.placement().of(ranks[c.to]).host, c.send_nic, c.recv_nic,
         FlowOfConnection(end.use.group, c.from, c.to, ChannelOf(plan, end.connection))});
  }
  return flows;
}

uint32_t ReplicaFolding::AddEnd(const FoldedConnection& connection, const End& end) {
  sending_end_.push_back(end);
  return Add(connection);
}

}  // namespace drydock
