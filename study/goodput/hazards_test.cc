#include "study/goodput/hazards.h"

#include <gtest/gtest.h>

#include "study/goodput/time_units.h"

namespace drydock {
namespace {

// Three hosts of four GPUs and two NICs. NICs 0 are on switch a, NICs 1 of hosts 0 and 1 on switch
// b, that of host 2 on switch c; two cables join b and c.
Topology Cluster() {
  Topology topology;
  topology.host_kinds.resize(1);
  topology.host_kinds[0].gpus = 4;
  topology.host_kinds[0].nics.count = 2;
  topology.hosts = {0, 0, 0};
  topology.fabric.switches.resize(3);
  const auto join = [&](LinkEnd a, LinkEnd b) {
    FabricLink& link = topology.fabric.links.emplace_back();
    link.a = a;
    link.b = b;
  };
  const auto nic = [](int host, int index) { return LinkEnd{false, host, index}; };
  const auto at = [](int index) { return LinkEnd{true, index, 0}; };
  for (int host = 0; host < 3; ++host) join(nic(host, 0), at(0));
  for (int host = 0; host < 2; ++host) join(at(1), nic(host, 1));
  join(nic(2, 1), at(2));
  join(at(1), at(2));
  join(at(1), at(2));
  return topology;
}

FailureModel EachOnceAYear() {
  FailureModel model;
  for (FailureModel::Rate& rate : model.rates) rate.per_year = {1, "test"};
  return model;
}

void ExpectHazard(const Hazard& hazard, FailingPart part, int hosts, int64_t count) {
  EXPECT_EQ(hazard.part, part);
  EXPECT_EQ(hazard.hosts, hosts);
  EXPECT_EQ(hazard.count, count);
  EXPECT_DOUBLE_EQ(hazard.per_second, static_cast<double>(count) / kSecondsOfYear);
}

TEST(Hazards, CountPartsByTheHostsThatTheyTakeOut) {
  const std::vector<Hazard> hazards = HazardsOf(Cluster(), EachOnceAYear());
  ASSERT_EQ(hazards.size(), 10U);
  ExpectHazard(hazards[0], FailingPart::kGpu, 1, 12);
  ExpectHazard(hazards[1], FailingPart::kHbm, 1, 12);
  ExpectHazard(hazards[2], FailingPart::kNic, 1, 6);
  ExpectHazard(hazards[3], FailingPart::kSwitch, 1, 1);
  ExpectHazard(hazards[4], FailingPart::kSwitch, 2, 1);
  ExpectHazard(hazards[5], FailingPart::kSwitch, 3, 1);
  ExpectHazard(hazards[6], FailingPart::kCable, 0, 2);
  ExpectHazard(hazards[7], FailingPart::kCable, 1, 6);
  ExpectHazard(hazards[8], FailingPart::kHost, 1, 3);
  ExpectHazard(hazards[9], FailingPart::kSoftware, 0, 3);
  EXPECT_DOUBLE_EQ(SumOf(hazards), (12 + 12 + 6 + 3 + 8 + 3 + 3) / kSecondsOfYear);
}

TEST(Hazards, UnknownRatesCountNothing) {
  FailureModel model = EachOnceAYear();
  model.rates[static_cast<size_t>(FailingPart::kGpu)].per_year.value.reset();
  const std::vector<Hazard> hazards = HazardsOf(Cluster(), model);
  EXPECT_EQ(hazards[0].count, 12);
  EXPECT_EQ(hazards[0].per_second, 0);
}

TEST(Hazards, AHostWithoutFabricHasNoSwitches) {
  Topology topology = Cluster();
  topology.hosts = {0};
  topology.fabric = {};
  for (const Hazard& hazard : HazardsOf(topology, EachOnceAYear())) {
    EXPECT_NE(hazard.part, FailingPart::kSwitch);
    EXPECT_NE(hazard.part, FailingPart::kCable);
  }
}

}  // namespace
}  // namespace drydock
