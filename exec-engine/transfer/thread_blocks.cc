#include "exec-engine/transfer/thread_blocks.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/model/calls/slices.h"

namespace drydock {
namespace {

// Returns true if the thread block exchanges slices of some of these connections with a proxy.
bool MeetsProxy(const LocalPlan& plan, std::span<const uint32_t> connections) {
  return plan.meets_proxy &&
         std::any_of(connections.begin(), connections.end(),
                     [&plan](uint32_t c) { return plan.connections[c].remote_host >= 0; });
}

}  // namespace

void ThreadBlocks::Start(Transfer* t, uint32_t member, Time now) {
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
      t->connections_[c].start_known_back = now;
      events_.Push({first, t->key_, TransferEvent::Kind::kCredit, c, t});
    }
  }
  StartKernel(t, member, 0, now);
  if (m.runners_left == 0) {  // the member has nothing to do but the launch
    --t->members_left_;
    listener_.OnMemberEnd(t, member, first, m.start_known);
    if (t->drained()) listener_.OnDrained(t);
  }
}

// Starts the member's kernel number `launch`, or the next one in which the member does anything.
void ThreadBlocks::StartKernel(Transfer* t, uint32_t member, uint32_t launch, Time now) {
  const LocalPlan& plan = *t->plan_;
  const std::vector<uint32_t>& runners = plan.members[member].runners_of_launch;
  while (launch < runners.size() && runners[launch] == 0) ++launch;
  if (launch == runners.size()) return;
  t->members_[member].launch = launch;
  t->members_[member].launch_left = runners[launch];
  const Time first = now + plan.base_of_launch[launch];
  for (uint32_t r = 0; r < plan.runners.size(); ++r) {
    const LocalBatch& batch = plan.batches[plan.runners[r].batch];
    if (plan.runners[r].member == member && batch.first && batch.launch == launch) {
      StartRunner(t, r, first);
    }
  }
}

void ThreadBlocks::StartRunner(Transfer* t, uint32_t runner, Time now) {
  Transfer::Runner& r = t->runners_[runner];
  r.started = true;
  r.free = now;
  if (r.at.done()) {
    EndRunner(t, runner, now);
  } else {
    TrySchedule(t, runner);
  }
}

void ThreadBlocks::TrySchedule(Transfer* t, uint32_t runner) {
  Transfer::Runner& r = t->runners_[runner];
  const LocalPlan& plan = *t->plan_;
  if (!r.started || r.scheduled || r.at.done()) return;
  const LocalRunner& local = plan.runners[runner];
  const LocalStep& step = plan.steps[local.step_begin + r.at.step_index()];
  const std::span<const uint32_t> receives = plan.OperandsOf(local, step.receive),
                                  sends = plan.OperandsOf(local, step.send);
  for (; r.with_data < receives.size(); ++r.with_data) {
    const Transfer::ConnectionState& state = t->connections_[receives[r.with_data]];
    if (state.sent == state.taken) return;
  }
  for (; r.with_room < sends.size(); ++r.with_room) {
    const uint32_t c = sends[r.with_room];
    const Transfer::ConnectionState& state = t->connections_[c];
    if (state.sent - state.taken >= plan.connections[c].slots) return;
  }
  Time begin = r.free;
  if (r.moved == 0 && !step.joined && plan.works[local.work].gathers_together) {
    const std::optional<Time> all = ArrivalOfAll(t, runner);
    if (!all) return;
    begin = std::max(begin, *all);
  }
  for (const uint32_t c : receives) {
    const uint32_t taken = t->connections_[c].taken;
    begin = std::max(begin, t->there_[t->SlotOf(c, taken, plan.connections[c].slots)]);
  }
  for (const uint32_t c : sends) {
    const uint32_t sent = t->connections_[c].sent, slots = plan.connections[c].slots;
    if (sent >= slots) begin = std::max(begin, t->free_[t->SlotOf(c, sent, slots)]);
  }
  r.scheduled = true;
  events_.Push({begin, t->key_, TransferEvent::Kind::kSlice, runner, t});
}

std::optional<Time> ThreadBlocks::ArrivalOfAll(Transfer* t, uint32_t runner) const {
  const LocalPlan& plan = *t->plan_;
  const LocalRunner& local = plan.runners[runner];
  Transfer::Runner& r = t->runners_[runner];
  const auto lacks_data = [t](uint32_t c) {
    return t->connections_[c].sent == t->connections_[c].taken;
  };
  if (r.gather_waits_for != kElsewhere && lacks_data(r.gather_waits_for)) return std::nullopt;
  Time latest;
  StepCursor at = r.at;
  for (at.Next(); !at.done(); at.Next()) {
    const LocalStep& step = plan.steps[local.step_begin + at.step_index()];
    if (!step.joined) break;
    for (const uint32_t c : plan.OperandsOf(local, step.receive)) {
      if (lacks_data(c)) {
        r.gather_waits_for = c;
        return std::nullopt;
      }
      const uint32_t taken = t->connections_[c].taken;
      latest = std::max(latest, t->there_[t->SlotOf(c, taken, plan.connections[c].slots)]);
    }
  }
  return latest;
}

void ThreadBlocks::RunSlice(Transfer* t, uint32_t runner, Time now) {
  ++slices_;
  const LocalPlan& plan = *t->plan_;
  Transfer::Runner& r = t->runners_[runner];
  r.scheduled = false;
  const LocalRunner& local = plan.runners[runner];
  const LocalStep& step = plan.steps[local.step_begin + r.at.step_index()];
  const LocalWork& work = plan.works[local.work];
  Slice slice;
  slice.runner = runner;
  slice.receives = plan.OperandsOf(local, step.receive);
  slice.sends = plan.OperandsOf(local, step.send);
  slice.merged = step.merged;
  slice.bytes = std::min(SliceBytes(*work.planned, r.at.bytes() / slice.merged) * slice.merged,
                         r.at.bytes() - r.moved);
  slice.wire = WireBytes(work.planned->protocol, slice.bytes);
  if (slice.merged > 1) merged_ += slice.merged;
  Time each;  // of a slice of any size
  if (r.moved == 0 && !step.joined) each += work.step;
  if (MeetsProxy(plan, slice.receives) || MeetsProxy(plan, slice.sends)) each += work.net_slice;
  // The thread block worked on all merged slices but the last one as they arrived. They leave as
  // they are filled.
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

// Returns how long NICs take for all but one of the merged slices: while one slice crosses the
// network, the thread block works on another. Zero for a slice that is not merged, and without
// NICs.
Time ThreadBlocks::AllButOne(const LocalPlan& plan, const Slice& slice,
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

// Takes the ports of the receiving side: those of a read from the peer, or those of an in-switch
// reduction, for which every contribution leaves its GPU and one sum arrives.
Time ThreadBlocks::Receive(Transfer* t, const Slice& slice, Time from) {
  const LocalPlan& plan = *t->plan_;
  const int64_t wire = slice.wire;
  Time end = from, begin;
  for (size_t i = 0; i < slice.receives.size(); ++i) {
    const LocalConnection& c = plan.connections[slice.receives[i]];
    if (c.link == LinkKind::kPeerRead) {
      end = std::max({end, from + c.crossing.For(wire), ports_.Cross(c.path, from, wire)});
    } else if (c.contribution) {
      end =
          std::max({end, from + c.crossing.For(wire), ports_.Take(c.path.out, from, wire, &begin)});
      if (i == 0) end = std::max(end, ports_.Take(c.path.in, from, wire, &begin));
    } else if (c.remote_host >= 0 && c.path.in != kNoPort) {
      end = std::max(end, ports_.Take(c.path.in, from, wire, &begin));
    }
  }
  return end;
}

// Takes the ports of the sending side: those of a store to the peer, or those of one multicast
// store, which leaves the GPU once and arrives at each member.
Time ThreadBlocks::Send(Transfer* t, const Slice& slice, Time from) {
  const LocalPlan& plan = *t->plan_;
  Time end = from, begin;
  const int64_t wire = slice.wire;
  bool multicast = false;
  for (const uint32_t connection : slice.sends) {
    const LocalConnection& c = plan.connections[connection];
    if (c.link == LinkKind::kPeerRead || c.contribution || c.path.out == kNoPort) continue;
    end = std::max(end, from + c.crossing.For(wire));
    if (c.link == LinkKind::kNvls) {
      if (!multicast) end = std::max(end, ports_.Take(c.path.out, from, wire, &begin));
      multicast = true;
      end = std::max(end, ports_.Take(c.path.in, from, wire, &begin));
    } else if (c.remote_host >= 0 && c.gpu_dma == kNoPort) {
      end = std::max(end, ports_.Take(c.path.out, from, wire, &begin));
    } else {
      end = std::max(end, ports_.Cross(c.path, from, wire));
    }
  }
  return end;
}

// The slice ends at `end`: the slots that it received from become free, what it sent is in flight.
void ThreadBlocks::FinishSlice(Transfer* t, const Slice& slice, Time end) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Member& member = t->members_[plan.runners[slice.runner].member];
  for (const uint32_t c : slice.receives) {
    Transfer::ConnectionState& state = t->connections_[c];
    member.start_known = std::max(member.start_known, state.start_known);
    state.start_known_back = std::max(state.start_known_back, member.start_known);
    const LocalConnection& connection = plan.connections[c];
    if (connection.remote_host < 0) {
      t->free_[t->SlotOf(c, state.taken, connection.slots)] = end + plan.latency;
    } else if (state.taken + connection.slots < connection.received) {
      events_.Push({end, t->key_, TransferEvent::Kind::kCredit, c, t});
    }
    ++state.taken;
  }
  for (const uint32_t c : slice.sends) {
    Transfer::ConnectionState& state = t->connections_[c];
    const uint32_t slots = plan.connections[c].slots;
    if (state.sent >= slots) {
      member.start_known = std::max(member.start_known, state.start_known_back);
    }
    state.start_known = std::max(state.start_known, member.start_known);
    const size_t slot = t->SlotOf(c, state.sent, slots);
    if (plan.connections[c].remote_host < 0) {
      t->there_[slot] = end + plan.latency + plan.works[plan.connections[c].work].hop;
    } else {
      t->posted_[slot] = {slice.wire, slice.merged, Time()};
      events_.Push({slice.filled, t->key_, TransferEvent::Kind::kFilled, c, t});
    }
    ++state.sent;
  }
}

// Moves the runner on to its next slice, and wakes the peers that may have waited for this one.
void ThreadBlocks::Advance(Transfer* t, const Slice& slice, Time end) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Runner& r = t->runners_[slice.runner];
  r.free = end;
  r.with_data = r.with_room = 0;
  r.gather_waits_for = kElsewhere;
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

void ThreadBlocks::EndRunner(Transfer* t, uint32_t runner, Time end) {
  const LocalRunner& local = t->plan_->runners[runner];
  const uint32_t index = local.member;
  Transfer::Member& member = t->members_[index];
  member.end = std::max(member.end, end);
  if (!t->batches_.empty()) EndBatch(t, local.batch, end);
  const bool kernel_ended = --member.launch_left == 0;
  if (--member.runners_left > 0) {
    if (kernel_ended) StartKernel(t, index, member.launch + 1, member.end);
    return;
  }
  --t->members_left_;
  listener_.OnMemberEnd(t, index, member.end, member.start_known);
  if (t->drained()) listener_.OnDrained(t);
}

// One of the batch's runners ends at `end`. When all have ended, the next batch begins.
void ThreadBlocks::EndBatch(Transfer* t, uint32_t batch, Time end) {
  Transfer::Batch& ended = t->batches_[batch];
  ended.end = std::max(ended.end, end);
  if (--ended.left > 0) return;
  const uint32_t next = t->plan_->batches[batch].next;
  if (next == LocalBatch::kNone) return;
  for (const uint32_t runner : t->plan_->batches[next].runners) StartRunner(t, runner, ended.end);
}

}  // namespace drydock
