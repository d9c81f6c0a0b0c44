#include "ns3-backend/network_totals.h"

#include <algorithm>

#include "core/base/parcel.h"

namespace drydock {

using Switch = ns3::rdma::FabricSwitch;
using ns3::rdma::RdmaHost;

namespace {

constexpr uint64_t NetworkTotals::*kSums[] = {
    &NetworkTotals::messages,   &NetworkTotals::packets,  &NetworkTotals::acks,
    &NetworkTotals::hops,       &NetworkTotals::pairs,    &NetworkTotals::events,
    &NetworkTotals::over,       &NetworkTotals::marked,   &NetworkTotals::cnps,
    &NetworkTotals::pauses,     &NetworkTotals::dropped,  &NetworkTotals::nacks,
    &NetworkTotals::repeated,   &NetworkTotals::timeouts, &NetworkTotals::lost,
    &NetworkTotals::unroutable, &NetworkTotals::trimmed,  &NetworkTotals::paused_ps};

}  // namespace

void NetworkTotals::Add(const ns3::rdma::FabricHelper& fabric, int64_t end) {
  const auto add_node = [&](const ns3::rdma::FabricNode& node) {
    events += node.GetEventCount();
    lost += node.GetNLost();
    for (uint16_t port = 0; port < node.GetNPorts(); ++port) {
      hops += node.GetEgress(port).frames;
      paused_ps += static_cast<uint64_t>(node.GetPausedTime(port, end));
    }
  };
  for (const RdmaHost* host : fabric.GetHosts()) {
    add_node(*host);
    messages += host->GetCounts().messages;
    packets += host->GetCounts().packets;
    acks += host->GetCounts().acks;
    events += host->GetCounts().calls;
    pairs += host->GetNQueuePairs();
    cnps += host->GetCounts().cnps;
    nacks += host->GetCounts().nacks;
    repeated += host->GetCounts().repeated;
    timeouts += host->GetCounts().timeouts;
  }
  for (const Switch* node : fabric.GetSwitches()) {
    add_node(*node);
    for (uint16_t port = 0; port < node->GetNPorts(); ++port) {
      const Switch::PortCounts& counts = node->GetPortCounts(port);
      max_queued = std::max(max_queued, counts.maxQueued);
      marked += counts.marked;
      dropped += counts.dropped;
      trimmed += counts.trimmed;
    }
    max_buffered = std::max(max_buffered, node->GetBuffer().GetMaxUsed());
    over += node->GetBuffer().GetFramesOver();
    pauses += node->GetCounts().pauses;
    unroutable += node->GetCounts().unroutable;
  }
}

void NetworkTotals::Combine(Processes* processes) {
  std::string own;
  Pack(*this, &own);
  NetworkTotals all;
  all.windows = windows;
  for (const std::string& parcel : processes->GatherAll(own)) {
    const auto each = Unpacker(parcel).Take<NetworkTotals>();
    for (uint64_t NetworkTotals::*sum : kSums) all.*sum += each.*sum;
    all.max_queued = std::max(all.max_queued, each.max_queued);
    all.max_buffered = std::max(all.max_buffered, each.max_buffered);
  }
  *this = all;
}

std::vector<std::pair<std::string, int64_t>> CountersOf(const NetworkTotals& totals,
                                                        const Transport& transport, bool faults,
                                                        bool loses) {
  std::vector<std::pair<std::string, int64_t>> counters;
  const auto add = [&](const char* name, uint64_t value) {
    counters.emplace_back(name, static_cast<int64_t>(value));
  };
  add("messages", totals.messages);
  add("packets", totals.packets);
  add("acks", totals.acks);
  add("packet hops", totals.hops);
  add("queue pairs", totals.pairs);
  add("events", totals.events);
  add("windows", totals.windows);
  counters.emplace_back("max queue bytes", totals.max_queued);
  counters.emplace_back("max buffer bytes", totals.max_buffered);
  add("frames over buffer", totals.over);
  if (transport.congestion_control != CongestionControl::kNone) {
    add("marked frames", totals.marked);
    add("congestion notifications", totals.cnps);
  }
  if (transport.flow_control == FlowControl::kPfc) {
    add("pause frames", totals.pauses);
    add("ns of paused links", totals.paused_ps / 1000);
  }
  if (transport.flow_control != FlowControl::kIdeal) add("dropped frames", totals.dropped);
  if (transport.flow_control == FlowControl::kTrim) add("trimmed frames", totals.trimmed);
  if (faults) {
    add("frames lost to faults", totals.lost);
    add("frames without a way", totals.unroutable);
  }
  if (loses) {
    add("negative acks", totals.nacks);
    add("repeated packets", totals.repeated);
    add("ack timeouts", totals.timeouts);
  }
  return counters;
}

}  // namespace drydock
