#include "exec-engine/replay/host_planner.h"

#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "exec-engine/transfer/kernel_load.h"

namespace drydock {

bool WaitsForAll(CollectiveType type) {
  return type == CollectiveType::kAllReduce || type == CollectiveType::kAllGather ||
         type == CollectiveType::kReduceScatter || type == CollectiveType::kAllToAll;
}

std::unique_ptr<HostPlan> HostPlanner::Make(const Workload::Use& use) const {
  const Workload& workload = index_.workload();
  const Plan* plan =
      folding_ != nullptr ? &folding_->PlanOf(use) : index_.PlanFor(use.call, use.group);
  CHECK(plan != nullptr);
  auto out = std::make_unique<HostPlan>();
  out->call = use.call;
  out->serves_every_member = folding_ != nullptr && folding_->ServesEveryMember(use);
  out->plan = MakeLocal(*plan, use, out->serves_every_member);
  FindLoads(sharing_, ports_, &out->plan);
  const bool waits = WaitsForAll(workload.calls[use.call].collective);
  out->plays_alone = play_alone_ && !out->serves_every_member && out->plan.complete;
  out->waits_for_all = waits || (out->plays_alone && out->plan.AllPairsMeet());
  out->spans = play_alone_ && waits && !out->plan.complete;
  if (out->plays_alone) {
    const int kind = workload.topology.hosts[static_cast<size_t>(host_)];
    out->known = index_.known_times().For(plan, kind, WaysOf(out->plan, ports_));
  }
  if (folding_ != nullptr) Redirect(use, out->serves_every_member, &out->plan);
  return out;
}

LocalPlan HostPlanner::MakeLocal(const Plan& plan, const Workload::Use& use,
                                 bool serves_every_member) const {
  const Workload& workload = index_.workload();
  std::vector<int> hosts, gpus;
  for (const int rank : workload.groups[use.group].ranks) {
    const bool takes_part = TakesPart(workload.calls[use.call], static_cast<int>(hosts.size()));
    const int host = index_.placement().of(rank).host;
    hosts.push_back(!takes_part           ? -1
                    : serves_every_member ? folding_->RepresentativeOf(host)
                                          : host);
    gpus.push_back(index_.placement().of(rank).gpu);
  }
  const GpuSpec& gpu =
      workload.topology.gpus[static_cast<size_t>(workload.topology.kind_of_host(host_).gpu)];
  return MakeLocalPlan(plan, gpu, ports_, host_, use.group, hosts, gpus, index_.aggregation());
}

// Directs messages for other hosts to the representatives of these hosts.
void HostPlanner::Redirect(const Workload::Use& use, bool serves_every_member,
                           LocalPlan* plan) const {
  const std::vector<int>& ranks = index_.workload().groups[use.group].ranks;
  for (LocalConnection& c : plan->connections) {
    if (c.remote_host < 0) continue;
    if (serves_every_member) {
      c.folded =
          folding_->FoldConnectionForEveryMember(use, c.plan_connection, c.sender != kElsewhere);
    } else if (c.remote_host != host_) {
      const int sender = ranks[plan->plan->connections[c.plan_connection].from];
      const bool sends = index_.placement().of(sender).host == host_;
      c.folded = folding_->FoldConnection(use, c.plan_connection, sends);
    }
  }
}

}  // namespace drydock
