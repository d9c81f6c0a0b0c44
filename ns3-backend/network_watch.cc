#include "ns3-backend/network_watch.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.h"
#include "core/base/parcel.h"
#include "ns3-backend/link_totals.h"
#include "ns3-backend/model/queue-pair-table.h"
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
      last_(fabric.GetMap().GetNLinks()),
      deliveries_(fabric.GetHosts().size()) {
  for (uint32_t link = 0; link < fabric_.GetMap().GetNLinks(); ++link) {
    const FabricMap& map = fabric_.GetMap();
    log_.links.push_back(
        {StartOfLink(map, link), EndOfLink(map, link), map.GetDirection(link).rate});
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
  // What nobody else keeps going must not be kept going by being watched.
  if (simulator_->NextEventTime() < NEVER) {
    ns3::Simulator::Schedule(ns3::PicoSeconds(interval_.ps()), &NetworkWatch::Tick, this);
  }
}

NetworkWatch::Counted NetworkWatch::CountsOf(uint32_t link, int64_t now) const {
  const FabricDirection& direction = fabric_.GetMap().GetDirection(link);
  const FabricNode& sender = fabric_.GetNode(direction.fromNode);
  Counted counted;
  counted.bytes = sender.GetEgress(direction.fromPort).bytes;
  counted.paused = sender.GetPausedTime(direction.fromPort, now);
  if (direction.fromNic < 0) {
    const auto& at = static_cast<const Switch&>(sender);
    counted.marked = at.GetPortCounts(direction.fromPort).marked;
    counted.dropped = at.GetPortCounts(direction.fromPort).dropped;
  }
  return counted;
}

void NetworkWatch::Sample(int64_t now) {
  const Time interval = Time::Ps(now) - sampled_;
  if (interval == Time()) return;
  sampled_ = Time::Ps(now);
  for (uint32_t link = 0; link < last_.size(); ++link) {
    const FabricDirection& direction = fabric_.GetMap().GetDirection(link);
    const Counted counted = CountsOf(link, now);
    LinkSample sample;
    sample.at = Time::Ps(now);
    sample.interval = interval;
    sample.link = static_cast<int>(link);
    sample.sent = Bytes(static_cast<int64_t>(counted.bytes - last_[link].bytes));
    sample.marked = static_cast<int64_t>(counted.marked - last_[link].marked);
    sample.dropped = static_cast<int64_t>(counted.dropped - last_[link].dropped);
    sample.paused = Time::Ps(counted.paused - last_[link].paused);
    if (direction.fromNic < 0) {
      const auto& at = static_cast<const Switch&>(fabric_.GetNode(direction.fromNode));
      sample.queued = Bytes(at.GetPortCounts(direction.fromPort).queued);
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
  for (const Deliveries& own : deliveries_) {
    log_.messages.insert(log_.messages.end(), own.begin(), own.end());
  }
  for (MessageRecord& record : log_.messages) record.idle = IdleTime(record);
  if (processes->count() > 1) Gather(processes);
  std::sort(log_.messages.begin(), log_.messages.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.message.sent, a.message.source, a.message.id) <
           std::tuple(b.message.sent, b.message.source, b.message.id);
  });
}

// A link is sampled where its sender runs, a message is noted where its receiver does.
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

// A packet all the way, and the rest of the bytes behind it over the slowest link.
Time NetworkWatch::IdleTime(const MessageRecord& record) const {
  const Message& message = record.message;
  const FabricMap& map = fabric_.GetMap();
  const uint32_t path = QueuePairTable::PathHash(message);
  const auto ends =
      map.PickAccess(static_cast<uint32_t>(message.source), message.source_nic,
                     static_cast<uint32_t>(message.destination), message.destination_nic, path);
  if (!ends) return Time();  // a fault has cut it off since
  const int64_t first = std::min(mtu_, message.size.count());
  const int64_t packets = (message.size.count() + mtu_ - 1) / mtu_;
  const FabricMap::PathTime packet = map.MeasurePath(*ends, path, header_ + first);
  const int64_t rest = message.size.count() - first + (packets - 1) * header_;
  const double behind = static_cast<double>(packet.slowest) * static_cast<double>(rest) /
                        static_cast<double>(header_ + first);
  return Time::Ps(packet.time + static_cast<int64_t>(behind)) +
         nic_latency_[static_cast<size_t>(message.source)] +
         nic_latency_[static_cast<size_t>(message.destination)];
}

}  // namespace drydock
