#include "exec-engine/networks/analytical_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/containers/hash.h"
#include "core/containers/index_table.h"
#include "core/model/fabric/fabric_paths.h"
#include "exec-engine/folding/replica_folding.h"
#include "exec-engine/networks/serial_network.h"

namespace drydock {
namespace {

// From NIC to NIC; all flows between them, or one.
struct WayName {
  int from = 0, to = 0;  // FabricPaths::NicNode
  uint32_t flow = 0;
  friend bool operator==(const WayName&, const WayName&) = default;
};
struct WayHash {
  size_t operator()(const WayName& name) const {
    const uint64_t ends = static_cast<uint64_t>(name.from) << 32 | static_cast<uint64_t>(name.to);
    return HashOf(ends, name.flow);
  }
};

// A time for each name, zero at first.
class WayTimes {
 public:
  Time& operator[](const WayName& name) {
    const uint32_t place = places_.FindOrAdd(name, static_cast<uint32_t>(times_.size()));
    if (place == times_.size()) times_.emplace_back();
    return times_[place];
  }

 private:
  IndexTable<WayName, WayHash> places_;
  std::vector<Time> times_;
};

class AnalyticalNetwork final : public SerialNetwork {
 public:
  AnalyticalNetwork(const Topology& topology, const ReplicaFolding* folding)
      : SerialNetwork(topology.host_count(), folding), topology_(topology), paths_(topology) {
    const int hosts = topology.host_count();
    const int nics =
        hosts == 0 ? 0 : paths_.NicNode(hosts - 1, 0) + topology.kind_of_host(hosts - 1).nics.count;
    transmit_free_.resize(static_cast<size_t>(nics));
    receive_free_.resize(static_cast<size_t>(nics));
  }

  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    return {{"messages", messages()}, {"message bytes", message_bytes()}};
  }

 private:
  Time Serialisation(Bytes size, Bandwidth rate) const;
  int SourceNic(const Message& m) const { return paths_.NicNode(m.source, m.source_nic); }
  int DestinationNic(const Message& m) const {
    return paths_.NicNode(m.destination, m.destination_nic);
  }
  // The NIC itself, or that of who stands for its host.
  int ReceivingNic(const Message& m) const {
    return paths_.NicNode(ReceiverOf(m), m.destination_nic);
  }
  FabricPath PathOf(const Message& m);
  const Nics& NicsOf(HostId host) const { return topology_.kind_of_host(host).nics; }
  uint32_t OnSend(Slot slot) override;
  void OnEvent(uint64_t ends, uint32_t slot) override;

  const Topology& topology_;
  FabricPaths paths_;
  std::vector<Time> transmit_free_, receive_free_;  // by NIC
  WayTimes way_free_;                               // of all flows from NIC to NIC
  WayTimes head_of_flow_;
  std::vector<Time> sent_by_;  // by slot: its last byte has left the sender's NIC
};

Time AnalyticalNetwork::Serialisation(Bytes size, Bandwidth rate) const {
  const Transport& transport = topology_.transport;
  const int64_t packets = (size.count() + transport.mtu.count() - 1) / transport.mtu.count();
  return rate.TimeFor(size + transport.header * packets);
}

FabricPath AnalyticalNetwork::PathOf(const Message& m) {
  if (m.wire != 0) {
    const FabricPath& path = folding()->wire(m.wire).path;
    if (path.switches >= 0) return path;
  }
  return paths_.Between(SourceNic(m), DestinationNic(m));
}

uint32_t AnalyticalNetwork::OnSend(Slot slot) {
  const Message& m = message(slot);
  const FabricPath path = PathOf(m);
  if (path.switches < 0) {
    FailUnreachable(m);
    return 0;
  }
  const Nics& nics = NicsOf(m.source);
  Time& free = transmit_free_[static_cast<size_t>(SourceNic(m))];
  const Time start = std::max(now() + nics.latency, free);
  free = start + Serialisation(m.size, nics.rate);
  const Bytes packet = std::min(m.size, topology_.transport.mtu);
  // A short message does not overtake those of its flow: they are in the same queues.
  Time& head = head_of_flow_[{SourceNic(m), DestinationNic(m), m.flow}];
  head =
      std::max(head, start + path.latency + Serialisation(packet, path.bottleneck) * path.switches);
  if (slot >= sent_by_.size()) sent_by_.resize(slot + 1);
  sent_by_[slot] = free;
  const uint64_t ends =
      static_cast<uint64_t>(ReceiverOf(m)) << 31 | static_cast<uint64_t>(SeenFrom(m));
  Schedule(head, ends, m.id, slot);
  return 0;
}

// The first packet is at the receiver's NIC: the message takes its place in the NIC's queue. Its
// last byte cannot be there before it was sent and has travelled. A cable on the way that is slower
// than the receiver's own holds up what comes the same way, and nothing else.
void AnalyticalNetwork::OnEvent(uint64_t, uint32_t slot) {
  const Message& m = message(slot);
  const FabricPath path = PathOf(m);
  const Nics& nics = NicsOf(m.destination);
  const Bandwidth rate = std::min(nics.rate, path.last);
  Time& free = receive_free_[static_cast<size_t>(ReceivingNic(m))];
  free = std::max(now(), free) + Serialisation(m.size, rate);
  Time there = std::max(free, sent_by_[slot] + path.latency);
  if (path.bottleneck < rate) {
    Time& way = way_free_[{SourceNic(m), DestinationNic(m), 0}];
    way = std::max(now(), way) + Serialisation(m.size, path.bottleneck);
    there = std::max(there, way);
  }
  const Time delivered = there + nics.latency;
  Complete(slot, delivered, delivered + path.latency);
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
  return std::unique_ptr<Network>(std::make_unique<AnalyticalNetwork>(topology, options.folding));
}

}  // namespace drydock
