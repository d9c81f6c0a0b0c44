#include "exec-engine/transfer/transfer.h"

namespace drydock {

void Transfer::Begin(const LocalPlan* plan, CallKey key) {
  plan_ = plan;
  key_ = key;
  owner = 0;
  net_left_ = plan->net_sends;
  members_left_ = static_cast<uint32_t>(plan->members.size());
  runners_.assign(plan->runners.size(), {});
  connections_.assign(plan->connections.size(), {});
  members_.assign(plan->members.size(), {});
  const size_t slots = plan->connections.size() * plan->max_slots;
  there_.resize(slots);
  free_.resize(slots);
  posted_.resize(plan->net_sends > 0 ? slots : 0);
  for (size_t r = 0; r < plan->runners.size(); ++r) runners_[r].at = plan->runners[r].start;
  batches_.clear();
  if (plan->works.size() > 1) {
    for (const LocalBatch& batch : plan->batches) {
      batches_.push_back({static_cast<uint32_t>(batch.runners.size()), {}});
    }
  }
  for (size_t m = 0; m < plan->members.size(); ++m) {
    members_[m].runners_left = plan->members[m].runners;
  }
}

std::vector<Transfer::Waiting> Transfer::WaitingOn() const {
  std::vector<Waiting> out;
  const LocalPlan& plan = *plan_;
  for (size_t r = 0; r < runners_.size(); ++r) {
    const Runner& runner = runners_[r];
    if (!runner.started || runner.at.done()) continue;
    const LocalRunner& local = plan.runners[r];
    const int member = plan.members[local.member].member;
    const LocalStep& step = plan.steps[local.step_begin + runner.at.step_index()];
    const auto of_plan = [&plan](uint32_t c) -> const Connection& {
      return plan.plan->connections[plan.connections[c].plan_connection];
    };
    for (const uint32_t c : plan.OperandsOf(local, step.receive)) {
      if (connections_[c].sent == connections_[c].taken) {
        out.push_back({member, of_plan(c).from, true});
      }
    }
    for (const uint32_t c : plan.OperandsOf(local, step.send)) {
      if (connections_[c].sent - connections_[c].taken >= plan.works[local.work].slots) {
        out.push_back({member, of_plan(c).to, false});
      }
    }
  }
  return out;
}

}  // namespace drydock
