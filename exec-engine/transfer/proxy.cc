#include "exec-engine/transfer/proxy.h"

#include <algorithm>

namespace drydock {
namespace {

// Returns true if the slices [first, first + count) of a connection to or from the switches hold
// the piece.
bool HoldsPiece(uint32_t piece, uint32_t first, uint32_t count) {
  return piece >= first && piece - first < count;
}

}  // namespace

void Proxy::OnFilled(Transfer* t, uint32_t connection, Time now) {
  ++t->connections_[connection].filled;
  Post(t, connection, now);
}

// Posts the slices that are filled and for which the receiver has a slot.
void Proxy::Post(Transfer* t, uint32_t connection, Time now) {
  const LocalConnection& c = t->plan_->connections[connection];
  if (c.link == LinkKind::kToSwitch) return PostPieces(t, connection, now);
  Transfer::ConnectionState& state = t->connections_[connection];
  while (state.posted < state.filled && state.posted < state.cleared) {
    PostSlice(t, connection, state.posted++, now);
  }
}

// Posts to the switches, piece by piece and in order. A contribution must be filled. If the member
// gets the sum of the piece, it must have room for the sum.
void Proxy::PostPieces(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::ConnectionState& state = t->connections_[connection];
  for (; state.posted < c.pieces; ++state.posted) {
    const bool sends = HoldsPiece(state.posted, c.first, c.sent);
    if (sends && state.filled <= state.posted - c.first) return;
    if (c.from_switch != kElsewhere) {
      const LocalConnection& sums = plan.connections[c.from_switch];
      const bool receives = HoldsPiece(state.posted, sums.first, sums.received);
      if (receives && state.cleared <= state.posted - sums.first) return;
    }
    if (sends) {
      PostSlice(t, connection, state.posted - c.first, now);
    } else {
      state.launch_after = std::max(state.launch_after, now + plan.works[c.work].proxy);
      events_.Push({state.launch_after, t->key_, TransferEvent::Kind::kLaunch, connection, t});
    }
  }
}

// A PCIe link that is slower than the cable delays the message: its last byte leaves when it has
// crossed PCIe.
void Proxy::PostSlice(Transfer* t, uint32_t connection, uint32_t slice, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  const LocalWork& work = plan.works[c.work];
  const Transfer::PostedSlice& posted = t->posted_[t->SlotOf(connection, slice, c.slots)];
  const Time from = now + work.proxy;
  Time begin;
  Time end = ports_.TakeNic(c.nic, from, posted.wire, posted.merged, &begin);
  if (c.gpu_dma != kNoPort) end = std::max(end, ports_.Take(c.gpu_dma, from, posted.wire, &begin));
  Time launch = std::max(from, end - ports_.map().nic_wire().For(posted.wire));
  if (c.link == LinkKind::kToSwitch) {  // pieces leave in their order
    launch = std::max(launch, t->connections_[connection].launch_after);
    t->connections_[connection].launch_after = launch;
  }
  events_.Push({launch, t->key_, TransferEvent::Kind::kLaunch, connection, t});
}

void Proxy::Launch(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::ConnectionState& state = t->connections_[connection];
  const uint32_t launched = state.launched++;
  if (c.link == LinkKind::kToSwitch && !HoldsPiece(launched, c.first, c.sent)) {
    return SendMessage(t, connection, plan.clear_to_send_bytes, /*credit=*/true,
                       std::max(state.start_known, state.start_known_back));
  }
  Transfer::PostedSlice& posted = t->posted_[t->SlotOf(connection, launched - c.first, c.slots)];
  if (LoopsInNic(c)) {
    posted.start_known = state.start_known;
    const Time there =
        now + ports_.map().nic_latency() * 2 + ports_.map().nic_wire().For(posted.wire);
    return events_.Push({there, t->key_, TransferEvent::Kind::kLooped, connection, t});
  }
  SendMessage(t, connection, posted.wire, /*credit=*/false, state.start_known);
}

// A slice for another GPU of the host that is served by the same NIC loops back inside the NIC at
// the rate of the cable.
void Proxy::EndLoop(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  const Transfer::PostedSlice& posted =
      t->posted_[t->SlotOf(connection, t->connections_[connection].taken, c.slots)];
  Arrive(t, c.other_end, posted.wire, posted.start_known, now);
  OnSent(t, connection, now);
}

void Proxy::SendMessage(Transfer* t, uint32_t connection, int64_t bytes, bool credit, Time known) {
  const LocalConnection& c = t->plan_->connections[connection];
  Transfer::ConnectionState& state = t->connections_[connection];
  Message message;
  message.id = next_message_++;
  message.source = host_;
  message.destination = c.remote_host;
  message.source_nic = static_cast<int16_t>(c.local_nic);
  message.destination_nic = static_cast<int16_t>(c.remote_nic);
  message.flow = c.flow;
  message.size = Bytes(std::max<int64_t>(bytes, 1));
  message.control = credit;
  message.cookie = static_cast<uint64_t>(known.ps());
  message.route = state.route;
  if (c.link == LinkKind::kNet) {  // aggregation nodes have no places
    message.source_place = TransferPlace{t->number_, connection}.Pack();
    message.destination_place = state.other_end;
  }
  MessageTag{t->key_, c.plan_connection, credit}.Write(&message);
  state.route = listener_.OnMessage(message, c.folded);
}

// A slot is free. A slot for a sum lets the member post its contribution to the sum.
void Proxy::GiveCredit(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  const Time known = t->connections_[connection].start_known_back;
  if (c.link == LinkKind::kFromSwitch) return TakeCredit(t, c.to_switch, known, now);
  if (LoopsInNic(c)) return TakeCredit(t, c.other_end, known, now);
  SendMessage(t, connection, plan.clear_to_send_bytes, /*credit=*/true, known);
}

// The first clear-to-send says that all slots are free, each later one that one more slot is free.
void Proxy::TakeCredit(Transfer* t, uint32_t connection, Time known, Time now) {
  const LocalPlan& plan = *t->plan_;
  Transfer::ConnectionState& state = t->connections_[connection];
  state.cleared += state.cleared == 0 ? plan.connections[connection].slots : 1;
  state.start_known_back = std::max(state.start_known_back, known);
  Post(t, connection, now);
}

void Proxy::OnDelivered(Transfer* t, uint32_t connection, const Message& message, Time now) {
  const Time known = Time::Ps(static_cast<int64_t>(message.cookie));
  t->connections_[connection].other_end = message.source_place;
  if (MessageTag::Of(message).credit) return TakeCredit(t, connection, known, now);
  Arrive(t, connection, message.size.count(), known, now);
}

void Proxy::Arrive(Transfer* t, uint32_t connection, int64_t wire, Time known, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  const LocalWork& work = plan.works[c.work];
  Transfer::ConnectionState& state = t->connections_[connection];
  const Time began = std::max(Time(), now - ports_.map().nic_wire().For(wire));
  Time begin;
  Time there = std::max(now, ports_.Take(c.nic, began, wire, &begin));
  if (c.gpu_dma != kNoPort) there = std::max(there, ports_.Take(c.gpu_dma, began, wire, &begin));
  t->there_[t->SlotOf(connection, state.sent, c.slots)] = there + work.proxy;
  state.start_known = std::max(state.start_known, known);
  ++state.sent;
  blocks_.TrySchedule(t, c.receiver);
}

void Proxy::OnSent(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::ConnectionState& state = t->connections_[connection];
  t->free_[t->SlotOf(connection, state.taken++, c.slots)] = now;
  --t->net_left_;
  blocks_.TrySchedule(t, c.sender);
  if (t->drained()) listener_.OnDrained(t);
}

}  // namespace drydock
