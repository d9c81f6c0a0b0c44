#include "exec-engine/transfer_engine.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {

uint64_t MessageTag::Pack() const {
  const uint64_t group = call >> 32, sequence = call & UINT32_MAX;
  CHECK_NOTE(group < (1u << kGroupBits) && sequence < (1u << kSequenceBits) &&
                 connection < (1u << kConnectionBits),
             "more groups, calls or connections than a message's tag can name");
  return ((group << kSequenceBits | sequence) << kConnectionBits | connection) << 1 |
         (credit ? 1 : 0);
}

MessageTag MessageTag::Unpack(uint64_t tag) {
  MessageTag out;
  out.credit = (tag & 1) != 0;
  tag >>= 1;
  out.connection = static_cast<uint32_t>(tag & ((1u << kConnectionBits) - 1));
  tag >>= kConnectionBits;
  const uint64_t sequence = tag & ((1u << kSequenceBits) - 1);
  out.call =
      MakeCallKey(static_cast<uint32_t>(tag >> kSequenceBits), static_cast<uint32_t>(sequence));
  return out;
}

Transfer* TransferEngine::Begin(const LocalPlan* plan, CallKey key) {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Transfer>());
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
  const size_t slots = plan->connections.size() * plan->slots;
  t->stamp_.resize(slots);
  t->room_.resize(slots);
  for (size_t r = 0; r < plan->runners.size(); ++r) {
    t->runners_[r].step = plan->runners[r].step_begin;
  }
  for (size_t m = 0; m < plan->members.size(); ++m) {
    t->members_[m].runners_left = plan->members[m].runners;
  }
  return t;
}

void TransferEngine::GiveBack(Transfer* transfer) { free_.push_back(transfer); }

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
  bool any = false;
  for (uint32_t r = 0; r < plan.runners.size(); ++r) {
    if (plan.runners[r].member != member) continue;
    any = true;
    t->runners_[r].started = true;
    t->runners_[r].free = first;
    if (plan.runners[r].step_begin == plan.runners[r].step_end) {
      EndRunner(t, r, first);
    } else {
      TrySchedule(t, r);
    }
  }
  if (!any) {  // nothing to do for this member: only the launch
    --t->members_left_;
    listener_->OnMemberEnd(t, member, first, m.start_known);
    CheckDrained(t);
  }
}

// Puts in the event of the runner's next slice if everything it waits for has a time.
void TransferEngine::TrySchedule(Transfer* t, uint32_t runner) {
  Transfer::Runner& r = t->runners_[runner];
  const LocalPlan& plan = *t->plan_;
  if (!r.started || r.scheduled || r.step == plan.runners[runner].step_end) return;
  const LocalStep& step = plan.steps[r.step];
  Time begin = r.free;
  for (uint32_t i = 0; i < step.receive_count; ++i) {
    const uint32_t c = plan.operands[step.receive_begin + i];
    const Transfer::Flow& flow = t->flows_[c];
    if (flow.sent == flow.taken) return;
    begin = std::max(begin, t->stamp_[c * plan.slots + flow.taken % plan.slots]);
  }
  for (uint32_t i = 0; i < step.send_count; ++i) {
    const uint32_t c = plan.operands[step.send_begin + i];
    const Transfer::Flow& flow = t->flows_[c];
    if (flow.sent - flow.taken >= plan.slots) return;
    if (flow.sent >= plan.slots) {
      begin = std::max(begin, t->room_[c * plan.slots + flow.sent % plan.slots]);
    }
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
      return Launch(event.transfer, event.index);
    case Kind::kCredit:
      return SendCredit(event.transfer, event.index);
  }
}

void TransferEngine::RunSlice(Transfer* t, uint32_t runner, Time now) {
  ++slices_;
  const LocalPlan& plan = *t->plan_;
  Transfer::Runner& r = t->runners_[runner];
  r.scheduled = false;
  const LocalStep& step = plan.steps[r.step];
  const int64_t bytes = std::min(plan.slice_bytes, step.bytes - r.moved);
  const int64_t wire = plan.WireBytes(bytes);
  const Time from = r.moved == 0 && !step.joined ? now + plan.step : now;
  Time end = from + plan.BlockTime(step, bytes);
  end = std::max(end, Receive(t, step, from, wire));
  end = std::max(end, Send(t, step, from, wire));
  FinishSlice(t, runner, step, end, wire);
  Advance(t, runner, step, bytes, end);
}

// Ports that the receiving side takes: a read from the peer, or an in-switch reduction, for which
// every contribution leaves its GPU and one sum arrives.
Time TransferEngine::Receive(Transfer* t, const LocalStep& step, Time from, int64_t wire) {
  const LocalPlan& plan = *t->plan_;
  Time end = from, begin;
  for (uint32_t i = 0; i < step.receive_count; ++i) {
    const LocalConnection& c = plan.connections[plan.operands[step.receive_begin + i]];
    if (c.link == LinkKind::kPeerRead) {
      end = std::max(end, ports_.Cross(c.out, c.in, from, wire));
    } else if (c.contribution) {
      end = std::max(end, ports_.Take(c.out, from, wire, &begin));
      if (i == 0) end = std::max(end, ports_.Take(c.in, begin, wire, &begin));
    } else if (c.remote_host >= 0 && c.in != kNoPort) {
      end = std::max(end, ports_.Take(c.in, from, wire, &begin));
    }
  }
  return end;
}

// Ports that the sending side takes: a store to the peer, or one multicast store, which leaves the
// GPU once and arrives at each member.
Time TransferEngine::Send(Transfer* t, const LocalStep& step, Time from, int64_t wire) {
  const LocalPlan& plan = *t->plan_;
  Time end = from, begin = from, multicast_begin;
  bool multicast = false;
  for (uint32_t i = 0; i < step.send_count; ++i) {
    const LocalConnection& c = plan.connections[plan.operands[step.send_begin + i]];
    if (c.link == LinkKind::kPeerRead || c.contribution || c.out == kNoPort) continue;
    if (c.link == LinkKind::kNvls) {
      if (!multicast) end = std::max(end, ports_.Take(c.out, from, wire, &multicast_begin));
      multicast = true;
      end = std::max(end, ports_.Take(c.in, multicast_begin, wire, &begin));
    } else if (c.remote_host >= 0 && c.gpu_dma == kNoPort) {
      end = std::max(end, ports_.Take(c.out, from, wire, &begin));
    } else {
      end = std::max(end, ports_.Cross(c.out, c.in, from, wire));
    }
  }
  return end;
}

// The slice is done at `end`: what it received makes room, what it sent is on its way.
void TransferEngine::FinishSlice(Transfer* t, uint32_t runner, const LocalStep& step, Time end,
                                 int64_t wire) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Member& member = t->members_[plan.runners[runner].member];
  for (uint32_t i = 0; i < step.receive_count; ++i) {
    const uint32_t c = plan.operands[step.receive_begin + i];
    Transfer::Flow& flow = t->flows_[c];
    member.start_known = std::max(member.start_known, flow.start_known);
    flow.start_known_back = std::max(flow.start_known_back, member.start_known);
    const LocalConnection& connection = plan.connections[c];
    if (connection.remote_host < 0) {
      t->room_[c * plan.slots + flow.taken % plan.slots] = end + plan.latency;
    } else if (flow.taken + plan.slots < connection.received) {
      events_.Push({end, t->key_, Kind::kCredit, c, t});
    }
    ++flow.taken;
  }
  for (uint32_t i = 0; i < step.send_count; ++i) {
    const uint32_t c = plan.operands[step.send_begin + i];
    Transfer::Flow& flow = t->flows_[c];
    if (flow.sent >= plan.slots) {
      member.start_known = std::max(member.start_known, flow.start_known_back);
    }
    flow.start_known = std::max(flow.start_known, member.start_known);
    Time& stamp = t->stamp_[c * plan.slots + flow.sent % plan.slots];
    if (plan.connections[c].remote_host < 0) {
      stamp = end + plan.latency;
    } else {
      stamp = Time::Ps(wire);
      events_.Push({end, t->key_, Kind::kFilled, c, t});
    }
    ++flow.sent;
  }
}

// On to the runner's next slice; then whoever may have waited for this one.
void TransferEngine::Advance(Transfer* t, uint32_t runner, const LocalStep& step, int64_t bytes,
                             Time end) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Runner& r = t->runners_[runner];
  r.free = end;
  r.moved += bytes;
  if (r.moved >= step.bytes) {
    r.moved = 0;
    ++r.step;
  }
  for (uint32_t i = 0; i < step.send_count; ++i) {
    const uint32_t other = plan.connections[plan.operands[step.send_begin + i]].receiver;
    if (other != kElsewhere) TrySchedule(t, other);
  }
  for (uint32_t i = 0; i < step.receive_count; ++i) {
    const uint32_t other = plan.connections[plan.operands[step.receive_begin + i]].sender;
    if (other != kElsewhere) TrySchedule(t, other);
  }
  if (r.step == plan.runners[runner].step_end) {
    EndRunner(t, runner, end);
  } else {
    TrySchedule(t, runner);
  }
}

void TransferEngine::EndRunner(Transfer* t, uint32_t runner, Time end) {
  const uint32_t index = t->plan_->runners[runner].member;
  Transfer::Member& member = t->members_[index];
  member.end = std::max(member.end, end);
  if (--member.runners_left > 0) return;
  --t->members_left_;
  listener_->OnMemberEnd(t, index, member.end, member.start_known);
  CheckDrained(t);
}

// Slices that are filled and for which the receiver has room go to the NIC. A PCIe link slower than
// the cable holds the message back, so that its last byte leaves when it has come over PCIe.
void TransferEngine::Post(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::Flow& flow = t->flows_[connection];
  while (flow.posted < flow.filled && flow.posted < flow.cleared) {
    const int64_t wire = t->stamp_[connection * plan.slots + flow.posted % plan.slots].ps();
    ++flow.posted;
    const Time from = now + plan.proxy;
    Time begin;
    Time end = ports_.Take(c.nic, from, wire, &begin);
    if (c.gpu_dma != kNoPort) end = std::max(end, ports_.Take(c.gpu_dma, from, wire, &begin));
    const Time launch = std::max(from, end - ports_.map().nic_wire().For(wire));
    events_.Push({launch, t->key_, Kind::kLaunch, connection, t});
  }
}

Message TransferEngine::MakeMessage(const Transfer& t, const LocalConnection& c, int64_t bytes,
                                    bool credit) {
  Message message;
  message.id = next_message_++;
  message.source = host_;
  message.destination = c.remote_host;
  message.source_nic = static_cast<int16_t>(c.local_nic);
  message.destination_nic = static_cast<int16_t>(c.remote_nic);
  message.flow = c.flow;
  message.size = Bytes(std::max<int64_t>(bytes, 1));
  message.tag = MessageTag{t.key_, c.plan_connection, credit}.Pack();
  return message;
}

void TransferEngine::Launch(Transfer* t, uint32_t connection) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Flow& flow = t->flows_[connection];
  const int64_t wire = t->stamp_[connection * plan.slots + flow.launched % plan.slots].ps();
  ++flow.launched;
  Message message = MakeMessage(*t, plan.connections[connection], wire, /*credit=*/false);
  message.cookie = static_cast<uint64_t>(flow.start_known.ps());
  listener_->OnMessage(message);
}

void TransferEngine::SendCredit(Transfer* t, uint32_t connection) {
  const LocalPlan& plan = *t->plan_;
  Message message = MakeMessage(*t, plan.connections[connection], plan.clear_to_send_bytes,
                                /*credit=*/true);
  message.cookie = static_cast<uint64_t>(t->flows_[connection].start_known_back.ps());
  listener_->OnMessage(message);
}

void TransferEngine::OnDelivered(Transfer* t, uint32_t connection, const Message& message,
                                 Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::Flow& flow = t->flows_[connection];
  const Time known = Time::Ps(static_cast<int64_t>(message.cookie));
  if (MessageTag::Unpack(message.tag).credit) {
    // The first says that every slot is free, each later one that one more is.
    flow.cleared += flow.cleared == 0 ? plan.slots : 1;
    flow.start_known_back = std::max(flow.start_known_back, known);
    return Post(t, connection, now);
  }
  const int64_t wire = message.size.count();
  const Time began = std::max(Time(), now - ports_.map().nic_wire().For(wire));
  Time begin;
  Time there = std::max(now, ports_.Take(c.nic, began, wire, &begin));
  if (c.gpu_dma != kNoPort) there = std::max(there, ports_.Take(c.gpu_dma, began, wire, &begin));
  t->stamp_[connection * plan.slots + flow.sent % plan.slots] = there + plan.proxy;
  flow.start_known = std::max(flow.start_known, known);
  ++flow.sent;
  TrySchedule(t, c.receiver);
}

void TransferEngine::OnSent(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Flow& flow = t->flows_[connection];
  t->room_[connection * plan.slots + flow.taken % plan.slots] = now;
  ++flow.taken;
  --t->net_left;
  TrySchedule(t, plan.connections[connection].sender);
  CheckDrained(t);
}

void TransferEngine::CheckDrained(Transfer* t) {
  if (t->members_left_ == 0 && t->net_left == 0) listener_->OnDrained(t);
}

std::vector<Transfer::Waiting> Transfer::WaitingOn() const {
  std::vector<Waiting> out;
  const LocalPlan& plan = *plan_;
  for (size_t r = 0; r < runners_.size(); ++r) {
    const Runner& runner = runners_[r];
    if (!runner.started || runner.step == plan.runners[r].step_end) continue;
    const int member = plan.members[plan.runners[r].member].member;
    const LocalStep& step = plan.steps[runner.step];
    for (uint32_t i = 0; i < step.receive_count; ++i) {
      const uint32_t c = plan.operands[step.receive_begin + i];
      const Connection& connection = plan.plan->connections[plan.connections[c].plan_connection];
      if (flows_[c].sent == flows_[c].taken) out.push_back({member, connection.from, true});
    }
    for (uint32_t i = 0; i < step.send_count; ++i) {
      const uint32_t c = plan.operands[step.send_begin + i];
      const Connection& connection = plan.plan->connections[plan.connections[c].plan_connection];
      if (flows_[c].sent - flows_[c].taken >= plan.slots) {
        out.push_back({member, connection.to, false});
      }
    }
  }
  return out;
}

}  // namespace drydock
