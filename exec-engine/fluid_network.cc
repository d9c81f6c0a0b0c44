#include "exec-engine/fluid_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/index_table.h"
#include "core/model/connection_shape.h"
#include "exec-engine/flow_ends.h"
#include "exec-engine/fluid_fabric.h"
#include "exec-engine/fluid_folding.h"
#include "exec-engine/fluid_links.h"
#include "exec-engine/fluid_queue_pair.h"
#include "exec-engine/fluid_sharing.h"
#include "exec-engine/fluid_ways.h"
#include "exec-engine/replica_folding.h"
#include "exec-engine/serial_network.h"

namespace drydock {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kCacheLine = 64;
constexpr size_t kBusiestLinks = 20;  // of what can be a hundred thousand

struct NameHash {
  size_t operator()(const FlowEnds& name) const {
    return PathHash(name.source, name.source_nic, name.destination, name.destination_nic,
                    name.flow);
  }
};

// Its messages are done in the order in which they were sent.
struct Connection {
  uint32_t first_pair = 0;               // its queue pairs follow each other
  uint64_t sent = 0;                     // messages of data
  uint32_t first = kNone, last = kNone;  // slots of messages under way
  Time arrival, acknowledged;            // of the last that is done
};

// Of a message under way.
struct Progress {
  uint32_t connection = 0;
  uint32_t next = kNone;  // of its connection
  uint32_t parts = 0;     // that are not through
  Time arrival, acknowledged;
};

class FluidNetwork final : public SerialNetwork {
 public:
  FluidNetwork(const Topology& topology, const FluidSettings& settings,
               const ConnectionShape& shape, const ReplicaFolding* folding)
      : SerialNetwork(topology.host_count(), folding),
        topology_(topology),
        set_(settings),
        shape_(shape),
        map_(topology),
        ways_(map_, set_),
        fabric_(FluidCapacities(map_)),
        down_(map_.link_count(), false),
        link_bits_(map_.link_count(), 0) {
    map_.set_cut_through(set_.cut_through);
  }

  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    const FluidSharing::Counts& counts = fabric_.counts();
    return {{"messages", messages()},
            {"message bytes", message_bytes()},
            {"queue pairs", static_cast<int64_t>(pairs_.size())},
            {"rate changes", counts.solutions},
            {"rates", counts.flows},
            {"rates at once", counts.most}};
  }

  std::vector<LinkTotal> BusiestLinks() const override {
    return FluidLinkTotals(map_, link_bits_, kBusiestLinks);
  }

 private:
  // Subjects of events, in their order at one time.
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
  void OnEndOfInstant() override;
  Status OnEnd() override;

  const Nics& NicsOf(HostId host) const { return topology_.kind_of_host(host).nics; }
  std::optional<uint32_t> FindConnection(const Message& message);
  bool AddConnection(const Message& message);
  bool IsPart(const Message& message) const {
    return message.wire != 0 && folding()->wire(message.wire).part;
  }
  uint32_t SendPart(Slot slot);
  void Carry(Slot slot, uint32_t number);
  Time IdleWait(const FluidQueuePair& pair) const;
  void SendControl(Slot slot, Connection* connection);
  void Enqueue(uint32_t pair, Slot slot, int64_t bytes, Time ready);
  void Begin(uint32_t pair);
  void BeginAll();
  void BeginPart(uint32_t pair, bool ahead);
  int64_t WireBytesOfFirst(const FluidQueuePair& pair) const {
    return set_.WireBytes(parts_.Front(pair.parts).bytes);
  }
  Time ArrivalOf(uint32_t pair, int64_t bytes);
  void Stop(uint32_t pair);
  void Wake(uint32_t pair, Time when);
  void RunPair(uint32_t pair);
  void FinishPart(uint32_t pair);
  void Continue(uint32_t pair);
  void EndPart(Slot slot, Time arrival, Time acknowledged);
  void EndMessages(Connection* connection);
  void CountBits(uint32_t pair);
  void HoldBack();
  void ApplyFault(const Fault& fault);
  void Reroute();

  const Topology& topology_;
  const FluidSettings set_;
  const ConnectionShape shape_;
  FabricMap map_;
  const FluidWays ways_;
  FluidFabric fabric_;
  std::vector<FluidQueuePair> pairs_;
  std::vector<Connection> connections_;
  IndexTable<FlowEnds, NameHash> by_name_;
  std::vector<Progress> progress_;   // by slot
  std::vector<uint32_t> beginning_;  // queue pairs, at this instant
  ListPool<QueuedPart> parts_;
  ListPool<SentPart> sent_;
  std::vector<bool> down_;          // by link
  std::vector<int64_t> link_bits_;  // by link, of what moved away from it or is done
};

// The connection of a message, made if new; nothing where there is no way.
std::optional<uint32_t> FluidNetwork::FindConnection(const Message& m) {
  const auto added = static_cast<uint32_t>(connections_.size());
  const uint32_t number = by_name_.FindOrAdd(FlowEndsOf(m), added);
  if (number == added && !AddConnection(m)) return std::nullopt;
  return number;
}

bool FluidNetwork::AddConnection(const Message& m) {
  connections_.emplace_back();
  connections_.back().first_pair = static_cast<uint32_t>(pairs_.size());
  for (uint32_t i = 0; i < shape_.queue_pairs; ++i) {
    FlowEnds flow = FlowEndsOf(m);
    flow.flow = FlowOfQueuePair(m.flow, i);
    const auto way = ways_.Between(flow);
    if (!way) return false;
    FluidQueuePair pair;
    pair.way = *way;
    pair.ack_time = Time::Ps(ways_.AckTime(pair.way));
    pair.slowest_rate = ways_.SlowestRate(pair.way);
    pair.window = ways_.WindowBytes(pair.way);
    FluidWays::Uses uses = ways_.DataUses(pair.way), acks = ways_.AckUses(pair.way);
    std::vector<AlikeWay> alike;
    if (folding() != nullptr) alike = AlikeWays(*folding(), ways_, m.wire, i);
    if (!alike.empty()) {
      uses = UsesOfAll(ways_, pair.way, alike);
      acks = AckUsesOfAll(ways_, pair.way, alike);
      pair.window = MeanWindowBytes(ways_, alike);
      pair.longer = MeanAckTime(ways_, alike) - pair.ack_time;
      pair.ack_time += pair.longer;
    }
    fabric_.Add(uses, acks, ways_.WindowRate(pair.way));
    pairs_.push_back(pair);
  }
  return true;
}

uint32_t FluidNetwork::OnSend(Slot slot) {
  const Message& m = message(slot);
  if (IsPart(m)) return SendPart(slot);
  const std::optional<uint32_t> number = m.route > 0 ? m.route - 1 : FindConnection(m);
  if (!number) {
    FailUnreachable(m);
    return 0;
  }
  Carry(slot, *number);
  return *number + 1;
}

// Over its connection.
void FluidNetwork::Carry(Slot slot, uint32_t number) {
  const Message& m = message(slot);
  Connection& connection = connections_[number];
  if (slot >= progress_.size()) progress_.resize(slot + 1);
  // One that finds its cable dead waits there like data.
  const bool passes =
      m.control && connection.first == kNone && fabric_.bound(connection.first_pair) > 0;
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
    return Enqueue(connection.first_pair, slot, m.size.count(), ready);
  }
  const auto parts = SplitMessage(m.size.count(), connection.sent++, shape_);
  progress_[slot].parts = static_cast<uint32_t>(parts.size());
  for (const MessagePart& part : parts) {
    Enqueue(connection.first_pair + part.queue_pair, slot, part.bytes, ready);
  }
}

// What a packet waits for at a NIC that is busy: the rest of a frame, half of one in the mean, and
// then the turns of the queue pairs that are sending.
Time FluidNetwork::IdleWait(const FluidQueuePair& pair) const {
  const auto busy = static_cast<int64_t>(fabric_.pairs_on(pair.way.ends.first));
  if (busy == 0) return Time();
  const FabricDirection& out = map_.direction(pair.way.ends.first);
  return Time::Ps(out.Occupancy(set_.FrameBytes()) * (2 * busy + 1) / 2);
}

// A packet without data does not share: its bytes are next to nothing.
void FluidNetwork::SendControl(Slot slot, Connection* connection) {
  const Message& m = message(slot);
  FluidQueuePair& pair = pairs_[connection->first_pair];
  const int64_t bytes = m.size.count();
  const Time alone = set_.TimeFor(bytes, pair.slowest_rate) + pair.Tail(ways_, bytes);
  const Time arrival =
      std::max(connection->arrival, now() + NicsOf(m.source).latency + IdleWait(pair) + alone);
  connection->arrival = arrival;
  connection->acknowledged = std::max(connection->acknowledged, arrival + pair.ack_time);
  pair.sent_bits += set_.WireBytes(bytes) * 8;
  Complete(slot, arrival + NicsOf(m.destination).latency, connection->acknowledged);
}

// Of a short call, between hosts that others stand for: alone on its way, after what its flow sent
// before.
uint32_t FluidNetwork::SendPart(Slot slot) {
  const Message& m = message(slot);
  const FabricPath& path = folding()->wire(m.wire).path;
  if (path.switches < 0) {
    FailUnreachable(m);
    return 0;
  }
  const auto next = static_cast<uint32_t>(connections_.size());
  const uint32_t number = by_name_.FindOrAdd(FlowEndsOf(m), next);
  if (number == next) connections_.emplace_back();
  Connection& connection = connections_[number];
  const Time leaves = now() + NicsOf(m.source).latency;
  connection.arrival = std::max(connection.arrival, leaves + TimeAlone(set_, path, m.size.count()));
  Complete(slot, connection.arrival + NicsOf(m.destination).latency,
           connection.arrival + path.latency);
  return 0;
}

void FluidNetwork::Enqueue(uint32_t number, Slot slot, int64_t bytes, Time ready) {
  FluidQueuePair& pair = pairs_[number];
  const bool idle = pair.parts.empty();
  parts_.Append(&pair.parts, {slot, bytes, ready});
  if (!idle) return;
  if (ready == now()) {
    Begin(number);
  } else {
    Wake(number, ready);
  }
}

void FluidNetwork::Wake(uint32_t number, Time when) {
  pairs_[number].wake = when;
  if (when != Time::Max()) Schedule(when, kQueuePair + number, 0, number);
}

// The first part of a queue pair that is not sending goes to the wire, once all is known that
// happens now.
void FluidNetwork::Begin(uint32_t number) {
  pairs_[number].sending = true;
  pairs_[number].finish = Time::Max();
  beginning_.push_back(number);
}

// Who shares first, whoever that makes share next, and what is left goes ahead.
void FluidNetwork::BeginAll() {
  for (bool more = true; more;) {
    const size_t before = beginning_.size();
    std::erase_if(beginning_, [this](uint32_t number) {
      const FluidQueuePair& pair = pairs_[number];
      if (WireBytesOfFirst(pair) <= pair.window && fabric_.MayGoAhead(number)) return false;
      BeginPart(number, false);
      return true;
    });
    more = beginning_.size() < before;
  }
  for (const uint32_t number : beginning_) BeginPart(number, true);
  beginning_.clear();
}

void FluidNetwork::BeginPart(uint32_t number, bool ahead) {
  FluidQueuePair& pair = pairs_[number];
  pair.StartPart(WireBytesOfFirst(pair), now());
  if (ahead) {
    fabric_.BeginAhead(number, pair.Pace(&sent_, now(), FluidSharing::kNoLimit));
  } else {
    fabric_.Begin(number, now());
  }
  pair.first_known = ArrivalOf(number, parts_.Front(pair.parts).bytes) + pair.ack_time;
}

// Of what leaves the NIC now, at the end of a part of so many bytes.
Time FluidNetwork::ArrivalOf(uint32_t number, int64_t bytes) {
  return now() + fabric_.Wait(number, now()) + pairs_[number].Tail(ways_, bytes);
}

void FluidNetwork::Stop(uint32_t number) {
  fabric_.End(number, now());
  pairs_[number].SetRate(0, now());
  pairs_[number].sending = false;
}

void FluidNetwork::OnEvent(uint64_t subject, uint32_t detail) {
  if (subject == kFault) return ApplyFault(topology_.faults[detail]);
  if (subject == kReroute) return Reroute();
  if (subject >= kDrain) return fabric_.Drained(detail, now());
  // One that was moved leaves its old event behind.
  if (pairs_[detail].wake != now()) return;
  pairs_[detail].wake = Time::Max();
  RunPair(detail);
}

void FluidNetwork::RunPair(uint32_t number) {
  FluidQueuePair& pair = pairs_[number];
  if (!pair.sending) return Begin(number);
  if (pair.finish > now()) {
    Wake(number, pair.finish);
    return;
  }
  FinishPart(number);
}

// The last byte of the first part has left the NIC.
void FluidNetwork::FinishPart(uint32_t number) {
  FluidQueuePair& pair = pairs_[number];
  const QueuedPart part = parts_.Front(pair.parts);
  parts_.Pop(&pair.parts);
  const int64_t wire = set_.WireBytes(part.bytes);
  pair.sent_bits += wire * 8;
  const Time arrival = ArrivalOf(number, part.bytes);
  const Time acknowledged = arrival + pair.ack_time;
  pair.Forget(&sent_, now());
  sent_.Append(&pair.unacknowledged, {wire, pair.first_known, acknowledged});
  Continue(number);
  EndPart(part.slot, arrival, acknowledged);
}

// With the next part, if it is there.
void FluidNetwork::Continue(uint32_t number) {
  FluidQueuePair& pair = pairs_[number];
  if (pair.parts.empty() || parts_.Front(pair.parts).ready > now()) {
    Stop(number);
    if (!pair.parts.empty()) Wake(number, parts_.Front(pair.parts).ready);
    return;
  }
  const int64_t bytes = WireBytesOfFirst(pair);
  if (fabric_.ahead(number) || bytes <= pair.window) {
    Stop(number);
    return Begin(number);
  }
  pair.StartPart(bytes, now());
  pair.first_known = ArrivalOf(number, parts_.Front(pair.parts).bytes) + pair.ack_time;
  pair.FindFinish(now());
  Wake(number, pair.finish);
}

void FluidNetwork::EndPart(Slot slot, Time arrival, Time acknowledged) {
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

void FluidNetwork::OnEndOfInstant() {
  BeginAll();
  fabric_.Solve(now(), [this](uint32_t number, int64_t rate) {
    FluidQueuePair& pair = pairs_[number];
    pair.SetRate(rate, now());
    if (pair.finish < pair.wake) Wake(number, pair.finish);
  });
  for (const auto& [link, when] : fabric_.TakeDrains()) Schedule(when, kDrain + link, 0, link);
}

Status FluidNetwork::OnEnd() {
  for (uint32_t number = 0; number < pairs_.size(); ++number) {
    FluidQueuePair& pair = pairs_[number];
    if (!pair.parts.empty()) {
      const Message& m = message(parts_.Front(pair.parts).slot);
      return Error(fmt::format(
          "a message from NIC {} of host {} to NIC {} of host {}, sent at {}, waits for "
          "a cable that is down and does not come back",
          m.source_nic, m.source, m.destination_nic, m.destination, ToString(m.sent)));
    }
    CountBits(number);
  }
  return OkStatus();
}

// What the queue pair has sent, to the links of its present way.
void FluidNetwork::CountBits(uint32_t number) {
  int64_t& bits = pairs_[number].sent_bits;
  const auto add = [&](const FluidSharing::Use& use) {
    link_bits_[use.link] +=
        static_cast<int64_t>(static_cast<__int128>(bits) * use.share / FluidSharing::kWhole);
  };
  for (const FluidSharing::Use& use : fabric_.data(number)) add(use);
  for (const FluidSharing::Use& use : fabric_.acknowledgements(number)) add(use);
  bits = 0;
}

// Nothing is ahead where cables come and go. A part whose last byte has just left has left.
void FluidNetwork::HoldBack() {
  for (const uint32_t number : fabric_.HoldBack(now())) {
    FluidQueuePair& pair = pairs_[number];
    const bool over = pair.finish <= now();
    pair.SetRate(0, now());
    if (over) pair.finish = now();
  }
}

void FluidNetwork::ApplyFault(const Fault& fault) {
  HoldBack();
  for (const int cable : fault.links) {
    for (const uint32_t link :
         {static_cast<uint32_t>(2 * cable), static_cast<uint32_t>(2 * cable + 1)}) {
      const Bandwidth made = map_.direction(link).made;
      if (fault.kind == Fault::Kind::kDown) down_[link] = !fault.ends;
      if (fault.kind == Fault::Kind::kRate) {
        map_.SetRate(link, fault.ends ? made : std::min(fault.rate, made));
      }
      const int64_t capacity = down_[link] ? 0 : FluidCapacity(map_.direction(link).rate);
      fabric_.SetCapacity(link, capacity, now());
    }
  }
  if (fault.kind == Fault::Kind::kDown) Schedule(now() + set_.reroute_time, kReroute, 0, 0);
}

void FluidNetwork::Reroute() {
  HoldBack();
  map_.Reroute(down_);
  for (uint32_t number = 0; number < pairs_.size(); ++number) {
    CountBits(number);
    FluidEnds& way = pairs_[number].way;
    way.ends = map_.Redirect(way.ends, way.path);
    fabric_.Move(number, ways_.DataUses(way), ways_.AckUses(way), now());
  }
}

}  // namespace

Result<std::unique_ptr<Network>> MakeFluidNetwork(const Topology& topology,
                                                  const NetworkOptions& options) {
  if (options.processes->count() > 1) {
    return Error("the fluid network runs in one process; leave out mpirun");
  }
  if (options.log_interval != Time()) {
    return Error("the fluid network keeps no log of links; it needs the packet network");
  }
  const bool errors =
      std::any_of(topology.faults.begin(), topology.faults.end(),
                  [](const Fault& fault) { return fault.kind == Fault::Kind::kErrors; });
  if (errors) {
    return Error(
        "the cluster has 'faults' that flip bits, which lose packets; they need the packet "
        "network");
  }
  ASSIGN_OR_RETURN(const FluidSettings settings, FluidSettingsOf(topology));
  ASSIGN_OR_RETURN(const ConnectionShape shape, ConnectionShapeOf(topology));
  return std::unique_ptr<Network>(
      std::make_unique<FluidNetwork>(topology, settings, shape, options.folding));
}

}  // namespace drydock
