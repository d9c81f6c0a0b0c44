// Communication's plans, and what is different about them in a folded run (replica_folding.h).
#include <algorithm>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "exec-engine/replay/communication.h"

namespace drydock {

Communication::KnownPlan* Communication::FindPlan(GroupState* group, uint32_t call) {
  for (const auto& known : group->plans) {
    if (known->call == call) return known.get();
  }
  const Workload& workload = index_.workload();
  const Plan* plan = folding_ != nullptr ? &folding_->PlanOf({call, group->group})
                                         : index_.PlanFor(call, group->group);
  CHECK(plan != nullptr);
  const bool all_parts = folding_ != nullptr && folding_->ServesEveryMember({call, group->group});
  std::vector<int> hosts, gpus;
  for (const int rank : workload.groups[group->group].ranks) {
    const bool takes_part = TakesPart(workload.calls[call], static_cast<int>(hosts.size()));
    const int host = index_.placement().of(rank).host;
    hosts.push_back(!takes_part ? -1 : all_parts ? folding_->RepresentativeOf(host) : host);
    gpus.push_back(index_.placement().of(rank).gpu);
  }
  auto known = std::make_unique<KnownPlan>();
  known->call = call;
  const GpuSpec& gpu =
      workload.topology.gpus[static_cast<size_t>(workload.topology.kind_of_host(host_).gpu)];
  known->plan =
      MakeLocalPlan(*plan, gpu, ports_, host_, group->group, hosts, gpus, index_.aggregation());
  FindLoads(sharing_, ports_, &known->plan);
  known->can_shortcut = shortcut_ && !all_parts && known->plan.complete &&
                        WaitsForAll(workload.calls[call].collective);
  if (known->can_shortcut) {
    std::vector<int> local_gpus;
    for (const LocalMember& member : known->plan.members) local_gpus.push_back(member.gpu);
    const int kind = workload.topology.hosts[static_cast<size_t>(host_)];
    known->known = index_.known_times().For(plan, kind, std::move(local_gpus));
  }
  if (folding_ != nullptr) Fold({call, group->group}, known.get());
  group->plans.push_back(std::move(known));
  return group->plans.back().get();
}

// What goes to other hosts goes to those that stand for them.
void Communication::Fold(const Workload::Use& use, KnownPlan* known) {
  known->all_parts = folding_->ServesEveryMember(use);
  const std::vector<int>& ranks = index_.workload().groups[use.group].ranks;
  for (LocalConnection& c : known->plan.connections) {
    if (c.remote_host < 0) continue;
    if (known->all_parts) {
      c.folded =
          folding_->FoldConnectionForEveryMember(use, c.plan_connection, c.sender != kElsewhere);
    } else if (c.remote_host != host_) {
      const int sender = ranks[known->plan.plan->connections[c.plan_connection].from];
      const bool sends = index_.placement().of(sender).host == host_;
      c.folded = folding_->FoldConnection(use, c.plan_connection, sends);
    }
  }
}

// A rank that stands for others begins their parts as well.
void Communication::StartParts(Call* call, int gpu, uint32_t op, Time now) {
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    if (call->plan->members[m].gpu != gpu) continue;
    call->arrivals[m].op = op;
    call->arrivals[m].time = now;
    ++call->arrived;
    engine_.Start(call->transfer, m, now);
  }
}

// It is done with the last of them.
void Communication::PartWillEnd(Call* call, uint32_t member, Time end, Time ready) {
  const int gpu = call->plan->members[member].gpu;
  call->arrivals[member].part_end = end;
  call->arrivals[member].part_ready = ready;
  Time last, moved;
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    if (call->plan->members[m].gpu != gpu) continue;
    last = std::max(last, call->arrivals[m].part_end);
    moved = std::max(moved, call->arrivals[m].part_ready);
  }
  if (last < Time::Max()) owner_->OnOpWillEnd(gpu, call->arrivals[member].op, last, moved);
}

void Communication::EndParts(Call* call, int gpu) {
  for (uint32_t m = 0; m < call->arrivals.size(); ++m) {
    if (call->plan->members[m].gpu != gpu) continue;
    call->arrivals[m].ended = true;
    ++call->ended;
  }
}

}  // namespace drydock
