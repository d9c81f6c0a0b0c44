#include "workload-gen/graph/text/topology_text.h"

#include <gmock/gmock.h>

namespace drydock {
namespace {

using testing::HasSubstr;

Topology TwoHosts() {
  Topology t;
  t.name = "pair";
  GpuSpec& gpu = t.gpus.emplace_back();
  gpu.name = "toy";
  gpu.architecture = "tin";
  gpu.compute_capability = 90;
  gpu.sms = 4;
  gpu.dense_rate[0] = FlopRate(1e12);
  HostKind& kind = t.host_kinds.emplace_back();
  kind.name = "box";
  kind.gpus = 2;
  kind.nics = {2, Bandwidth::BitsPerSecond(100'000'000'000), 4, 8, Time::Ns(500), Time::Ns(280)};
  t.hosts = {0, 0};
  t.fabric.kind = "explicit";
  t.fabric.switches = {{"leaf", 0, Time::Ns(300), Bytes(1000)}};
  t.fabric.links = {{{false, 1, 0}, {true, 0, 0}, kind.nics.rate, Time::Ns(50)}};
  t.faults = {{Time::Us(1), Fault::Kind::kDown, false, {0}, {}, 0}};
  t.transport.attributes = {{"Dcqcn::Gain", "0.5"}};
  return t;
}

TEST(TopologyText, NamesEachPart) {
  Variation variation;
  variation.slow_gpus = {{Time(), 1, -1, 2}};
  variation.jitter.seed = 7;
  const std::string text = TopologyText(TwoHosts(), variation);
  EXPECT_THAT(text, HasSubstr("cluster pair: 2 hosts, 4 GPUs\n"));
  EXPECT_THAT(text, HasSubstr(", fp32 1 TFLOPS\n"));
  EXPECT_THAT(text, HasSubstr("host kind box: 2 x toy\n"));
  EXPECT_THAT(text, HasSubstr("  NICs: 2 x 100 Gbps, PCIe gen4 x8, latency 500 ns, a message 280 "
                              "ns\nhosts 0-1: box\n"));
  EXPECT_THAT(text, HasSubstr("fabric explicit: routing ecmp, 1 switches, 1 cables\n"
                              "switch leaf: tier 0, latency 300 ns, buffer 1 KB\n"
                              "cable 0: host1/nic0 to leaf, 100 Gbps, 50 ns\n"));
  EXPECT_THAT(text, HasSubstr("attribute Dcqcn::Gain: 0.5\n"));
  EXPECT_THAT(text, HasSubstr("fault at 1 us: down begins, cables 0\n"
                              "slow GPU at 0 ps: host1, 2 times as long\n"));
  EXPECT_THAT(text, HasSubstr("seed 7\n"));
}

TEST(TopologyText, NamesCostsAndStorageWithTheirSources) {
  Topology topology = TwoHosts();
  EXPECT_THAT(TopologyText(topology, {}), testing::Not(HasSubstr("cost")));
  topology.storage = Storage{
      Bandwidth::BitsPerSecond(8'000'000'000), Bandwidth::BitsPerSecond(4'000'000'000), {}, "test"};
  Cost& cost = topology.cost.emplace();
  cost.currency = "EUR";
  cost.capital = {{9000, "a"}, StatedValue{800, "b"}, StatedValue{7, "c"}, {4, "d"}};
  cost.power = {{700, "e"}, {900, "f"}, {}, {}, {1.25, "g"}};
  cost.electricity = {0.08, "h"};
  EXPECT_THAT(TopologyText(topology, {}),
              HasSubstr("storage: read 8 Gbps, write 4 Gbps [test]\ncost\n"
                        "  price of a host: 9000 EUR [a]\n  price of a switch: 800 EUR [b]\n"
                        "  price of a cable's end: 7 EUR [c]\n  years: 4 [d]\n"
                        "  power of a GPU: 700 W [e]\n  power of a host: 900 W [f]\n"
                        "  PUE: 1.25 [g]\n  electricity: 0.08 EUR/kWh [h]\n"));
}

TEST(TopologyText, NamesTheLimitsOfGpus) {
  Topology topology = TwoHosts();
  topology.host_kinds[0].limits = {500, 1410};
  EXPECT_THAT(TopologyText(topology, {}),
              HasSubstr("host kind box: 2 x toy, limited to 500 W, limited to 1410 MHz\n"));
}

}  // namespace
}  // namespace drydock
