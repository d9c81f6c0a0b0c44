// Runs a textbook scenario of congestion on the packet network and prints it as a table over time.
//
//   network_scenarios SCENARIO CONTROL [Class::Attribute=VALUE]...
//
// Scenarios (100 Gb/s, 1 us a cable, 1000 B packets, an acknowledgement each, PFC, 32 MB):
//   two-to-one   host 1 sends to host 0 for 6 ms; host 2 joins it from 1 ms to 5 ms
//   incast       host 1 sends to host 0 for 3 ms; at 1 ms 16 others send it 500 KB each
// Prints: time_us, queue_bytes, paused_us, and each flow's rate in Gb/s over the last interval.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/test_fabrics.h"

namespace drydock {
namespace {

constexpr Time kInterval = Time::Us(50);

// What a host sends to host 0: pieces one after another, a few under way, from `begin` until `end`,
// or until `total` bytes are sent.
struct Flow {
  HostId from = 0;
  Time begin, end;
  int64_t total = INT64_MAX;
};

class Sender : public HostActor {
 public:
  Sender(HostId host, const std::vector<Flow>& flows) : host_(host) {
    for (const Flow& flow : flows) {
      if (flow.from == host) flow_ = flow;
    }
  }
  void SetPort(HostPort* port) { port_ = port; }
  void Start() override {
    if (flow_.from == host_ && flow_.end > Time()) port_->At(flow_.begin, 0);
  }
  void OnTimer(TimerId) override {
    for (int i = 0; i < kUnderWay; ++i) SendPiece();
  }
  void OnSent(const Message&) override { SendPiece(); }
  void OnDelivered(const Message&) override {}

 private:
  static constexpr int kUnderWay = 200;
  static constexpr int64_t kPiece = 10'000;

  void SendPiece() {
    if (port_->Now() >= flow_.end || sent_ >= flow_.total) return;
    Message message;
    message.id = next_++;
    message.source = host_;
    message.size = Bytes(std::min(kPiece, flow_.total - sent_));
    sent_ += message.size.count();
    port_->Send(message);
  }

  HostId host_;
  HostPort* port_ = nullptr;
  Flow flow_;
  int64_t sent_ = 0;
  MessageId next_ = 0;
};

std::vector<Flow> FlowsOf(const std::string& scenario) {
  if (scenario == "two-to-one") {
    return {{1, Time(), Time::Us(6000)}, {2, Time::Us(1000), Time::Us(5000)}};
  }
  std::vector<Flow> flows = {{1, Time(), Time::Us(3000)}};
  for (HostId from = 2; from <= 17; ++from) {
    flows.push_back({from, Time::Us(1000), Time::Us(3000), 500'000});
  }
  return flows;
}

Topology TopologyOf(const std::vector<Flow>& flows, const std::string& control) {
  const FabricShape shape = HpccPaperShape(control);
  Topology topology = Star(static_cast<int>(flows.size()) + 1, shape);
  topology.fabric.switches[0].buffer = Bytes(32'000'000);
  return topology;
}

void Print(const NetworkLog& log, const std::vector<Flow>& flows) {
  struct Row {
    int64_t queue = 0;
    Time paused;
    std::map<HostId, int64_t> bytes;
  };
  std::map<int64_t, Row> rows;  // by number of the interval
  for (const LinkSample& sample : log.samples) {
    const LinkName& link = log.links[static_cast<size_t>(sample.link)];
    Row& row = rows[(sample.at.ps() - 1) / kInterval.ps()];
    if (link.to == "host 0/nic0") row.queue = sample.queued.count();
    row.paused = row.paused + sample.paused;
  }
  for (const MessageRecord& record : log.messages) {
    rows[record.delivered.ps() / kInterval.ps()].bytes[record.message.source] +=
        record.message.size.count();
  }
  fmt::print("time_us,queue_bytes,paused_us");
  for (const Flow& flow : flows) fmt::print(",flow{}_gbps", flow.from);
  fmt::print("\n");
  const int64_t last = rows.empty() ? -1 : rows.rbegin()->first;
  for (int64_t i = 0; i <= last; ++i) {
    Row& row = rows[i];
    fmt::print("{},{},{:.3f}", (i + 1) * kInterval.ps() / 1'000'000, row.queue,
               static_cast<double>(row.paused.ps()) * 1e-6);
    for (const Flow& flow : flows) {
      fmt::print(",{:.2f}", static_cast<double>(row.bytes[flow.from]) * 8e3 /
                                static_cast<double>(kInterval.ps()));
    }
    fmt::print("\n");
  }
}

int Run(const std::string& scenario, const std::string& control,
        std::vector<std::pair<std::string, std::string>> attributes) {
  const std::vector<Flow> flows = FlowsOf(scenario);
  Topology topology = TopologyOf(flows, control);
  std::sort(attributes.begin(), attributes.end());
  topology.transport.attributes = std::move(attributes);
  const auto network = MakePacketNetwork(topology, {.threads = 1, .log_interval = kInterval});
  if (!network.ok()) {
    fmt::print(stderr, "{}\n", network.error().ToString());
    return 1;
  }
  std::vector<Sender> senders;
  for (HostId host = 0; host < topology.host_count(); ++host) {
    senders.emplace_back(host, flows);
    senders.back().SetPort(network.value()->port(host));
  }
  std::vector<HostActor*> actors;
  for (Sender& sender : senders) actors.push_back(&sender);
  const Status done = network.value()->Run(actors);
  if (!done.ok()) {
    fmt::print(stderr, "{}\n", done.error().ToString());
    return 1;
  }
  Print(*network.value()->Log(), flows);
  return 0;
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  const std::string scenario = argc > 2 ? argv[1] : "";
  if (scenario != "two-to-one" && scenario != "incast") {
    fmt::print(stderr, "usage: network_scenarios two-to-one|incast CONTROL [NAME=VALUE]...\n");
    return 2;
  }
  std::vector<std::pair<std::string, std::string>> attributes;
  for (int i = 3; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals == nullptr) {
      fmt::print(stderr, "'{}' is no NAME=VALUE\n", argv[i]);
      return 2;
    }
    attributes.emplace_back(std::string(static_cast<const char*>(argv[i]), equals), equals + 1);
  }
  return drydock::Run(scenario, argv[2], std::move(attributes));
}
