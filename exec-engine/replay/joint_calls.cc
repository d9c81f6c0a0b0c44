#include "exec-engine/replay/joint_calls.h"

#include <algorithm>
#include <set>

#include "core/base/check.h"
#include "core/model/calls/call_workload.h"
#include "exec-engine/replay/host_planner.h"

namespace drydock {

Result<std::unique_ptr<JointCallTimes>> JointCallTimes::Find(const ReplayIndex& index,
                                                             const RankReplicas& replicas,
                                                             const NetworkModel& network,
                                                             const ReplayOptions& options) {
  for (const Workload::Use& use : index.workload().uses) {
    if (!replicas.joint[use.group]) continue;
    if (!WaitsForAll(index.workload().calls[use.call].collective)) {
      return std::unique_ptr<JointCallTimes>();
    }
  }
  std::unique_ptr<JointCallTimes> out(new JointCallTimes(index, replicas, network, options));
  RETURN_IF_ERROR(out->FindAll());
  return out;
}

namespace {

bool InGroup(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace

JointCallTimes::JointCallTimes(const ReplayIndex& index, const RankReplicas& replicas,
                               const NetworkModel& network, const ReplayOptions& options)
    : index_(index), replicas_(replicas), network_(network), options_(options) {
  network_.merging = Merging::kNone;
}

Status JointCallTimes::FindAll() {
  const Workload& workload = index_.workload();
  for (const Workload::Use& use : workload.uses) {
    if (!replicas_.joint[use.group]) continue;
    const std::vector<int>& ranks = workload.groups[use.group].ranks;
    const auto replayed = std::count_if(ranks.begin(), ranks.end(), [this](int rank) {
      return replicas_.representative[static_cast<size_t>(rank)] == rank;
    });
    if (replayed == 0) continue;
    members_[use.group] = static_cast<int>(replayed);
    const std::vector<uint32_t> groups = GroupsBeside(use.call, use.group);
    ASSIGN_OR_RETURN(const Alone* alone, PlayAlone(use.call, groups));
    const auto own = std::find(groups.begin(), groups.end(), use.group) - groups.begin();
    // For a representative, the call ends with the last member that it represents, for which the
    // next joint call waits.
    for (size_t m = 0; m < ranks.size(); ++m) {
      const int replayed_by = replicas_.representative[static_cast<size_t>(ranks[m])];
      if (!InGroup(ranks, replayed_by)) continue;
      const auto& [end, ready] = (*alone)[static_cast<size_t>(own)][m];
      JointTimes& times = times_[{use, replayed_by}];
      times.end = std::max(times.end, end);
      times.ready = std::max(times.ready, ready);
    }
    FindLoads(use);
  }
  return OkStatus();
}

std::vector<int> JointCallTimes::HostsOf(uint32_t group) const {
  std::set<int> hosts;
  for (const int rank : index_.workload().groups[group].ranks) {
    hosts.insert(index_.placement().of(rank).host);
  }
  return {hosts.begin(), hosts.end()};
}

// Returns the groups that make the call on the hosts of `group`, which share NICs with it.
std::vector<uint32_t> JointCallTimes::GroupsBeside(uint32_t call, uint32_t group) const {
  const std::vector<int> hosts = HostsOf(group);
  std::vector<uint32_t> out;
  std::set<int> taken;
  const std::vector<Workload::Use>& uses = index_.workload().uses;
  for (auto use = std::lower_bound(uses.begin(), uses.end(), Workload::Use{call, 0});
       use != uses.end() && use->call == call; ++use) {
    if (!replicas_.joint[use->group] || HostsOf(use->group) != hosts) continue;
    const std::vector<int>& ranks = index_.workload().groups[use->group].ranks;
    const bool apart =
        std::none_of(ranks.begin(), ranks.end(), [&](int rank) { return taken.count(rank) > 0; });
    if (!apart && use->group != group) continue;
    if (!apart) {  // the groups of a rank that makes the call in several of them take turns
      out.clear();
      taken.clear();
    }
    taken.insert(ranks.begin(), ranks.end());
    out.push_back(use->group);
  }
  return out;
}

Result<const JointCallTimes::Alone*> JointCallTimes::PlayAlone(
    uint32_t call, const std::vector<uint32_t>& groups) {
  const Workload& workload = index_.workload();
  std::vector<const Plan*> plans;
  for (const uint32_t group : groups) plans.push_back(index_.PlanFor(call, group));
  const auto [entry, added] = alone_.try_emplace(plans);
  if (!added) return &entry->second;
  std::vector<Group> members;
  FlowPlan plan;
  for (uint32_t g = 0; g < groups.size(); ++g) {
    members.push_back(workload.groups[groups[g]]);
    plan.plans.push_back(*plans[g]);
    plan.assignments.push_back({0, g, g});
  }
  const Workload alone = WorkloadOfCalls(workload.topology, members, {workload.calls[call]});
  ReplayOptions options;
  options.network = options_.network;
  options.shortcut = options_.shortcut;
  ASSIGN_OR_RETURN(const Timeline timeline,
                   Replay(alone, plan, NoKernelTimes(alone.topology), network_, options));
  for (const Group& group : members) {
    auto& times = entry->second.emplace_back();
    for (const int rank : group.ranks) {
      const RankTimeline& of = timeline.ranks[static_cast<size_t>(rank)];
      times.emplace_back(of.end[0], of.ready[0]);
    }
  }
  return &entry->second;
}

// Sets the loads of the kernels of the call's representatives.
void JointCallTimes::FindLoads(const Workload::Use& use) {
  const Workload& workload = index_.workload();
  const std::vector<int>& ranks = workload.groups[use.group].ranks;
  for (const int host : HostsOf(use.group)) {
    const HostKind& kind = workload.topology.kind_of_host(host);
    const auto gpu = static_cast<size_t>(kind.gpu);
    const bool replayed = std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
      return index_.placement().of(rank).host == host && times_.count({use, rank}) > 0;
    });
    if (!replayed) continue;
    const PortMap ports(kind, workload.topology.gpus[gpu]);
    const SharingCosts costs =
        gpu < options_.sharing.size() ? options_.sharing[gpu] : SharingCosts();
    const HostPlanner planner(host, index_, ports, costs, /*play_alone=*/false, nullptr);
    const std::unique_ptr<HostPlan> plan = planner.Make(use);
    for (const LocalMember& member : plan->plan.members) {
      const auto found = times_.find({use, ranks[static_cast<size_t>(member.member)]});
      if (found != times_.end()) found->second.load = member.load;
    }
  }
}

const KernelLoad& JointCalls::Arrive(Host* host, int rank, uint32_t op, uint32_t call, CallKey key,
                                     Time now) {
  ++calls_;
  const auto group = static_cast<uint32_t>(key >> 32);
  const JointTimes& own = times_.Of(call, group, rank);
  std::vector<Arrival>& arrivals = waiting_[key];
  arrivals.push_back({host, rank, op});
  if (static_cast<int>(arrivals.size()) < times_.Representatives(group)) return own.load;
  const std::vector<Arrival> all = std::move(arrivals);
  waiting_.erase(key);
  for (const Arrival& each : all) {
    const JointTimes& times = times_.Of(call, group, each.rank);
    each.host->OnJointEnd(each.rank, each.op, now + times.end, now + times.ready);
  }
  return own.load;
}

}  // namespace drydock
