#include "exec-engine/transfer/transfer_engine.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/model/calls/slices.h"

namespace drydock {

Transfer* TransferEngine::Begin(const LocalPlan* plan, CallKey key) {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Transfer>(static_cast<uint32_t>(pool_.size()) + 1));
    free_.push_back(pool_.back().get());
  }
  Transfer* t = free_.back();
  free_.pop_back();
  t->plan_ = plan;
  t->key_ = key;
  t->owner = 0;
  t->net_left = plan->net_sends;
  t->members_left_ = static_cast<uint32_t>(plan->members.size());
  t->runners_.assign(plan->runners.size(), {});
  t->flows_.assign(plan->connections.size(), {});
  t->members_.assign(plan->members.size(), {});
  const size_t slots = plan->connections.size() * plan->most_slots;
  t->stamp_.resize(slots);
  t->room_.resize(slots);
  for (size_t r = 0; r < plan->runners.size(); ++r) t->runners_[r].at = plan->runners[r].start;
  t->turns_.clear();
  if (plan->works.size() > 1) {
    for (const LocalTurn& turn : plan->turns) {
      t->turns_.push_back({static_cast<uint32_t>(turn.runners.size()), {}});
    }
  }
  for (size_t m = 0; m < plan->members.size(); ++m) {
    t->members_[m].runners_left = plan->members[m].runners;
  }
  return t;
}

void TransferEngine::GiveBack(Transfer* transfer) {
  transfer->key_ = kNoCall;
  free_.push_back(transfer);
}

void TransferEngine::Reset() {
  events_.clear();
  ports_.Reset();
}

void TransferEngine::Start(Transfer* t, uint32_t member, Time now) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Member& m = t->members_[member];
  CHECK(!m.started);
  m.started = true;
  m.start_known = std::max(m.start_known, now);
  const Time first = now + plan.base;
  m.end = first;
  for (uint32_t c = 0; c < plan.connections.size(); ++c) {
    const LocalConnection& connection = plan.connections[c];
    if (connection.remote_host >= 0 && connection.receiver != kElsewhere &&
        plan.runners[connection.receiver].member == member) {
      t->flows_[c].start_known_back = now;
      events_.Push({first, t->key_, Kind::kCredit, c, t});
    }
  }
  StartKernel(t, member, 0, now);
  if (m.runners_left == 0) {  // nothing to do for this member: only the launch
    --t->members_left_;
    listener_->OnMemberEnd(t, member, first, m.start_known);
    CheckDrained(t);
  }
}

// The member's kernel number `launch`, or the next one in which it does anything.
void TransferEngine::StartKernel(Transfer* t, uint32_t member, uint32_t launch, Time now) {
  const LocalPlan& plan = *t->plan_;
  const std::vector<uint32_t>& runners = plan.members[member].runners_of_launch;
  while (launch < runners.size() && runners[launch] == 0) ++launch;
  if (launch == runners.size()) return;
  t->members_[member].launch = launch;
  t->members_[member].launch_left = runners[launch];
  const Time first = now + plan.base_of_launch[launch];
  for (uint32_t r = 0; r < plan.runners.size(); ++r) {
    const LocalTurn& turn = plan.turns[plan.runners[r].turn];
    if (plan.runners[r].member == member && turn.first && turn.launch == launch) {
      StartRunner(t, r, first);
    }
  }
}

void TransferEngine::StartRunner(Transfer* t, uint32_t runner, Time now) {
  Transfer::Runner& r = t->runners_[runner];
  r.started = true;
  r.free = now;
  if (r.at.done()) {
    EndRunner(t, runner, now);
  } else {
    TrySchedule(t, runner);
  }
}

// Puts in the event of the runner's next slice if everything it waits for has a time.
void TransferEngine::TrySchedule(Transfer* t, uint32_t runner) {
  Transfer::Runner& r = t->runners_[runner];
  const LocalPlan& plan = *t->plan_;
  if (!r.started || r.scheduled || r.at.done()) return;
  const LocalRunner& local = plan.runners[runner];
  const LocalStep& step = plan.steps[local.step_begin + r.at.step_index()];
  const uint32_t slots = plan.works[local.work].slots;
  Time begin = r.free;
  for (const uint32_t c : plan.OperandsOf(local, step.receive)) {
    const Transfer::Flow& flow = t->flows_[c];
    if (flow.sent == flow.taken) return;
    begin = std::max(begin, t->stamp_[c * plan.most_slots + flow.taken % slots]);
  }
  for (const uint32_t c : plan.OperandsOf(local, step.send)) {
    const Transfer::Flow& flow = t->flows_[c];
    if (flow.sent - flow.taken >= slots) return;
    if (flow.sent >= slots)
      begin = std::max(begin, t->room_[c * plan.most_slots + flow.sent % slots]);
  }
  r.scheduled = true;
  events_.Push({begin, t->key_, Kind::kSlice, runner, t});
}

void TransferEngine::RunNext() {
  const Event event = events_.Pop();
  switch (event.kind) {
    case Kind::kSlice:
      return RunSlice(event.transfer, event.index, event.time);
    case Kind::kFilled:
      ++event.transfer->flows_[event.index].filled;
      return Post(event.transfer, event.index, event.time);
    case Kind::kLaunch:
      return Launch(event.transfer, event.index, event.time);
    case Kind::kCredit:
      return GiveCredit(event.transfer, event.index, event.time);
    case Kind::kLooped:
      return EndLoop(event.transfer, event.index, event.time);
  }
}

namespace {

// True if the thread block exchanges slices of some of these connections with a proxy.
bool MeetsProxy(const LocalPlan& plan, std::span<const uint32_t> connections) {
  return std::any_of(connections.begin(), connections.end(),
                     [&plan](uint32_t c) { return plan.connections[c].remote_host >= 0; });
}

}  // namespace

void TransferEngine::RunSlice(Transfer* t, uint32_t runner, Time now) {
  ++slices_;
  const LocalPlan& plan = *t->plan_;
  Transfer::Runner& r = t->runners_[runner];
  r.scheduled = false;
  const LocalRunner& local = plan.runners[runner];
  const LocalStep& step = plan.steps[local.step_begin + r.at.step_index()];
  const LocalWork& work = plan.works[local.work];
  Slice slice;
  slice.runner = runner;
  slice.slots = work.slots;
  slice.receives = plan.OperandsOf(local, step.receive);
  slice.sends = plan.OperandsOf(local, step.send);
  slice.merged = step.merged;
  slice.bytes = std::min(SliceBytes(*work.planned, r.at.bytes() / slice.merged) * slice.merged,
                         r.at.bytes() - r.moved);
  slice.wire = WireBytes(work.planned->protocol, slice.bytes);
  if (slice.merged > 1) merged_ += slice.merged;
  Time each;  // beside the bytes
  if (r.moved == 0 && !step.joined) each += work.step;
  if (MeetsProxy(plan, slice.receives) || MeetsProxy(plan, slice.sends)) each += work.net_slice;
  // Merged slices were worked on as they came, all but the last; they leave as they are filled.
  const Time begin = std::max(r.free, now - AllButOne(plan, slice, slice.receives));
  const Time last = now + each + work.BlockTime(step, slice.bytes / slice.merged);
  const Time from = begin + each * slice.merged;
  Time end = std::max(last, from + work.BlockTime(step, slice.bytes));
  end = std::max(end, Receive(t, slice, from));
  end = std::max(end, Send(t, slice, from));
  slice.filled = std::max(last, end - AllButOne(plan, slice, slice.sends));
  FinishSlice(t, slice, end);
  Advance(t, slice, end);
}

// How long NICs take for all but one of the slices that are merged: while one crosses the network,
// the thread block is busy with another. Nothing for a slice of its own, or where no NIC is.
Time TransferEngine::AllButOne(const LocalPlan& plan, const Slice& slice,
                               std::span<const uint32_t> connections) const {
  Time longest;
  if (slice.merged == 1) return longest;
  for (const uint32_t c : connections) {
    const LocalConnection& at = plan.connections[c];
    const int64_t others = slice.merged - 1;
    longest = std::max(longest,
                       at.nic_pace.For(slice.wire / slice.merged * others) + at.nic_gap * others);
  }
  return longest;
}

// Ports that the receiving side takes: a read from the peer, or an in-switch reduction, for which
// every contribution leaves its GPU and one sum arrives.
Time TransferEngine::Receive(Transfer* t, const Slice& slice, Time from) {
  const LocalPlan& plan = *t->plan_;
  const int64_t wire = slice.wire;
  Time end = from, begin;
  for (size_t i = 0; i < slice.receives.size(); ++i) {
    const LocalConnection& c = plan.connections[slice.receives[i]];
    if (c.link == LinkKind::kPeerRead) {
      end = std::max({end, from + c.crossing.For(wire), ports_.Cross(c.way, from, wire)});
    } else if (c.contribution) {
      end =
          std::max({end, from + c.crossing.For(wire), ports_.Take(c.way.out, from, wire, &begin)});
      if (i == 0) end = std::max(end, ports_.Take(c.way.in, from, wire, &begin));
    } else if (c.remote_host >= 0 && c.way.in != kNoPort) {
      end = std::max(end, ports_.Take(c.way.in, from, wire, &begin));
    }
  }
  return end;
}

// Ports that the sending side takes: a store to the peer, or one multicast store, which leaves the
// GPU once and arrives at each member.
Time TransferEngine::Send(Transfer* t, const Slice& slice, Time from) {
  const LocalPlan& plan = *t->plan_;
  Time end = from, begin;
  const int64_t wire = slice.wire;
  bool multicast = false;
  for (const uint32_t connection : slice.sends) {
    const LocalConnection& c = plan.connections[connection];
    if (c.link == LinkKind::kPeerRead || c.contribution || c.way.out == kNoPort) continue;
    end = std::max(end, from + c.crossing.For(wire));
    if (c.link == LinkKind::kNvls) {
      if (!multicast) end = std::max(end, ports_.Take(c.way.out, from, wire, &begin));
      multicast = true;
      end = std::max(end, ports_.Take(c.way.in, from, wire, &begin));
    } else if (c.remote_host >= 0 && c.gpu_dma == kNoPort) {
      end = std::max(end, ports_.Take(c.way.out, from, wire, &begin));
    } else {
      end = std::max(end, ports_.Cross(c.way, from, wire));
    }
  }
  return end;
}

// The slice is done at `end`: what it received makes room, what it sent is on its way.
void TransferEngine::FinishSlice(Transfer* t, const Slice& slice, Time end) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Member& member = t->members_[plan.runners[slice.runner].member];
  for (const uint32_t c : slice.receives) {
    Transfer::Flow& flow = t->flows_[c];
    member.start_known = std::max(member.start_known, flow.start_known);
    flow.start_known_back = std::max(flow.start_known_back, member.start_known);
    const LocalConnection& connection = plan.connections[c];
    if (connection.remote_host < 0) {
      t->room_[c * plan.most_slots + flow.taken % slice.slots] = end + plan.latency;
    } else if (flow.taken + slice.slots < connection.received) {
      events_.Push({end, t->key_, Kind::kCredit, c, t});
    }
    ++flow.taken;
  }
  for (const uint32_t c : slice.sends) {
    Transfer::Flow& flow = t->flows_[c];
    if (flow.sent >= slice.slots) {
      member.start_known = std::max(member.start_known, flow.start_known_back);
    }
    flow.start_known = std::max(flow.start_known, member.start_known);
    Time& stamp = t->stamp_[c * plan.most_slots + flow.sent % slice.slots];
    if (plan.connections[c].remote_host < 0) {
      stamp = end + plan.latency;
    } else {
      stamp = Transfer::Posted{slice.wire, slice.merged}.AsTime();
      events_.Push({slice.filled, t->key_, Kind::kFilled, c, t});
    }
    ++flow.sent;
  }
}

// On to the runner's next slice; then whoever may have waited for this one.
void TransferEngine::Advance(Transfer* t, const Slice& slice, Time end) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Runner& r = t->runners_[slice.runner];
  r.free = end;
  r.moved += slice.bytes;
  if (r.moved >= r.at.bytes()) {
    r.moved = 0;
    r.at.Next();
  }
  for (const uint32_t c : slice.sends) {
    const uint32_t other = plan.connections[c].receiver;
    if (other != kElsewhere) TrySchedule(t, other);
  }
  for (const uint32_t c : slice.receives) {
    const uint32_t other = plan.connections[c].sender;
    if (other != kElsewhere) TrySchedule(t, other);
  }
  if (r.at.done()) {
    EndRunner(t, slice.runner, end);
  } else {
    TrySchedule(t, slice.runner);
  }
}

void TransferEngine::EndRunner(Transfer* t, uint32_t runner, Time end) {
  const LocalRunner& local = t->plan_->runners[runner];
  const uint32_t index = local.member;
  Transfer::Member& member = t->members_[index];
  member.end = std::max(member.end, end);
  if (!t->turns_.empty()) EndTurn(t, local.turn, end);
  const bool kernel_ended = --member.launch_left == 0;
  if (--member.runners_left > 0) {
    if (kernel_ended) StartKernel(t, index, member.launch + 1, member.end);
    return;
  }
  --t->members_left_;
  listener_->OnMemberEnd(t, index, member.end, member.start_known);
  CheckDrained(t);
}

// One of the turn's runners is done at `end`. The last lets the next work begin, when all of them
// are.
void TransferEngine::EndTurn(Transfer* t, uint32_t turn, Time end) {
  Transfer::Turn& ended = t->turns_[turn];
  ended.end = std::max(ended.end, end);
  if (--ended.left > 0) return;
  const uint32_t next = t->plan_->turns[turn].next;
  if (next == LocalTurn::kNone) return;
  for (const uint32_t runner : t->plan_->turns[next].runners) StartRunner(t, runner, ended.end);
}

void TransferEngine::CheckDrained(Transfer* t) {
  if (t->members_left_ == 0 && t->net_left == 0) listener_->OnDrained(t);
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
      if (flows_[c].sent == flows_[c].taken) out.push_back({member, of_plan(c).from, true});
    }
    for (const uint32_t c : plan.OperandsOf(local, step.send)) {
      if (flows_[c].sent - flows_[c].taken >= plan.works[local.work].slots) {
        out.push_back({member, of_plan(c).to, false});
      }
    }
  }
  return out;
}

}  // namespace drydock
