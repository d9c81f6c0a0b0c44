// Runs a textbook scenario of congestion on the packet network and prints it as a table over time.
//
//   network_scenarios SCENARIO CONTROL [Class::Attribute=VALUE]...
//
// Scenarios (100 Gb/s, 1 us a cable, 1000 B packets, an acknowledgement each, PFC, 32 MB):
//   two-to-one   host 1 sends to host 0 for 6 ms; host 2 sends too from 1 ms to 5 ms
//   incast       host 1 sends to host 0 for 3 ms; at 1 ms 16 other hosts send 500 KB each to it
// Prints: time_us, queue_bytes, paused_us, and each flow's rate in Gb/s over the last interval.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "ns3-backend/test/fabrics_testing.h"
#include "tests/validation/steady_flows.h"

namespace drydock {
namespace {

constexpr Time kInterval = Time::Us(50);

std::vector<Flow> FlowsOf(const std::string& scenario) {
  if (scenario == "two-to-one") {
    return {{1, 0, Time(), Time::Us(6000)}, {2, 0, Time::Us(1000), Time::Us(5000)}};
  }
  std::vector<Flow> flows = {{1, 0, Time(), Time::Us(3000)}};
  for (HostId from = 2; from <= 17; ++from) {
    flows.push_back({from, 0, Time::Us(1000), Time::Us(3000), 500'000});
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
  };
  std::map<int64_t, Row> rows;  // by number of the interval
  for (const LinkSample& sample : log.samples) {
    const LinkName& link = log.links[static_cast<size_t>(sample.link)];
    Row& row = rows[(sample.at.ps() - 1) / kInterval.ps()];
    if (link.to == "host 0/nic0") row.queue = sample.queued.count();
    row.paused = row.paused + sample.paused;
  }
  Delivered delivered = DeliveredIn(log, kInterval);
  fmt::print("time_us,queue_bytes,paused_us");
  for (const Flow& flow : flows) fmt::print(",flow{}_gbps", flow.from);
  fmt::print("\n");
  int64_t last = rows.empty() ? -1 : rows.rbegin()->first;
  if (!delivered.empty()) last = std::max(last, delivered.rbegin()->first);
  for (int64_t i = 0; i <= last; ++i) {
    Row& row = rows[i];
    fmt::print("{},{},{:.3f}", (i + 1) * kInterval.ps() / 1'000'000, row.queue,
               static_cast<double>(row.paused.ps()) * 1e-6);
    for (const Flow& flow : flows) {
      fmt::print(",{:.2f}", GbpsOf(delivered[i][flow.from], kInterval));
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
  const Result<NetworkLog> log = RunFlows(topology, flows, kInterval);
  if (!log.ok()) {
    fmt::print(stderr, "{}\n", log.error().ToString());
    return 1;
  }
  Print(*log, flows);
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
      fmt::print(stderr, "'{}' is not NAME=VALUE\n", argv[i]);
      return 2;
    }
    attributes.emplace_back(std::string(static_cast<const char*>(argv[i]), equals), equals + 1);
  }
  return drydock::Run(scenario, argv[2], std::move(attributes));
}
