#include "ns3-backend/packet_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "core/base/check.h"
#include "core/base/parcel.h"
#include "ns3-backend/helper/fabric-check.h"
#include "ns3-backend/helper/fabric-helper.h"
#include "ns3-backend/link_capture.h"
#include "ns3-backend/link_totals.h"
#include "ns3-backend/model/simulator/windowed-simulator-impl.h"
#include "ns3-backend/network_totals.h"
#include "ns3-backend/network_watch.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace drydock {
namespace {

using ns3::rdma::FabricHelper;
using ns3::rdma::FabricSwitch;
using ns3::rdma::RdmaHost;
using ns3::rdma::WindowedSimulatorImpl;

bool alive = false;  // ns-3 has one simulator per process

class PacketNetwork : public Network {
 public:
  PacketNetwork(const Topology& topology, const NetworkOptions& options)
      : simulator_(Claim(options)),
        processes_(options.processes),
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

  bool Owns(HostId host) const override {
    return simulator_->Owns(*fabric_.GetHosts()[static_cast<size_t>(host)]);
  }

  HostPort* port(HostId host) override { return fabric_.GetHosts()[static_cast<size_t>(host)]; }

  Status Run(std::span<HostActor* const> actors) override {
    const std::vector<RdmaHost*>& hosts = fabric_.GetHosts();
    CHECK(actors.size() == hosts.size());
    for (size_t i = 0; i < hosts.size(); ++i) hosts[i]->SetActor(actors[i]);
    ns3::Simulator::Run();
    if (watch_) watch_->Finish(processes_);
    totals_.windows = simulator_->GetWindowCount();
    const int64_t end = LastEvent(fabric_, processes_);
    totals_.Add(fabric_, end);
    totals_.Combine(processes_);
    constexpr size_t kMaxLinks = 20;  // of up to a hundred thousand
    busiest_ = drydock::BusiestLinks(fabric_, kMaxLinks, end, processes_);
    const Status written = WriteCaptures();  // also if the run failed: they help to find out why
    RETURN_IF_ERROR(Verdict());
    return written;
  }

  // Call before the run.
  Status Capture(const CaptureOptions& options) {
    ASSIGN_OR_RETURN(captures_.emplace_back(), LinkCapture::Create(fabric_, options));
    return OkStatus();
  }

  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    return CountersOf(totals_, transport_, faults_, loses_);
  }

  std::vector<LinkTotal> BusiestLinks() const override { return busiest_; }

  const NetworkLog* Log() const override { return watch_ ? &watch_->Log() : nullptr; }

 private:
  // Installs the parallel simulator before the first ns-3 object is made.
  static ns3::Ptr<WindowedSimulatorImpl> Claim(const NetworkOptions& options) {
    CHECK_NOTE(!alive, "at most one packet network at a time");
    alive = true;
    unsetenv("NS_ATTRIBUTE_DEFAULT");
    if (ns3::Time::GetResolution() != ns3::Time::PS) ns3::Time::SetResolution(ns3::Time::PS);
    auto simulator = ns3::CreateObject<WindowedSimulatorImpl>();
    simulator->SetAttribute("Threads", ns3::UintegerValue(static_cast<uint64_t>(options.threads)));
    if (!options.partitioning.empty()) {
      CHECK(std::count(Partitionings().begin(), Partitionings().end(), options.partitioning) == 1);
      simulator->SetAttribute("Assignment", ns3::StringValue(options.partitioning));
    }
    simulator->SetProcesses(options.processes);
    ns3::Simulator::SetImplementation(simulator);
    return simulator;
  }

  Status WriteCaptures() const {
    for (const auto& capture : captures_) RETURN_IF_ERROR(capture->Write(processes_));
    return OkStatus();
  }

  // Returns the first failure of all processes in order of (time, node).
  Status Verdict() const {
    const ns3::rdma::FabricNode* failed = nullptr;
    const auto look = [&failed](const ns3::rdma::FabricNode* node) {
      if (node->GetFailure().text.empty()) return;
      if (failed == nullptr || node->GetFailure().time < failed->GetFailure().time) failed = node;
    };
    for (const RdmaHost* host : fabric_.GetHosts()) look(host);
    for (const FabricSwitch* node : fabric_.GetSwitches()) look(node);
    std::string own;
    if (failed != nullptr) {
      Pack(failed->GetFailure().time, &own);
      Pack(failed->GetNumber(), &own);
      Pack(failed->GetFailure().text, &own);
    }
    std::optional<Failure> first;
    for (const std::string& parcel : processes_->GatherAll(own)) {
      if (parcel.empty()) continue;
      Unpacker unpacker(parcel);
      Failure each;
      unpacker.Take(&each.time);
      unpacker.Take(&each.node);
      unpacker.Take(&each.text);
      if (!first || each < *first) first = each;
    }
    if (first) return Error(first->text);
    for (const RdmaHost* host : fabric_.GetHosts()) {
      CHECK_NOTE(host->Idle(), "the network has no events left but a message in flight");
    }
    return OkStatus();
  }

  struct Failure {
    int64_t time = 0;
    uint32_t node = 0;
    std::string text;
    bool operator<(const Failure& other) const {
      return std::tie(time, node) < std::tie(other.time, other.node);
    }
  };

  ns3::Ptr<WindowedSimulatorImpl> simulator_;
  Processes* processes_;
  FabricHelper fabric_;
  std::unique_ptr<NetworkWatch> watch_;  // null: no log is requested
  std::vector<std::unique_ptr<LinkCapture>> captures_;
  Transport transport_;
  bool faults_;
  bool loses_;
  NetworkTotals totals_;            // after Run
  std::vector<LinkTotal> busiest_;  // after Run
};

}  // namespace

const std::vector<std::string>& Partitionings() {
  static const std::vector<std::string> names = {"neighbours", "in-turns", "by-layer"};
  return names;
}

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
