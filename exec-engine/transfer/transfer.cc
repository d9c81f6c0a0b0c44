#include "exec-engine/transfer/transfer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

namespace drydock {

void Transfer::Begin(const LocalPlan* plan, CallKey key) {
  plan_ = plan;
  key_ = key;
  owner = 0;
  net_left_ = plan->net_sends;
  members_left_ = static_cast<uint32_t>(plan->members.size());
  pending_ = 0;
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

// Data that is there later than its sender is free, is there this much later.
Time Transfer::RestsSince() const {
  if (pending_ > 0) return Time::Max();
  Time free, hop;
  for (const Runner& runner : runners_) free = std::max(free, runner.free);
  for (const LocalWork& work : plan_->works) hop = std::max(hop, work.hop);
  return free + plan_->latency + hop;
}

void Transfer::AppendState(RelativeState* out) const {
  using Words = std::array<int64_t, sizeof(StepCursor) / sizeof(int64_t)>;
  static_assert(std::has_unique_object_representations_v<StepCursor> &&
                sizeof(Words) == sizeof(StepCursor));
  out->Add(net_left_);
  for (const Runner& runner : runners_) {
    for (const int64_t word : std::bit_cast<Words>(runner.at)) out->Add(word);
    out->Add(runner.moved);
    out->AddFree(runner.free);
    out->Add(int64_t{runner.started} << 1 | int64_t{runner.scheduled});
  }
  for (const Member& member : members_) {
    out->Add(member.runners_left);
    out->Add(member.launch);
    out->Add(member.launch_left);
    out->AddFree(member.start_known);
    out->AddFree(member.end);
    out->Add(member.started);
  }
  for (const Batch& batch : batches_) {
    out->Add(batch.left);
    out->AddFree(batch.end);
  }
  for (uint32_t c = 0; c < connections_.size(); ++c) AppendConnection(c, out);
}

// Slots hold what they held in earlier calls until they are used. So of there_ and posted_ the
// slices count that are in flight, and of free_ the slices that the sender's next ones follow.
void Transfer::AppendConnection(uint32_t connection, RelativeState* out) const {
  const ConnectionState& state = connections_[connection];
  const LocalConnection& c = plan_->connections[connection];
  for (const uint32_t count :
       {state.sent, state.taken, state.filled, state.cleared, state.posted, state.launched}) {
    out->Add(count);
  }
  out->AddFree(state.launch_after);
  out->AddFree(state.start_known);
  out->AddFree(state.start_known_back);
  const uint32_t slots = c.slots;
  const bool posts = c.remote_host >= 0 && c.sender != kElsewhere;
  for (uint32_t slice = state.taken; slice < state.sent; ++slice) {
    const size_t slot = SlotOf(connection, slice, slots);
    if (!posts) {
      out->AddFree(there_[slot]);
      continue;
    }
    out->Add(posted_[slot].wire);
    out->Add(posted_[slot].merged);
    out->AddFree(posted_[slot].start_known);
  }
  if (c.sender == kElsewhere) return;
  for (uint32_t slice = state.sent - std::min(state.sent, slots); slice < state.taken; ++slice) {
    out->AddFree(free_[SlotOf(connection, slice, slots)]);
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
      if (connections_[c].sent - connections_[c].taken >= plan.connections[c].slots) {
        out.push_back({member, of_plan(c).to, false});
      }
    }
  }
  return out;
}

}  // namespace drydock
