// The proxy's part of TransferEngine: what passes between a thread block and the network.
#include <algorithm>

#include "exec-engine/transfer/transfer_engine.h"

namespace drydock {

namespace {

constexpr int kConnectionBits = 16;
constexpr uint32_t kMostConnections = (1 << kConnectionBits) - 1;

// Zero where it would not fit.
uint32_t PlaceOf(uint32_t transfer, uint32_t connection) {
  const bool fits = transfer <= kMostConnections && connection <= kMostConnections;
  return fits ? transfer << kConnectionBits | connection : 0;
}

// The slices [first, first + count) of a connection to or from the switches hold these pieces.
bool IsPiece(uint32_t piece, uint32_t first, uint32_t count) {
  return piece >= first && piece - first < count;
}

}  // namespace

// Slices that are filled and for which the receiver has room go to the NIC.
void TransferEngine::Post(Transfer* t, uint32_t connection, Time now) {
  const LocalConnection& c = t->plan_->connections[connection];
  if (c.link == LinkKind::kToSwitch) return PostPieces(t, connection, now);
  Transfer::Flow& flow = t->flows_[connection];
  while (flow.posted < flow.filled && flow.posted < flow.cleared) {
    PostSlice(t, connection, flow.posted++, now);
  }
}

// To the switches, piece by piece: what this member sends once it is filled, else that it has room;
// either once there is room for the sum, if the member gets it.
void TransferEngine::PostPieces(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::Flow& flow = t->flows_[connection];
  for (; flow.posted < c.pieces; ++flow.posted) {
    const bool sends = IsPiece(flow.posted, c.first, c.sent);
    if (sends && flow.filled <= flow.posted - c.first) return;
    if (c.way_out != kElsewhere) {
      const LocalConnection& sums = plan.connections[c.way_out];
      const bool receives = IsPiece(flow.posted, sums.first, sums.received);
      if (receives && flow.cleared <= flow.posted - sums.first) return;
    }
    if (sends) {
      PostSlice(t, connection, flow.posted - c.first, now);
    } else {
      flow.launch_after = std::max(flow.launch_after, now + plan.works[c.work].proxy);
      events_.Push({flow.launch_after, t->key_, Kind::kLaunch, connection, t});
    }
  }
}

// A PCIe link slower than the cable holds the message back, so that its last byte leaves when it
// has come over PCIe.
void TransferEngine::PostSlice(Transfer* t, uint32_t connection, uint32_t slice, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  const LocalWork& work = plan.works[c.work];
  const auto [wire, merged] =
      Transfer::Posted::Of(t->stamp_[connection * plan.most_slots + slice % work.slots]);
  const Time from = now + work.proxy;
  Time begin;
  Time end = ports_.TakeNic(c.nic, from, wire, merged, &begin);
  if (c.gpu_dma != kNoPort) end = std::max(end, ports_.Take(c.gpu_dma, from, wire, &begin));
  Time launch = std::max(from, end - ports_.map().nic_wire().For(wire));
  if (c.link == LinkKind::kToSwitch) {  // pieces go in their order
    launch = std::max(launch, t->flows_[connection].launch_after);
    t->flows_[connection].launch_after = launch;
  }
  events_.Push({launch, t->key_, Kind::kLaunch, connection, t});
}

void TransferEngine::SendMessage(Transfer* t, uint32_t connection, int64_t bytes, bool credit,
                                 Time known) {
  const LocalConnection& c = t->plan_->connections[connection];
  Transfer::Flow& flow = t->flows_[connection];
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
  message.route = flow.route;
  if (c.link == LinkKind::kNet) {  // switches that reduce know no places
    message.source_place = PlaceOf(t->number_, connection);
    message.destination_place = flow.other_end;
  }
  MessageTag{t->key_, c.plan_connection, credit}.Write(&message);
  flow.route = listener_->OnMessage(message, c.folded);
}

TransferEngine::Place TransferEngine::Find(uint32_t place, CallKey key) const {
  const uint32_t number = place >> kConnectionBits;
  if (number == 0) return {};
  Transfer* t = pool_[number - 1].get();
  if (t->key_ != key) return {};
  return {t, place & kMostConnections};
}

bool TransferEngine::LoopsInNic(const LocalConnection& c) const {
  return c.remote_host == host_ && c.remote_nic == c.local_nic && c.folded == 0;
}

// A slice on its way to another GPU of the host through one NIC does not leave the NIC: it goes
// round at the speed of the cable.
void TransferEngine::EndLoop(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  const uint32_t slot = t->flows_[connection].taken % plan.works[c.work].slots;
  const int64_t wire = Transfer::Posted::Of(t->stamp_[connection * plan.most_slots + slot]).wire;
  Arrive(t, c.other_end, wire, t->room_[c.other_end * plan.most_slots + slot], now);
  OnSent(t, connection, now);
}

void TransferEngine::Launch(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::Flow& flow = t->flows_[connection];
  const uint32_t launched = flow.launched++;
  if (c.link == LinkKind::kToSwitch && !IsPiece(launched, c.first, c.sent)) {
    return SendMessage(t, connection, plan.clear_to_send_bytes, /*credit=*/true,
                       std::max(flow.start_known, flow.start_known_back));
  }
  const uint32_t slot = (launched - c.first) % plan.works[c.work].slots;
  const int64_t wire = Transfer::Posted::Of(t->stamp_[connection * plan.most_slots + slot]).wire;
  if (LoopsInNic(c)) {
    t->room_[c.other_end * plan.most_slots + slot] = flow.start_known;
    const Time there = now + ports_.map().nic_latency() * 2 + ports_.map().nic_wire().For(wire);
    return events_.Push({there, t->key_, Kind::kLooped, connection, t});
  }
  SendMessage(t, connection, wire, /*credit=*/false, flow.start_known);
}

// Room for one more slice. Room for a sum lets go what this member tells the switches of it.
void TransferEngine::GiveCredit(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  if (plan.connections[connection].link == LinkKind::kFromSwitch) {
    return TakeCredit(t, plan.connections[connection].way_in,
                      t->flows_[connection].start_known_back, now);
  }
  const LocalConnection& c = plan.connections[connection];
  if (LoopsInNic(c)) {
    return TakeCredit(t, c.other_end, t->flows_[connection].start_known_back, now);
  }
  SendMessage(t, connection, plan.clear_to_send_bytes, /*credit=*/true,
              t->flows_[connection].start_known_back);
}

// The first says that every slot is free, each later one that one more is.
void TransferEngine::TakeCredit(Transfer* t, uint32_t connection, Time known, Time now) {
  const LocalPlan& plan = *t->plan_;
  Transfer::Flow& flow = t->flows_[connection];
  flow.cleared += flow.cleared == 0 ? plan.works[plan.connections[connection].work].slots : 1;
  flow.start_known_back = std::max(flow.start_known_back, known);
  Post(t, connection, now);
}

void TransferEngine::OnDelivered(Transfer* t, uint32_t connection, const Message& message,
                                 Time now) {
  const Time known = Time::Ps(static_cast<int64_t>(message.cookie));
  t->flows_[connection].other_end = message.source_place;
  if (MessageTag::Of(message).credit) return TakeCredit(t, connection, known, now);
  Arrive(t, connection, message.size.count(), known, now);
}

void TransferEngine::Arrive(Transfer* t, uint32_t connection, int64_t wire, Time known, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  const LocalWork& work = plan.works[c.work];
  Transfer::Flow& flow = t->flows_[connection];
  const Time began = std::max(Time(), now - ports_.map().nic_wire().For(wire));
  Time begin;
  Time there = std::max(now, ports_.Take(c.nic, began, wire, &begin));
  if (c.gpu_dma != kNoPort) there = std::max(there, ports_.Take(c.gpu_dma, began, wire, &begin));
  t->stamp_[connection * plan.most_slots + flow.sent % work.slots] = there + work.proxy;
  flow.start_known = std::max(flow.start_known, known);
  ++flow.sent;
  TrySchedule(t, c.receiver);
}

void TransferEngine::OnSent(Transfer* t, uint32_t connection, Time now) {
  const LocalPlan& plan = *t->plan_;
  const LocalConnection& c = plan.connections[connection];
  Transfer::Flow& flow = t->flows_[connection];
  const uint32_t slot = flow.taken++ % plan.works[c.work].slots;
  t->room_[connection * plan.most_slots + slot] = now;
  --t->net_left;
  TrySchedule(t, c.sender);
  CheckDrained(t);
}

}  // namespace drydock
