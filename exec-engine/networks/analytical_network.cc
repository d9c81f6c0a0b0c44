#include "exec-engine/networks/analytical_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "core/containers/hash.h"
#include "core/containers/index_table.h"
#include "core/model/fabric/connection_shape.h"
#include "core/model/fabric/fabric_paths.h"
#include "core/model/fabric/spread_paths.h"
#include "exec-engine/networks/fabric_queues.h"
#include "exec-engine/networks/serial_network.h"

namespace drydock {
namespace {

// A pair of NICs, and one flow between them or (0) all flows.
struct NicPair {
  int from = 0, to = 0;  // FabricPaths::NicNode
  uint32_t flow = 0;
  friend bool operator==(const NicPair&, const NicPair&) = default;
};
struct NicPairHash {
  size_t operator()(const NicPair& pair) const {
    const uint64_t ends = static_cast<uint64_t>(pair.from) << 32 | static_cast<uint64_t>(pair.to);
    return HashOf(ends, pair.flow);
  }
};

// A time for each pair, zero at first.
class TimeByPair {
 public:
  void AppendState(RelativeState* out) const {
    for (const Time time : times_) out->AddFree(time);
  }
  // Returns the number of the pair; pairs are numbered from 0 as they come.
  uint32_t PlaceOf(const NicPair& pair) {
    const uint32_t place = places_.FindOrAdd(pair, static_cast<uint32_t>(times_.size()));
    if (place == times_.size()) times_.emplace_back();
    return place;
  }
  Time& at(uint32_t place) { return times_[place]; }
  Time& operator[](const NicPair& pair) { return at(PlaceOf(pair)); }

 private:
  IndexTable<NicPair, NicPairHash> places_;
  std::vector<Time> times_;
};

class AnalyticalNetwork final : public SerialNetwork,
                                public ObservableNetwork,
                                public ForgetfulNetwork {
 public:
  AnalyticalNetwork(const Topology& topology, const ConnectionShape& shape,
                    const ReplicaMap* replicas)
      : SerialNetwork(topology.host_count(), replicas),
        topology_(topology),
        paths_(topology),
        spreads_(Spreads(topology)) {
    if (FabricQueues::Applies(topology)) queues_.emplace(topology, shape, replicas);
    const int hosts = topology.host_count();
    const int nics =
        hosts == 0 ? 0 : paths_.NicNode(hosts - 1, 0) + topology.kind_of_host(hosts - 1).nics.count;
    transmit_free_.resize(static_cast<size_t>(nics));
    receive_free_.resize(static_cast<size_t>(nics));
  }

  void Observe(InstantObserver* observer) override { observer_ = observer; }
  void AppendState(RelativeState* out) const override {
    AppendEvents(out);
    for (const Time free : transmit_free_) out->AddFree(free);
    for (const Time free : receive_free_) out->AddFree(free);
    bottleneck_free_.AppendState(out);
    head_of_flow_.AppendState(out);
    if (queues_) queues_->AppendState(out);
  }

  bool Forgets() const override { return !queues_ || !queues_->TakesTurns(); }
  void Count(const Traffic& traffic) override { CountTraffic(traffic); }
  Traffic traffic() const override { return {messages(), message_bytes()}; }
  void CatchUp(Time from, const std::function<void()>& begin) override { RunAgain(from, begin); }

  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    return {{"messages", messages()}, {"message bytes", message_bytes()}};
  }

 private:
  Time Serialization(Bytes size, Bandwidth rate) const;
  // The slowest cable that carries all bytes of a message: spread packets have all cables of a
  // tier.
  Bandwidth BottleneckOf(const FabricPath& path) const {
    return spreads_ ? std::min(path.first, path.last) : path.bottleneck;
  }
  int SourceNic(const Message& m) const { return paths_.NicNode(m.source, m.source_nic); }
  int DestinationNic(const Message& m) const {
    return paths_.NicNode(m.destination, m.destination_nic);
  }
  // Returns the destination NIC on the representative of the destination.
  int ReceivingNic(Slot slot) const {
    return paths_.NicNode(ReceiverOf(slot), message(slot).destination_nic);
  }
  FabricPath PathOf(Slot slot);
  const Nics& NicsOf(HostId host) const { return topology_.kind_of_host(host).nics; }
  uint32_t OnSend(Slot slot) override;
  void OnEvent(uint64_t ends, uint32_t slot) override;
  void OnEndOfInstant() override {
    if (observer_ != nullptr && !observer_->OnEndOfInstant(now())) Stop();
  }
  void AppendFlight(Slot slot, RelativeState* out) const override {
    out->AddFree(departures_[slot].last);
  }

  const Topology& topology_;
  FabricPaths paths_;
  const bool spreads_;
  InstantObserver* observer_ = nullptr;
  std::vector<Time> transmit_free_, receive_free_;  // by NIC
  TimeByPair bottleneck_free_;                      // of all flows between two NICs
  TimeByPair head_of_flow_;                         // arrival of the last message's first packet
  std::optional<FabricQueues> queues_;              // if a cable between switches can be full
  // By slot: when the last byte has left the sender's NIC, and the number of the flow.
  struct Departure {
    Time last;
    uint32_t flow = 0;
  };
  std::vector<Departure> departures_;
};

Time AnalyticalNetwork::Serialization(Bytes size, Bandwidth rate) const {
  const Transport& transport = topology_.transport;
  const int64_t packets = (size.count() + transport.mtu.count() - 1) / transport.mtu.count();
  return rate.TimeFor(size + transport.header * packets);
}

FabricPath AnalyticalNetwork::PathOf(Slot slot) {
  if (folded_connection(slot) != kNotFolded) {
    const FabricPath& path = replicas()->connection(folded_connection(slot)).path;
    if (path.switches >= 0) return path;
  }
  const Message& m = message(slot);
  return paths_.Between(SourceNic(m), DestinationNic(m));
}

uint32_t AnalyticalNetwork::OnSend(Slot slot) {
  const Message& m = message(slot);
  const FabricPath path = PathOf(slot);
  if (path.switches < 0) {
    FailUnreachable(m);
    return 0;
  }
  const Nics& nics = NicsOf(m.source);
  Time& free = transmit_free_[static_cast<size_t>(SourceNic(m))];
  const Time start = std::max(now() + nics.latency, free);
  free = start + Serialization(m.size, nics.rate);
  const Bytes packet = std::min(m.size, topology_.transport.mtu);
  // Messages of one flow share their queues, so that a short one does not overtake a long one.
  const uint32_t flow = head_of_flow_.PlaceOf({SourceNic(m), DestinationNic(m), m.flow});
  Time& head = head_of_flow_.at(flow);
  head =
      std::max(head, start + path.latency + Serialization(packet, path.bottleneck) * path.switches);
  if (slot >= departures_.size()) departures_.resize(slot + 1);
  departures_[slot] = {free, flow};
  const uint64_t ends =
      static_cast<uint64_t>(ReceiverOf(slot)) << 31 | static_cast<uint64_t>(SourceAtReceiver(slot));
  Schedule(head, ends, m.id, slot);
  return 0;
}

// The first packet is at the receiver's NIC: the message joins the NIC's queue. The last byte
// arrives no earlier than it was sent plus the latency of the path. If a cable of the path is
// slower than the receiver's own, it delays the messages between these two NICs; where it joins
// switches, FabricQueues delays the others too.
void AnalyticalNetwork::OnEvent(uint64_t, uint32_t slot) {
  const Message& m = message(slot);
  const FabricPath path = PathOf(slot);
  const Nics& nics = NicsOf(m.destination);
  const Bandwidth rate = std::min(nics.rate, path.last);
  Time& free = receive_free_[static_cast<size_t>(ReceivingNic(slot))];
  free = std::max(now(), free) + Serialization(m.size, rate);
  Time there = std::max(free, departures_[slot].last + path.latency);
  if (const Bandwidth slowest = BottleneckOf(path); slowest < rate) {
    Time& bottleneck = bottleneck_free_[{SourceNic(m), DestinationNic(m), 0}];
    bottleneck = std::max(now(), bottleneck) + Serialization(m.size, slowest);
    there = std::max(there, bottleneck);
  }
  const uint32_t folded = folded_connection(slot);
  if (queues_ && (folded != kNotFolded || path.switches > 1)) {
    const uint32_t flow = departures_[slot].flow;
    there = std::max(there, queues_->Pass(flow, m, folded, now()));
  }
  const Time delivered = there + nics.latency;
  Complete(slot, delivered, delivered + path.latency);
}

Status CheckSupported(const Topology& topology, const NetworkOptions& options) {
  if (options.processes->count() > 1) {
    return Error("the analytical network runs in one process; leave out mpirun");
  }
  if (options.log_interval != Time()) {
    return Error("the analytical network keeps no log of links; use the packet network");
  }
  if (!topology.faults.empty()) {
    return Error(
        "the cluster has 'faults', which the analytical network does not simulate; use the packet "
        "network");
  }
  return OkStatus();
}

}  // namespace

Result<std::unique_ptr<Network>> MakeAnalyticalNetwork(const Topology& topology,
                                                       const NetworkOptions& options) {
  RETURN_IF_ERROR(CheckSupported(topology, options));
  ASSIGN_OR_RETURN(const ConnectionShape shape, ConnectionShapeOf(topology));
  return std::unique_ptr<Network>(std::make_unique<AnalyticalNetwork>(topology, shape, nullptr));
}

Result<std::unique_ptr<FoldedNetwork>> MakeFoldedAnalyticalNetwork(const Topology& topology,
                                                                   const NetworkOptions& options,
                                                                   const ReplicaMap& replicas) {
  RETURN_IF_ERROR(CheckSupported(topology, options));
  ASSIGN_OR_RETURN(const ConnectionShape shape, ConnectionShapeOf(topology));
  return std::unique_ptr<FoldedNetwork>(
      std::make_unique<AnalyticalNetwork>(topology, shape, &replicas));
}

}  // namespace drydock
