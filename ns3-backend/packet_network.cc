#include "ns3-backend/packet_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/check.h"
#include "ns3-backend/helper/fabric-helper.h"
#include "ns3-backend/link_capture.h"
#include "ns3-backend/link_totals.h"
#include "ns3-backend/model/windowed-simulator-impl.h"
#include "ns3-backend/network_watch.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace drydock {
namespace {

using ns3::rdma::FabricHelper;
using ns3::rdma::FabricSwitch;
using ns3::rdma::RdmaHost;
using ns3::rdma::WindowedSimulatorImpl;

bool alive = false;  // ns-3 has one simulator a process

class PacketNetwork : public Network {
 public:
  PacketNetwork(const Topology& topology, const NetworkOptions& options)
      : simulator_(Claim(options)),
        fabric_(topology),
        transport_(topology.transport),
        faults_(!topology.faults.empty()),
        loses_(ns3::rdma::LosesFrames(topology)) {
    fabric_.Install(simulator_);
    if (options.log_interval > Time()) {
      watch_ = std::make_unique<NetworkWatch>(topology, fabric_, simulator_, options.log_interval);
    }
  }

  ~PacketNetwork() override {
    ns3::Simulator::Destroy();
    simulator_ = nullptr;
    alive = false;
  }

  HostPort* port(HostId host) override { return fabric_.GetHosts()[static_cast<size_t>(host)]; }

  Status Run(std::span<HostActor* const> actors) override {
    const std::vector<RdmaHost*>& hosts = fabric_.GetHosts();
    CHECK(actors.size() == hosts.size());
    for (size_t i = 0; i < hosts.size(); ++i) hosts[i]->SetActor(actors[i]);
    ns3::Simulator::Run();
    if (watch_) watch_->Finish();
    RETURN_IF_ERROR(Verdict());
    for (const auto& capture : captures_) RETURN_IF_ERROR(capture->Write());
    return OkStatus();
  }

  // Before the run.
  Status Capture(const CaptureOptions& options) {
    ASSIGN_OR_RETURN(captures_.emplace_back(), LinkCapture::Create(fabric_, options));
    return OkStatus();
  }

  std::vector<std::pair<std::string, int64_t>> Counters() const override;

  std::vector<LinkTotal> BusiestLinks() const override {
    constexpr size_t kMost = 20;  // of what can be a hundred thousand
    return drydock::BusiestLinks(fabric_, kMost);
  }

  const NetworkLog* Log() const override { return watch_ ? &watch_->Log() : nullptr; }

 private:
  // Puts our simulator in place before the first ns-3 object is made.
  static ns3::Ptr<WindowedSimulatorImpl> Claim(const NetworkOptions& options) {
    CHECK_NOTE(!alive, "at most one packet network at a time");
    alive = true;
    unsetenv("NS_ATTRIBUTE_DEFAULT");
    if (ns3::Time::GetResolution() != ns3::Time::PS) ns3::Time::SetResolution(ns3::Time::PS);
    auto simulator = ns3::CreateObject<WindowedSimulatorImpl>();
    simulator->SetAttribute("Threads", ns3::UintegerValue(static_cast<uint64_t>(options.threads)));
    ns3::Simulator::SetImplementation(simulator);
    return simulator;
  }

  // The first failure in order of (time, node), whichever thread met it.
  Status Verdict() const {
    const ns3::rdma::FabricNode* failed = nullptr;
    const auto look = [&failed](const ns3::rdma::FabricNode* node) {
      if (node->GetFailure().text.empty()) return;
      if (failed == nullptr || node->GetFailure().time < failed->GetFailure().time) failed = node;
    };
    for (const RdmaHost* host : fabric_.GetHosts()) look(host);
    for (const FabricSwitch* node : fabric_.GetSwitches()) look(node);
    if (failed != nullptr) return Error(failed->GetFailure().text);
    for (const RdmaHost* host : fabric_.GetHosts()) {
      CHECK_NOTE(host->Idle(), "the network ran dry with a message under way");
    }
    return OkStatus();
  }

  ns3::Ptr<WindowedSimulatorImpl> simulator_;
  FabricHelper fabric_;
  std::unique_ptr<NetworkWatch> watch_;  // null: nobody wants to know
  std::vector<std::unique_ptr<LinkCapture>> captures_;
  Transport transport_;
  bool faults_;
  bool loses_;
};

std::vector<std::pair<std::string, int64_t>> PacketNetwork::Counters() const {
  uint64_t messages = 0, packets = 0, acks = 0, hops = 0, pairs = 0, events = 0, over = 0;
  uint64_t marked = 0, cnps = 0, pauses = 0, dropped = 0, trimmed = 0, nacks = 0, repeated = 0,
           timeouts = 0;
  uint64_t lost = 0, unroutable = 0;
  int64_t queue = 0, buffer = 0;
  const auto add_node = [&](const ns3::rdma::FabricNode& node) {
    events += node.GetEventCount();
    lost += node.GetNLost();
    for (uint16_t port = 0; port < node.GetNPorts(); ++port) hops += node.GetEgress(port).frames;
  };
  for (const RdmaHost* host : fabric_.GetHosts()) {
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
  for (const FabricSwitch* node : fabric_.GetSwitches()) {
    add_node(*node);
    for (uint16_t port = 0; port < node->GetNPorts(); ++port) {
      const FabricSwitch::PortCounts& counts = node->GetPortCounts(port);
      queue = std::max(queue, counts.mostQueued);
      marked += counts.marked;
      dropped += counts.dropped;
      trimmed += counts.trimmed;
    }
    buffer = std::max(buffer, node->GetBuffer().GetMost());
    over += node->GetBuffer().GetFramesOver();
    pauses += node->GetCounts().pauses;
    unroutable += node->GetCounts().unroutable;
  }
  const auto count = [](uint64_t value) { return static_cast<int64_t>(value); };
  std::vector<std::pair<std::string, int64_t>> counters = {
      {"messages", count(messages)},
      {"packets", count(packets)},
      {"acks", count(acks)},
      {"packet hops", count(hops)},
      {"queue pairs", count(pairs)},
      {"events", count(events)},
      {"windows", count(simulator_->GetWindowCount())},
      {"max queue bytes", queue},
      {"max buffer bytes", buffer},
      {"frames over buffer", count(over)}};
  const auto add = [&](const char* name, uint64_t value) {
    counters.emplace_back(name, count(value));
  };
  if (transport_.congestion_control != "none") {
    add("marked frames", marked);
    add("congestion notifications", cnps);
  }
  if (transport_.flow_control == "pfc") add("pause frames", pauses);
  if (transport_.flow_control != "ideal") add("dropped frames", dropped);
  if (transport_.flow_control == "trim") add("trimmed frames", trimmed);
  if (faults_) {
    add("frames lost to faults", lost);
    add("frames without a way", unroutable);
  }
  if (loses_) {
    add("negative acks", nacks);
    add("repeated packets", repeated);
    add("ack timeouts", timeouts);
  }
  return counters;
}

}  // namespace

Result<std::unique_ptr<Network>> MakePacketNetwork(const Topology& topology,
                                                   const NetworkOptions& options) {
  if (options.threads < 1) {
    return Error(
        fmt::format("the packet network needs at least 1 thread, not {}", options.threads));
  }
  RETURN_IF_ERROR(ns3::rdma::ValidateFabric(topology));
  auto network = std::make_unique<PacketNetwork>(topology, options);
  for (const CaptureOptions& capture : options.captures) {
    RETURN_IF_ERROR(network->Capture(capture));
  }
  return std::unique_ptr<Network>(std::move(network));
}

}  // namespace drydock
