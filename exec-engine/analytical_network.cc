#include "exec-engine/analytical_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "core/base/check.h"
#include "exec-engine/event_heap.h"
#include "exec-engine/fabric_paths.h"

namespace drydock {
namespace {

// In the order in which one host sees events of the same instant. kArrival calls no actor.
enum class EventKind : uint8_t { kTimer, kArrival, kDelivered, kSent };

struct Event {
  Time time;
  HostId host = 0;
  EventKind kind = EventKind::kTimer;
  HostId source = 0;
  uint64_t id = 0;      // timer or message
  uint32_t flight = 0;  // index into the messages under way
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.time, a.host, a.kind, a.source, a.id) <
           std::tie(b.time, b.host, b.kind, b.source, b.id);
  }
};

struct Flight {
  Message message;
  Time sent_by;  // its last byte has left the sender's NIC
  const FabricPath* path = nullptr;
};

struct FlowOnPath {
  const FabricPath* path = nullptr;
  uint32_t flow = 0;
  friend bool operator==(const FlowOnPath&, const FlowOnPath&) = default;
};
struct FlowHash {
  size_t operator()(const FlowOnPath& key) const {
    return std::hash<const void*>()(key.path) ^ key.flow * size_t{0x9e3779b97f4a7c15};
  }
};

class AnalyticalNetwork;

class AnalyticalPort final : public HostPort {
 public:
  AnalyticalPort(AnalyticalNetwork* network, HostId host) : network_(network), host_(host) {}
  Time Now() const override;
  void At(Time when, TimerId id) override;
  void Send(const Message& message) override;

 private:
  AnalyticalNetwork* network_;
  HostId host_;
};

class AnalyticalNetwork final : public Network {
 public:
  explicit AnalyticalNetwork(const Topology& topology) : topology_(topology), paths_(topology) {
    const int hosts = topology.host_count();
    for (HostId host = 0; host < hosts; ++host) ports_.emplace_back(this, host);
    timers_.resize(static_cast<size_t>(hosts));
    const int nics =
        hosts == 0 ? 0 : paths_.NicNode(hosts - 1, 0) + topology.kind_of_host(hosts - 1).nics.count;
    transmit_free_.resize(static_cast<size_t>(nics));
    receive_free_.resize(static_cast<size_t>(nics));
  }

  HostPort* port(HostId host) override { return &ports_[static_cast<size_t>(host)]; }
  Status Run(std::span<HostActor* const> actors) override;
  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    return {{"messages", messages_}, {"message bytes", bytes_}};
  }

  Time now() const { return now_; }
  void SetTimer(HostId host, Time when, TimerId id);
  void Send(HostId host, Message message);

 private:
  struct Timer {
    TimerId id = 0;
    Time when;
  };
  Time Serialisation(Bytes size, Bandwidth rate) const;
  int SourceNic(const Message& m) const { return paths_.NicNode(m.source, m.source_nic); }
  int DestinationNic(const Message& m) const {
    return paths_.NicNode(m.destination, m.destination_nic);
  }
  const Nics& NicsOf(HostId host) const { return topology_.kind_of_host(host).nics; }
  bool TakeTimer(const Event& event);
  void Fail(const Message& message);
  void Arrive(const Event& event);
  void Dispatch(const Event& event, std::span<HostActor* const> actors);

  const Topology& topology_;
  FabricPaths paths_;
  std::vector<AnalyticalPort> ports_;
  std::vector<std::vector<Timer>> timers_;                       // pending, by host
  std::vector<Time> transmit_free_, receive_free_;               // by NIC
  std::unordered_map<const FabricPath*, Time> way_free_;         // only looked up
  std::unordered_map<FlowOnPath, Time, FlowHash> head_of_flow_;  // only looked up
  std::vector<Flight> flights_;
  std::vector<uint32_t> free_flights_;
  EventHeap<Event> events_;
  Time now_;
  int64_t messages_ = 0, bytes_ = 0;
  std::string failure_;  // why the run must end; empty if it need not
};

Time AnalyticalPort::Now() const { return network_->now(); }
void AnalyticalPort::At(Time when, TimerId id) { network_->SetTimer(host_, when, id); }
void AnalyticalPort::Send(const Message& message) { network_->Send(host_, message); }

void AnalyticalNetwork::SetTimer(HostId host, Time when, TimerId id) {
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
  events_.Push({when, host, EventKind::kTimer, host, id, 0});
}

// A timer that was moved leaves its old event behind; only the one at its present time counts.
bool AnalyticalNetwork::TakeTimer(const Event& event) {
  std::vector<Timer>& pending = timers_[static_cast<size_t>(event.host)];
  for (Timer& timer : pending) {
    if (timer.id != event.id) continue;
    if (timer.when != event.time) return false;
    timer = pending.back();
    pending.pop_back();
    return true;
  }
  return false;
}

Time AnalyticalNetwork::Serialisation(Bytes size, Bandwidth rate) const {
  const Transport& transport = topology_.transport;
  const int64_t packets = (size.count() + transport.mtu.count() - 1) / transport.mtu.count();
  return rate.TimeFor(size + transport.header * packets);
}

// The first that cannot be sent ends the run.
void AnalyticalNetwork::Fail(const Message& message) {
  if (!failure_.empty()) return;
  failure_ = fmt::format(
      "NIC {} of host {} cannot reach NIC {} of host {} over the fabric, but has a message for it "
      "at {}",
      message.source_nic, message.source, message.destination_nic, message.destination,
      ToString(now_));
}

void AnalyticalNetwork::Send(HostId host, Message message) {
  CHECK(message.source == host && SourceNic(message) != DestinationNic(message) &&
        message.size.count() > 0);
  const FabricPath& path = paths_.Between(SourceNic(message), DestinationNic(message));
  if (path.switches < 0) return Fail(message);
  message.sent = now_;
  ++messages_;
  bytes_ += message.size.count();
  const Nics& nics = NicsOf(host);
  Time& free = transmit_free_[static_cast<size_t>(SourceNic(message))];
  const Time start = std::max(now_ + nics.latency, free);
  free = start + Serialisation(message.size, nics.rate);
  const Bytes packet = std::min(message.size, topology_.transport.mtu);
  // A short message does not overtake those of its flow: they are in the same queues.
  Time& head = head_of_flow_[{&path, message.flow}];
  head =
      std::max(head, start + path.latency + Serialisation(packet, path.bottleneck) * path.switches);
  uint32_t flight = 0;
  if (free_flights_.empty()) {
    flight = static_cast<uint32_t>(flights_.size());
    flights_.emplace_back();
  } else {
    flight = free_flights_.back();
    free_flights_.pop_back();
  }
  flights_[flight] = {message, free, &path};
  events_.Push({head, message.destination, EventKind::kArrival, host, message.id, flight});
}

// The first packet is at the receiver's NIC: the message takes its place in the NIC's queue. Its
// last byte cannot be there before it was sent and has travelled. A cable on the way that is slower
// than the receiver's own holds up what comes the same way, and nothing else.
void AnalyticalNetwork::Arrive(const Event& event) {
  const Flight& flight = flights_[event.flight];
  const Nics& nics = NicsOf(event.host);
  const Bytes size = flight.message.size;
  const Bandwidth rate = std::min(nics.rate, flight.path->last);
  Time& free = receive_free_[static_cast<size_t>(DestinationNic(flight.message))];
  free = std::max(event.time, free) + Serialisation(size, rate);
  Time there = std::max(free, flight.sent_by + flight.path->latency);
  if (flight.path->bottleneck < rate) {
    Time& way = way_free_[flight.path];
    way = std::max(event.time, way) + Serialisation(size, flight.path->bottleneck);
    there = std::max(there, way);
  }
  const Time delivered = there + nics.latency;
  events_.Push(
      {delivered, event.host, EventKind::kDelivered, event.source, event.id, event.flight});
}

void AnalyticalNetwork::Dispatch(const Event& event, std::span<HostActor* const> actors) {
  HostActor* actor = actors[static_cast<size_t>(event.host)];
  switch (event.kind) {
    case EventKind::kTimer:
      if (TakeTimer(event)) actor->OnTimer(event.id);
      return;
    case EventKind::kArrival:
      return Arrive(event);
    case EventKind::kDelivered: {
      const Flight flight = flights_[event.flight];
      const Time acknowledged = event.time + flight.path->latency;
      events_.Push({acknowledged, flight.message.source, EventKind::kSent, event.source, event.id,
                    event.flight});
      return actor->OnDelivered(flight.message);
    }
    case EventKind::kSent: {
      const Message message = flights_[event.flight].message;
      free_flights_.push_back(event.flight);
      return actor->OnSent(message);
    }
  }
}

Status AnalyticalNetwork::Run(std::span<HostActor* const> actors) {
  CHECK(actors.size() == ports_.size());
  for (HostActor* actor : actors) actor->Start();
  while (failure_.empty() && !events_.empty()) {
    const Event event = events_.Pop();
    now_ = event.time;
    Dispatch(event, actors);
  }
  return failure_.empty() ? OkStatus() : Error(failure_);
}

}  // namespace

Result<std::unique_ptr<Network>> MakeAnalyticalNetwork(const Topology& topology,
                                                       const NetworkOptions& options) {
  if (options.processes->count() > 1) {
    return Error("the analytical network runs in one process; leave out mpirun");
  }
  if (options.log_interval != Time()) {
    return Error("the analytical network keeps no log of links; it needs the packet network");
  }
  if (!topology.faults.empty()) {
    return Error(
        "the cluster has 'faults', which the analytical network does not know; they need the "
        "packet network");
  }
  return std::unique_ptr<Network>(std::make_unique<AnalyticalNetwork>(topology));
}

}  // namespace drydock
