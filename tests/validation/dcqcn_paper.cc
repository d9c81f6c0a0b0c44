// Runs a scenario of the DCQCN paper (Zhu et al., SIGCOMM 2015) and prints each flow's rate over
// time.
//
//   dcqcn_paper SCENARIO CONTROL ROUTES
//
// The testbed of section 2.2: four leaves T1 to T4 of 40 Gb/s; T1 and T2 below two switches, T3 and
// T4 below two others, and all four of these below two more. PFC with 12 MB a switch, 1 us a
// cable. Scenarios:
//   unfairness   H1, H2, H3 (at T1) and H4 (at T4) send to R (at T4)                 figures 3, 8
//   victim-N     four hosts at T1 and N at T3 send to R; VS (at T1) sends to VR (at T2)    4, 9
//   convergence  four hosts at T1 send to one of T2; one starts every 100 ms, later one stops every
//   100 ms
// ROUTES is a number that selects the flows' queue pairs and so their routes (ECMP). With CONTROL
// dcqcn the parameters are the paper's (figure 14).
// Prints: time_us, and for each flow its rate in Gb/s over the last interval.
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ns3-backend/test/fabrics_testing.h"
#include "tests/validation/steady_flows.h"

namespace drydock {
namespace {

// Hosts by leaf: five at T1 (the last is VS), one at T2 (VR), two at T3, two at T4 (R and H4).
constexpr int kHostsOfLeaf[] = {5, 1, 2, 2};
constexpr HostId kVictim = 4, kVictimReceiver = 5, kFirstOfT3 = 6, kReceiver = 8, kNeighbour = 9;

struct NamedFlow {
  std::string name;
  Flow flow;
};

std::optional<std::vector<NamedFlow>> FlowsOf(const std::string& scenario) {
  const Time end = Time::Us(100'000);
  std::vector<NamedFlow> flows;
  if (scenario == "unfairness") {
    for (HostId h = 0; h < 3; ++h) {
      flows.push_back({fmt::format("h{}", h + 1), {h, kReceiver, Time(), end}});
    }
    flows.push_back({"h4", {kNeighbour, kReceiver, Time(), end}});
    return flows;
  }
  if (scenario == "convergence") {
    for (int i = 0; i < 4; ++i) {
      const Time begin = Time::Us(100'000 * i), stop = Time::Us(400'000 + 100'000 * i);
      flows.push_back({fmt::format("h{}", i + 1), {i, kVictimReceiver, begin, stop}});
    }
    return flows;
  }
  for (const int more : {0, 1, 2}) {
    if (scenario != fmt::format("victim-{}", more)) continue;
    flows.push_back({"vs", {kVictim, kVictimReceiver, Time(), end}});
    for (HostId h = 0; h < 4; ++h) {
      flows.push_back({fmt::format("h1{}", h + 1), {h, kReceiver, Time(), end}});
    }
    for (int i = 0; i < more; ++i) {
      flows.push_back({fmt::format("h3{}", i + 1), {kFirstOfT3 + i, kReceiver, Time(), end}});
    }
    return flows;
  }
  return std::nullopt;
}

Topology Testbed(const std::string& control) {
  FabricShape shape = HpccPaperShape(control);
  shape.rate = Bandwidth::BitsPerSecond(40'000'000'000);
  shape.transport.attributes = {{"RdmaTransport::WindowBdp", "1000"}};
  if (shape.transport.congestion_control == CongestionControl::kDcqcn) {
    // Kmin 5 KB, Kmax 200 KB, Pmax 1 %, 40 Mb/s a step: at 40 Gb/s, so here times 25 / 40.
    shape.transport.attributes = {
        {"Dcqcn::AdditiveIncrease", "25 Mbps"},   {"Dcqcn::HyperIncrease", "250 Mbps"},
        {"FabricSwitch::EcnMax", "125000"},       {"FabricSwitch::EcnMin", "3125"},
        {"FabricSwitch::EcnProbability", "0.01"}, {"RdmaTransport::WindowBdp", "1000"}};
  }
  Topology topology = Hosts(kNeighbour + 1, 1, shape);
  std::vector<LinkEnd> leaves, uppers;
  for (int i = 0; i < 4; ++i) leaves.push_back(AddSwitch(topology, 0, shape));
  for (int i = 0; i < 4; ++i) uppers.push_back(AddSwitch(topology, 1, shape));
  HostId host = 0;
  for (size_t leaf = 0; leaf < 4; ++leaf) {
    for (int i = 0; i < kHostsOfLeaf[leaf]; ++i) {
      Cable(topology, NicOf(host++, 0), leaves[leaf], shape);
    }
    for (size_t i = 0; i < 2; ++i) {
      Cable(topology, leaves[leaf], uppers[leaf / 2 * 2 + i], shape);
    }
  }
  for (int i = 0; i < 2; ++i) {
    const LinkEnd top = AddSwitch(topology, 2, shape);
    for (const LinkEnd& upper : uppers) Cable(topology, upper, top, shape);
  }
  for (FabricSwitch& each : topology.fabric.switches) each.buffer = Bytes(12'000'000);
  return topology;
}

int Run(const std::string& scenario, const std::string& control, uint32_t routes) {
  const std::optional<std::vector<NamedFlow>> named = FlowsOf(scenario);
  if (!named) {
    fmt::print(stderr, "there is no scenario '{}'\n", scenario);
    return 2;
  }
  std::vector<Flow> flows;
  for (const NamedFlow& each : *named) {
    flows.push_back(each.flow);
    flows.back().number = routes * 16 + static_cast<uint32_t>(flows.size());
  }
  const Time interval = Time::Us(scenario == "convergence" ? 4000 : 1000);
  const Result<NetworkLog> log = RunFlows(Testbed(control), flows, interval);
  if (!log.ok()) {
    fmt::print(stderr, "{}\n", log.error().ToString());
    return 1;
  }
  Delivered delivered = DeliveredIn(*log, interval);
  fmt::print("time_us");
  for (const NamedFlow& each : *named) fmt::print(",{}", each.name);
  fmt::print("\n");
  const int64_t last = delivered.empty() ? -1 : delivered.rbegin()->first;
  for (int64_t i = 0; i <= last; ++i) {
    fmt::print("{}", (i + 1) * interval.ps() / 1'000'000);
    for (const Flow& flow : flows) {
      fmt::print(",{:.2f}", GbpsOf(delivered[i][flow.from], interval));
    }
    fmt::print("\n");
  }
  return 0;
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: dcqcn_paper SCENARIO CONTROL ROUTES\n");
    return 2;
  }
  return drydock::Run(argv[1], argv[2], static_cast<uint32_t>(std::atoi(argv[3])));
}
