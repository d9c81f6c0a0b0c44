#include "exec-engine/networks/fluid/fluid_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/containers/hash.h"
#include "core/containers/index_table.h"
#include "core/model/fabric/connection_shape.h"
#include "core/network/flow_ends.h"
#include "exec-engine/networks/fluid/fluid_folding.h"
#include "exec-engine/networks/fluid/fluid_links.h"
#include "exec-engine/networks/fluid/fluid_pairs.h"
#include "exec-engine/networks/fluid/fluid_paths.h"
#include "exec-engine/networks/fluid/fluid_settings.h"
#include "exec-engine/networks/fluid/fluid_sharing.h"
#include "exec-engine/networks/serial_network.h"

namespace drydock {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kCacheLine = 64;
constexpr size_t kBusiestLinks = 20;  // a bound on the report; a fabric can have 100,000 links

struct NameHash {
  size_t operator()(const FlowEnds& name) const {
    const auto source = static_cast<uint32_t>(name.source);
    const auto destination = static_cast<uint32_t>(name.destination);
    const auto nics = static_cast<uint32_t>(name.source_nic << 16 | uint16_t(name.destination_nic));
    return HashOf(uint64_t{source} << 32 | destination, uint64_t{nics} << 32 | name.flow);
  }
};

// The messages of a connection complete in the order in which they are sent.
struct Connection {
  uint32_t first_pair = 0;               // of its queue pairs, which have consecutive numbers
  uint64_t sent = 0;                     // data messages
  uint32_t first = kNone, last = kNone;  // slots of messages in flight
  Time arrival, acknowledged;            // of the last complete message
};

// The progress of a message in flight.
struct Progress {
  uint32_t connection = 0;
  uint32_t next = kNone;  // message of its connection
  uint32_t parts = 0;     // that have not left
  Time arrival, acknowledged;
};

class FluidNetwork final : public SerialNetwork, private FluidPairs::Clock {
 public:
  FluidNetwork(const Topology& topology, const FluidSettings& settings,
               const ConnectionShape& shape, const ReplicaMap* replicas)
      : SerialNetwork(topology.host_count(), replicas),
        topology_(topology),
        set_(settings),
        shape_(shape),
        map_(topology),
        paths_(map_, set_),
        pairs_(set_, paths_, FluidCapacities(map_), this),
        down_(map_.link_count(), false),
        link_bits_(map_.link_count(), 0) {
    map_.set_cut_through(set_.cut_through);
  }

  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    const FluidSharing::Counts& counts = pairs_.fabric().counts();
    return {{"messages", messages()},
            {"message bytes", message_bytes()},
            {"queue pairs", static_cast<int64_t>(pairs_.count())},
            {"rate changes", counts.solutions},
            {"rates", counts.flows},
            {"rates at once", counts.largest}};
  }

  std::vector<LinkTotal> BusiestLinks() const override {
    return FluidLinkTotals(map_, link_bits_, kBusiestLinks);
  }

 private:
  // Subjects of events, in their order within one time.
  static constexpr uint64_t kFault = 0, kReroute = 1, kQueuePair = 2, kDrain = uint64_t{1} << 32;

  void OnStart() override {
    for (uint32_t i = 0; i < topology_.faults.size(); ++i) {
      Schedule(topology_.faults[i].at, kFault, i, i);
    }
  }
  uint32_t OnSend(Slot slot) override;
  void OnEvent(uint64_t subject, uint32_t detail) override;
  void OnEventNears(uint64_t subject, uint32_t detail) const override {
    if (subject < kQueuePair || subject >= kDrain) return;
    const char* pair = reinterpret_cast<const char*>(&pairs_[detail]);
    for (size_t i = 0; i < sizeof(FluidQueuePair); i += kCacheLine) __builtin_prefetch(pair + i, 1);
  }
  void OnEndOfInstant() override { pairs_.Settle(now()); }
  Status OnEnd() override;
  void WakeAt(uint32_t pair, Time when) override { Schedule(when, kQueuePair + pair, 0, pair); }
  void DrainAt(uint32_t link, Time when) override { Schedule(when, kDrain + link, 0, link); }
  void OnPart(Slot slot, Time arrival, Time acknowledged) override;

  const Nics& NicsOf(HostId host) const { return topology_.kind_of_host(host).nics; }
  std::optional<uint32_t> FindConnection(Slot slot);
  bool AddConnection(Slot slot);
  bool ServesEveryMember(Slot slot) const {
    const uint32_t folded = folded_connection(slot);
    return folded != kNotFolded && replicas()->connection(folded).every_member;
  }
  uint32_t SendAlone(Slot slot);
  void Carry(Slot slot, uint32_t number);
  Time IdleWait(const FluidQueuePair& pair) const;
  void SendControl(Slot slot, Connection* connection);
  void EndMessages(Connection* connection);
  void CountBits(uint32_t pair);
  void ApplyFault(const Fault& fault);
  void Reroute();

  const Topology& topology_;
  const FluidSettings set_;
  const ConnectionShape shape_;
  FabricMap map_;
  const FluidPaths paths_;
  FluidPairs pairs_;
  std::vector<Connection> connections_;
  IndexTable<FlowEnds, NameHash> by_name_;
  std::vector<Progress> progress_;  // by slot
  std::vector<bool> down_;          // by link
  std::vector<int64_t> link_bits_;  // by link, of flows that ended or left the link
};

// Returns the connection of the message, and makes it if necessary. Returns nothing if no path
// exists.
std::optional<uint32_t> FluidNetwork::FindConnection(Slot slot) {
  const auto added = static_cast<uint32_t>(connections_.size());
  const uint32_t number = by_name_.FindOrAdd(FlowEndsOf(message(slot)), added);
  if (number == added && !AddConnection(slot)) return std::nullopt;
  return number;
}

bool FluidNetwork::AddConnection(Slot slot) {
  const Message& m = message(slot);
  connections_.emplace_back();
  connections_.back().first_pair = pairs_.count();
  for (uint32_t i = 0; i < shape_.queue_pairs; ++i) {
    FlowEnds flow = FlowEndsOf(m);
    flow.flow = FlowOfQueuePair(m.flow, i);
    const auto route = paths_.RouteOf(flow);
    if (!route) return false;
    FluidQueuePair pair;
    pair.route = *route;
    pair.ack_time = Time::Ps(paths_.AckTime(pair.route));
    pair.slowest_rate = paths_.SlowestRate(pair.route);
    pair.window = paths_.WindowBytes(pair.route);
    FluidPaths::Uses uses = paths_.DataUses(pair.route), acks = paths_.AckUses(pair.route);
    std::vector<ReplicaRoute> replica_routes;
    if (replicas() != nullptr)
      replica_routes = ReplicaRoutes(*replicas(), paths_, folded_connection(slot), i);
    if (!replica_routes.empty()) {
      uses = ReplicaDataUses(paths_, pair.route, replica_routes);
      acks = ReplicaAckUses(paths_, pair.route, replica_routes);
      pair.window = MeanWindowBytes(paths_, replica_routes);
      pair.extra_latency = MeanAckTime(paths_, replica_routes) - pair.ack_time;
      pair.ack_time += pair.extra_latency;
    }
    pairs_.Add(pair, uses, acks);
  }
  return true;
}

uint32_t FluidNetwork::OnSend(Slot slot) {
  const Message& m = message(slot);
  if (ServesEveryMember(slot)) return SendAlone(slot);
  const std::optional<uint32_t> number = m.route > 0 ? m.route - 1 : FindConnection(slot);
  if (!number) {
    FailUnreachable(m);
    return 0;
  }
  Carry(slot, *number);
  return *number + 1;
}

// Sends the message over connection `number`.
void FluidNetwork::Carry(Slot slot, uint32_t number) {
  const Message& m = message(slot);
  Connection& connection = connections_[number];
  if (slot >= progress_.size()) progress_.resize(slot + 1);
  // A control message whose path is down waits like data.
  const bool passes =
      m.control && connection.first == kNone && pairs_.fabric().bound(connection.first_pair) > 0;
  if (passes) return SendControl(slot, &connection);
  progress_[slot] = {number, kNone, 1, Time(), Time()};
  if (connection.first == kNone) {
    connection.first = slot;
  } else {
    progress_[connection.last].next = slot;
  }
  connection.last = slot;
  const Time ready = now() + NicsOf(m.source).latency;
  if (m.control || shape_.queue_pairs == 1) {
    return pairs_.Send(connection.first_pair, {slot, m.size.count(), ready}, now());
  }
  const auto parts = SplitMessage(m.size.count(), connection.sent++, shape_);
  progress_[slot].parts = static_cast<uint32_t>(parts.size());
  for (const MessagePart& part : parts) {
    pairs_.Send(connection.first_pair + part.queue_pair, {slot, part.bytes, ready}, now());
  }
}

// Returns the wait of a control message at a busy NIC: the rest of the present frame, on average
// half a frame, and then one frame of each sending queue pair.
Time FluidNetwork::IdleWait(const FluidQueuePair& pair) const {
  const auto busy = static_cast<int64_t>(pairs_.fabric().pairs_on(pair.route.ends.first));
  if (busy == 0) return Time();
  const FabricDirection& out = map_.direction(pair.route.ends.first);
  return Time::Ps(out.Occupancy(set_.FrameBytes()) * (2 * busy + 1) / 2);
}

// A control message does not share links: its bytes are negligible.
void FluidNetwork::SendControl(Slot slot, Connection* connection) {
  const Message& m = message(slot);
  FluidQueuePair& pair = pairs_[connection->first_pair];
  const int64_t bytes = m.size.count();
  const Time alone = set_.TimeFor(bytes, pair.slowest_rate) + pair.Tail(paths_, bytes);
  const Time arrival =
      std::max(connection->arrival, now() + NicsOf(m.source).latency + IdleWait(pair) + alone);
  connection->arrival = arrival;
  connection->acknowledged = std::max(connection->acknowledged, arrival + pair.ack_time);
  pair.sent_bits += set_.WireBytes(bytes) * 8;
  Complete(slot, arrival + NicsOf(m.destination).latency, connection->acknowledged);
}

// Sends a message of a short call in which representatives do the work of every member. The message
// shares no link and follows the earlier messages of its flow.
uint32_t FluidNetwork::SendAlone(Slot slot) {
  const Message& m = message(slot);
  const FabricPath& path = replicas()->connection(folded_connection(slot)).path;
  if (path.switches < 0) {
    FailUnreachable(m);
    return 0;
  }
  const auto next = static_cast<uint32_t>(connections_.size());
  const uint32_t number = by_name_.FindOrAdd(FlowEndsOf(m), next);
  if (number == next) connections_.emplace_back();
  Connection& connection = connections_[number];
  const Time leaves = now() + NicsOf(m.source).latency;
  connection.arrival = std::max(connection.arrival, leaves + IdleTime(set_, path, m.size.count()));
  Complete(slot, connection.arrival + NicsOf(m.destination).latency,
           connection.arrival + path.latency);
  return 0;
}

void FluidNetwork::OnEvent(uint64_t subject, uint32_t detail) {
  if (subject == kFault) return ApplyFault(topology_.faults[detail]);
  if (subject == kReroute) return Reroute();
  if (subject >= kDrain) return pairs_.OnDrain(detail, now());
  pairs_.OnWake(detail, now());
}

void FluidNetwork::OnPart(Slot slot, Time arrival, Time acknowledged) {
  Progress& progress = progress_[slot];
  progress.arrival = std::max(progress.arrival, arrival);
  progress.acknowledged = std::max(progress.acknowledged, acknowledged);
  if (--progress.parts == 0) EndMessages(&connections_[progress.connection]);
}

void FluidNetwork::EndMessages(Connection* connection) {
  while (connection->first != kNone && progress_[connection->first].parts == 0) {
    const Slot slot = connection->first;
    const Progress& progress = progress_[slot];
    connection->arrival = std::max(connection->arrival, progress.arrival);
    connection->acknowledged = std::max(connection->acknowledged, progress.acknowledged);
    connection->first = progress.next;
    Complete(slot, connection->arrival + NicsOf(message(slot).destination).latency,
             connection->acknowledged);
  }
}

Status FluidNetwork::OnEnd() {
  for (uint32_t number = 0; number < pairs_.count(); ++number) {
    if (!pairs_[number].parts.empty()) {
      const Message& m = message(pairs_.FirstSlot(number));
      return Error(fmt::format(
          "a message from NIC {} of host {} to NIC {} of host {}, sent at {}, waits for "
          "a cable that stays down",
          m.source_nic, m.source, m.destination_nic, m.destination, ToString(m.sent)));
    }
    CountBits(number);
  }
  return OkStatus();
}

// Counts what the queue pair has sent for the links of its present path.
void FluidNetwork::CountBits(uint32_t number) {
  int64_t& bits = pairs_[number].sent_bits;
  const auto add = [&](const FluidSharing::Use& use) {
    link_bits_[use.link] +=
        static_cast<int64_t>(static_cast<__int128>(bits) * use.share / FluidSharing::kWhole);
  };
  for (const FluidSharing::Use& use : pairs_.fabric().data(number)) add(use);
  for (const FluidSharing::Use& use : pairs_.fabric().acknowledgements(number)) add(use);
  bits = 0;
}

void FluidNetwork::ApplyFault(const Fault& fault) {
  pairs_.StopBypassing(now());
  for (const int cable : fault.links) {
    for (const uint32_t link :
         {static_cast<uint32_t>(2 * cable), static_cast<uint32_t>(2 * cable + 1)}) {
      const Bandwidth full_rate = map_.direction(link).full_rate;
      if (fault.kind == Fault::Kind::kDown) down_[link] = !fault.ends;
      if (fault.kind == Fault::Kind::kRate) {
        map_.SetRate(link, fault.ends ? full_rate : std::min(fault.rate, full_rate));
      }
      const int64_t capacity = down_[link] ? 0 : FluidCapacity(map_.direction(link).rate);
      pairs_.SetCapacity(link, capacity, now());
    }
  }
  if (fault.kind == Fault::Kind::kDown) Schedule(now() + set_.reroute_time, kReroute, 0, 0);
}

void FluidNetwork::Reroute() {
  pairs_.StopBypassing(now());
  map_.Reroute(down_);
  for (uint32_t number = 0; number < pairs_.count(); ++number) {
    CountBits(number);
    FluidRoute& route = pairs_[number].route;
    route.ends = map_.Redirect(route.ends, route.hash);
    pairs_.Move(number, now());
  }
}

Status CheckSupported(const Topology& topology, const NetworkOptions& options) {
  if (options.processes->count() > 1) {
    return Error("the fluid network runs in one process; leave out mpirun");
  }
  if (options.log_interval != Time()) {
    return Error("the fluid network keeps no log of links; use the packet network");
  }
  const bool errors =
      std::any_of(topology.faults.begin(), topology.faults.end(),
                  [](const Fault& fault) { return fault.kind == Fault::Kind::kErrors; });
  if (errors) {
    return Error(
        "the cluster has 'faults' that flip bits, which lose packets; use the packet network");
  }
  return OkStatus();
}

Result<std::unique_ptr<FluidNetwork>> MakeNetwork(const Topology& topology,
                                                  const NetworkOptions& options,
                                                  const ReplicaMap* replicas) {
  RETURN_IF_ERROR(CheckSupported(topology, options));
  ASSIGN_OR_RETURN(const FluidSettings settings, FluidSettingsOf(topology));
  ASSIGN_OR_RETURN(const ConnectionShape shape, ConnectionShapeOf(topology));
  return std::make_unique<FluidNetwork>(topology, settings, shape, replicas);
}

}  // namespace

Result<std::unique_ptr<Network>> MakeFluidNetwork(const Topology& topology,
                                                  const NetworkOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<FluidNetwork> network, MakeNetwork(topology, options, nullptr));
  return std::unique_ptr<Network>(std::move(network));
}

Result<std::unique_ptr<FoldedNetwork>> MakeFoldedFluidNetwork(const Topology& topology,
                                                              const NetworkOptions& options,
                                                              const ReplicaMap& replicas) {
  ASSIGN_OR_RETURN(std::unique_ptr<FluidNetwork> network,
                   MakeNetwork(topology, options, &replicas));
  return std::unique_ptr<FoldedNetwork>(std::move(network));
}

}  // namespace drydock
