#include "exec-engine/networks/serial_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace drydock {
namespace {

// Bits of Event::order, from the top: belongs to a host, host, kind, source.
constexpr int kSourceBits = 30;
constexpr int kHostShift = kSourceBits + 2;
constexpr uint64_t kOfHost = uint64_t{1} << 63;

}  // namespace

SerialNetwork::SerialNetwork(int hosts, const ReplicaMap* replicas)
    : replicas_(replicas), next_timers_(static_cast<size_t>(hosts)) {
  CHECK(hosts < 1 << kSourceBits);
  for (HostId host = 0; host < hosts; ++host) ports_.emplace_back(this, host);
  timers_.resize(static_cast<size_t>(hosts));
}

HostId SerialNetwork::ReceiverOf(Slot slot) const {
  const HostId destination = flights_[slot].message.destination;
  return replicas_ == nullptr ? destination : replicas_->RepresentativeOf(destination);
}

HostId SerialNetwork::SourceAtReceiver(Slot slot) const {
  const Flight& flight = flights_[slot];
  return replicas_ == nullptr
             ? flight.message.source
             : replicas_->SourceAtReceiver(flight.message, flight.folded_connection);
}

uint64_t SerialNetwork::OrderOf(HostId host, Kind kind, HostId source) {
  return kOfHost | static_cast<uint64_t>(host) << kHostShift |
         static_cast<uint64_t>(kind) << kSourceBits | static_cast<uint64_t>(source);
}

void SerialNetwork::Schedule(Time when, uint64_t subject, uint64_t id, uint32_t detail) {
  CHECK(when >= now_);
  events_.Push({when, subject, id, detail});
}

void SerialNetwork::SetTimer(HostId host, Time when, TimerId id) {
  CHECK(when >= now_);
  std::vector<Timer>& pending = timers_[static_cast<size_t>(host)];
  const auto it = std::find_if(pending.begin(), pending.end(),
                               [id](const Timer& timer) { return timer.id == id; });
  if (it == pending.end()) {
    pending.push_back({id, when});
  } else if (it->when == when) {
    return;
  } else {
    it->when = when;
  }
  FindNextTimer(host);
}

void SerialNetwork::FindNextTimer(HostId host) {
  std::vector<Timer>& pending = timers_[static_cast<size_t>(host)];
  const auto sooner = [](const Timer& a, const Timer& b) {
    return a.when != b.when ? a.when < b.when : a.id < b.id;
  };
  if (pending.size() > 1) {
    std::iter_swap(pending.begin(), std::min_element(pending.begin(), pending.end(), sooner));
  }
  const Time next = pending.empty() ? Time::Max() : pending.front().when;
  const auto slot = static_cast<uint32_t>(host);
  if (next != next_timers_.time_of(slot)) next_timers_.Set(slot, next);
}

void SerialNetwork::RunTimer() {
  const auto host = static_cast<HostId>(next_timers_.slot());
  std::vector<Timer>& pending = timers_[static_cast<size_t>(host)];
  now_ = pending.front().when;
  present_ = OrderOf(host, Kind::kTimer, host);
  const TimerId id = pending.front().id;
  pending.front() = pending.back();
  pending.pop_back();
  actors_[static_cast<size_t>(host)]->OnTimer(id);
  FindNextTimer(host);  // after the callback, because most callbacks set a timer again
}

// At one time, a timer runs before the messages of its host, but after the messages of hosts with
// lower numbers and after the events of the network.
bool SerialNetwork::TimerIsNext() const {
  const Time timer = next_timers_.time();
  if (events_.empty()) return timer < Time::Max();
  const Event& event = events_.top();
  if (timer != event.time) return timer < event.time;
  const auto host = static_cast<HostId>(next_timers_.slot());
  return OrderOf(host, Kind::kTimer, host) < event.order;
}

Time SerialNetwork::next_time() const {
  return events_.empty() ? next_timers_.time() : std::min(next_timers_.time(), events_.top().time);
}

void SerialNetwork::Send(HostId host, const Message& message, uint32_t folded_connection) {
  CHECK(message.source == host && message.size.count() > 0);
  CHECK(message.destination != host || message.destination_nic != message.source_nic ||
        folded_connection != kNotFolded);
  const int64_t replicas =
      replicas_ == nullptr ? 1 : replicas_->MessagesFor(message, folded_connection);
  messages_ += replicas;
  bytes_ += replicas * message.size.count();
  Slot slot = 0;
  if (free_flights_.empty()) {
    slot = static_cast<Slot>(flights_.size());
    flights_.emplace_back();
  } else {
    slot = free_flights_.back();
    free_flights_.pop_back();
  }
  flights_[slot] = {message, message.control ? 1 : 2, folded_connection};
  flights_[slot].message.sent = now_;
  last_route_ = OnSend(slot);
}

void SerialNetwork::Complete(Slot slot, Time delivered, Time acknowledged) {
  CHECK(delivered >= now_ && acknowledged >= now_);
  const Message& m = flights_[slot].message;
  const uint64_t order = OrderOf(ReceiverOf(slot), Kind::kDelivered, SourceAtReceiver(slot));
  events_.Push({delivered, order, m.id, slot});
  if (m.control) return;
  events_.Push({acknowledged, OrderOf(m.source, Kind::kSent, m.source), m.id, slot});
}

Message SerialNetwork::TakeFlight(Slot slot) {
  if (--flights_[slot].callbacks_left == 0) free_flights_.push_back(slot);
  return flights_[slot].message;  // a copy, because the callback may send and reuse the slot
}

void SerialNetwork::Deliver(HostActor* actor, Slot slot) {
  if (replicas_ == nullptr) return actor->OnDelivered(TakeFlight(slot));
  const uint32_t folded_connection = flights_[slot].folded_connection;
  actor->OnDelivered(replicas_->AtReceiver(TakeFlight(slot), folded_connection));
}

void SerialNetwork::Dispatch(const Event& event) {
  if ((event.order & kOfHost) == 0) return OnEvent(event.order, event.slot);
  const auto host = static_cast<HostId>((event.order & ~kOfHost) >> kHostShift);
  HostActor* actor = actors_[static_cast<size_t>(host)];
  switch (static_cast<Kind>(event.order >> kSourceBits & 3)) {
    case Kind::kDelivered:
      return Deliver(actor, event.slot);
    case Kind::kSent:
      return actor->OnSent(TakeFlight(event.slot));
    case Kind::kTimer:
      CHECK_NOTE(false, "a timer is not an event");
  }
}

void SerialNetwork::FetchAhead(const Event& event) const {
  if ((event.order & kOfHost) == 0) return OnEventNears(event.order, event.slot);
  const Flight* flight = &flights_[event.slot];
  __builtin_prefetch(flight, 1);
  __builtin_prefetch(reinterpret_cast<const char*>(flight + 1) - 1, 1);
}

Status SerialNetwork::Run(std::span<HostActor* const> actors) {
  CHECK(actors.size() == ports_.size());
  actors_ = actors;
  OnStart();
  for (HostActor* actor : actors) {
    if (actor != nullptr) actor->Start();
  }
  while (failure_.empty()) {
    if (next_time() > now_) OnEndOfInstant();
    if (stopped_) return OkStatus();
    if (next_time() == Time::Max()) break;
    RunNext();
  }
  if (!failure_.empty()) return Error(failure_);
  return OnEnd();
}

void SerialNetwork::RunNext() {
  if (TimerIsNext()) return RunTimer();
  const Event event = events_.Pop();
  if (!events_.empty()) FetchAhead(events_.top());
  now_ = event.time;
  present_ = event.order;
  Dispatch(event);
}

// Returns whether the next timer or event comes before this one.
bool SerialNetwork::ComesBefore(Time time, uint64_t order) const {
  const Time next = next_time();
  if (next != time) return next < time;
  if (next == Time::Max()) return false;
  const auto host = static_cast<HostId>(next_timers_.slot());
  return (TimerIsNext() ? OrderOf(host, Kind::kTimer, host) : events_.top().order) < order;
}

// The wheel of events cannot go back, so another one takes its place meanwhile.
void SerialNetwork::RunAgain(Time from, const std::function<void()>& begin) {
  const Time now = now_;
  const uint64_t present = present_;
  EventWheel<Event> later;
  std::swap(events_, later);
  now_ = from;
  begin();
  while (ComesBefore(now, present)) RunNext();
  std::swap(events_, later);
  while (!later.empty()) events_.Push(later.Pop());
  now_ = now;
  present_ = present;
}

void SerialNetwork::AppendEvents(RelativeState* out) const {
  for (const std::vector<Timer>& pending : timers_) {
    out->Add(static_cast<int64_t>(pending.size()));
    for (const Timer& timer : pending) {
      out->Add(static_cast<int64_t>(timer.id));
      out->AddTime(timer.when);
    }
  }
  for (const Event& event : events_.Sorted()) {
    const Flight& flight = flights_[event.slot];
    out->AddTime(event.time);
    out->Add(static_cast<int64_t>(event.order));
    out->AddMessage(flight.message);
    out->Add(flight.callbacks_left);
    out->Add(flight.folded_connection);
    AppendFlight(event.slot, out);
  }
}

void SerialNetwork::Fail(std::string why) {
  if (failure_.empty()) failure_ = std::move(why);
}

void SerialNetwork::FailUnreachable(const Message& message) {
  Fail(fmt::format(
      "NIC {} of host {} cannot reach NIC {} of host {} over the fabric, but has a message for it "
      "at {}",
      message.source_nic, message.source, message.destination_nic, message.destination,
      ToString(now_)));
}

}  // namespace drydock
