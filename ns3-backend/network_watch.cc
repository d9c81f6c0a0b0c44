#include "ns3-backend/network_watch.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/base/parcel.h"
#include "core/model/fabric/idle_time.h"
#include "ns3-backend/link_totals.h"
#include "ns3-backend/model/host/message-parts.h"
#include "ns3-backend/model/host/queue-pair-table.h"
#include "ns3/callback.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace drydock {

using ns3::rdma::FabricDirection;
using ns3::rdma::FabricMap;
using ns3::rdma::FabricNode;
using Switch = ns3::rdma::FabricSwitch;
using ns3::rdma::NEVER;
using ns3::rdma::QueuePairTable;
using ns3::rdma::RdmaHost;

NetworkWatch::NetworkWatch(const Topology& topology, const ns3::rdma::FabricHelper& fabric,
                           ns3::Ptr<ns3::rdma::WindowedSimulatorImpl> simulator, Time interval)
    : fabric_(fabric),
      simulator_(std::move(simulator)),
      interval_(interval),
      mtu_(topology.transport.mtu.count()),
      header_(fabric.GetHeaderBytes()),
      connection_(*ConnectionShapeOf(topology)),
      last_(fabric.GetMap().link_count()),
      deliveries_(fabric.GetHosts().size()) {
  for (uint32_t link = 0; link < fabric_.GetMap().link_count(); ++link) {
    const FabricMap& map = fabric_.GetMap();
    log_.links.push_back({StartOfLink(map, link), EndOfLink(map, link), map.direction(link).rate});
  }
  for (int host = 0; host < topology.host_count(); ++host) {
    nic_latency_.push_back(topology.kind_of_host(host).nics.latency);
  }
  for (size_t host = 0; host < fabric_.GetHosts().size(); ++host) {
    CHECK(fabric_.GetHosts()[host]->TraceConnectWithoutContext(
        "Delivered", ns3::MakeBoundCallback(&NetworkWatch::Deliver, &deliveries_[host])));
  }
  ns3::Simulator::Schedule(ns3::PicoSeconds(interval_.ps()), &NetworkWatch::Tick, this);
}

void NetworkWatch::Deliver(Deliveries* deliveries, const Message& message, int64_t now) {
  deliveries->push_back({message, Time::Ps(now), Time()});
}

void NetworkWatch::Tick() {
  Sample(ns3::Simulator::Now().GetPicoSeconds());
  // Samples alone must not keep the run going.
  if (simulator_->NextEventTime() < NEVER) {
    ns3::Simulator::Schedule(ns3::PicoSeconds(interval_.ps()), &NetworkWatch::Tick, this);
  }
}

NetworkWatch::Counted NetworkWatch::CountsOf(uint32_t link, int64_t now) const {
  const FabricDirection& direction = fabric_.GetMap().direction(link);
  const FabricNode& sender = fabric_.GetNode(direction.from_node);
  Counted counted;
  counted.bytes = sender.GetEgress(direction.from_port).bytes;
  counted.paused = sender.GetPausedTime(direction.from_port, now);
  if (direction.from_nic < 0) {
    const auto& at = static_cast<const Switch&>(sender);
    counted.marked = at.GetPortCounts(direction.from_port).marked;
    counted.dropped = at.GetPortCounts(direction.from_port).dropped;
  } else {
    counted.repeated = static_cast<const RdmaHost&>(sender).GetNRepeated(direction.from_port);
  }
  return counted;
}

void NetworkWatch::Sample(int64_t now) {
  const Time interval = Time::Ps(now) - sampled_;
  if (interval == Time()) return;
  sampled_ = Time::Ps(now);
  for (uint32_t link = 0; link < last_.size(); ++link) {
    const FabricDirection& direction = fabric_.GetMap().direction(link);
    const Counted counted = CountsOf(link, now);
    LinkSample sample;
    sample.at = Time::Ps(now);
    sample.interval = interval;
    sample.link = static_cast<int>(link);
    sample.sent = Bytes(static_cast<int64_t>(counted.bytes - last_[link].bytes));
    sample.marked = static_cast<int64_t>(counted.marked - last_[link].marked);
    sample.dropped = static_cast<int64_t>(counted.dropped - last_[link].dropped);
    sample.paused = Time::Ps(counted.paused - last_[link].paused);
    sample.repeated = static_cast<int64_t>(counted.repeated - last_[link].repeated);
    if (direction.from_nic < 0) {
      const auto& at = static_cast<const Switch&>(fabric_.GetNode(direction.from_node));
      sample.queued = Bytes(at.GetPortCounts(direction.from_port).queued);
    }
    last_[link] = counted;
    if (!sample.Quiet()) log_.samples.push_back(sample);
  }
}

void NetworkWatch::Finish(Processes* processes) {
  int64_t end = 0;
  for (const Deliveries& own : deliveries_) {
    for (const MessageRecord& record : own) end = std::max(end, record.delivered.ps());
  }
  std::string parcel;
  Pack(end, &parcel);
  for (const std::string& each : processes->GatherAll(parcel)) {
    end = std::max(end, Unpacker(each).Take<int64_t>());
  }
  Sample(std::max(end, ns3::Simulator::Now().GetPicoSeconds()));
  for (Deliveries& own : deliveries_) {
    AddIdleTimes(&own);
    log_.messages.insert(log_.messages.end(), own.begin(), own.end());
  }
  if (processes->count() > 1) Gather(processes);
  std::sort(log_.messages.begin(), log_.messages.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.message.sent, a.message.source, a.message.id) <
           std::tuple(b.message.sent, b.message.source, b.message.id);
  });
}

// The process of the sender samples a link; the process of the receiver records a message.
void NetworkWatch::Gather(Processes* processes) {
  std::string own;
  Pack(log_.samples, &own);
  Pack(log_.messages, &own);
  log_.samples.clear();
  log_.messages.clear();
  for (const std::string& parcel : processes->GatherAtFirst(std::move(own))) {
    Unpacker unpacker(parcel);
    std::vector<LinkSample> samples;
    unpacker.Take(&samples);
    log_.samples.insert(log_.samples.end(), samples.begin(), samples.end());
    std::vector<MessageRecord> messages;
    unpacker.Take(&messages);
    log_.messages.insert(log_.messages.end(), messages.begin(), messages.end());
  }
  std::sort(log_.samples.begin(), log_.samples.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.at, a.link) < std::tuple(b.at, b.link);
  });
}

// REQUIRES: `deliveries` are of one host. Messages of a connection are delivered in the order in
// which they were sent.
void NetworkWatch::AddIdleTimes(Deliveries* deliveries) const {
  std::map<std::tuple<HostId, int, int, uint32_t>, uint64_t> connections;  // messages so far
  for (MessageRecord& record : *deliveries) {
    const Message& m = record.message;
    uint64_t number = 0;
    if (!m.control) number = connections[{m.source, m.source_nic, m.destination_nic, m.flow}]++;
    record.idle = IdleTime(m, number);
  }
}

Time NetworkWatch::IdleTime(const Message& message, uint64_t number) const {
  const FabricMap& map = fabric_.GetMap().unbroken();
  const ConnectionShape shape =
      message.control ? ConnectionShape{1, connection_.split_data} : connection_;
  std::vector<PartOnWire> parts;
  for (const MessagePart& each : SplitMessage(message.size.count(), number, shape)) {
    Message part = message;
    part.flow = FlowOfQueuePair(message.flow, each.queue_pair);
    const uint32_t path = QueuePairTable::PathHash(part);
    const auto ends =
        map.PickAccess(static_cast<uint32_t>(part.source), part.source_nic,
                       static_cast<uint32_t>(part.destination), part.destination_nic, path);
    CHECK_NOTE(ends.has_value(), "a message has arrived without a path");
    const int64_t full = (each.bytes - 1) / mtu_;
    const int64_t rest = each.bytes - full * mtu_;
    parts.push_back({*ends, path, full, header_ + mtu_, header_ + rest});
  }
  return Time::Ps(MeasureIdle(map, parts)) + nic_latency_[static_cast<size_t>(message.source)] +
         nic_latency_[static_cast<size_t>(message.destination)];
}

}  // namespace drydock
