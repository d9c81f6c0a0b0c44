#include "report/cost/cost.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Two hosts of four GPUs, each with a cable to one switch.
Topology Pair() {
  Topology topology;
  topology.host_kinds.resize(1);
  topology.host_kinds[0].gpus = 4;
  topology.hosts = {0, 0};
  topology.fabric.switches.resize(1);
  topology.fabric.links.resize(2);
  return topology;
}

Cost::Power Drawn() {
  return {{700, "a"}, {1000, "b"}, StatedValue{600, "c"}, StatedValue{10, "d"}, {1.25, "e"}};
}

TEST(Cost, IsAbsentUnlessStated) { EXPECT_FALSE(CostOf(Pair(), 2, 1000)); }

TEST(Cost, RentIsThatOfTheWholeCluster) {
  Topology topology = Pair();
  topology.cost.emplace().currency = "USD";
  topology.cost->gpu_hour = {3, "list"};
  const CostFacts facts = *CostOf(topology, 1.5, 1000);
  EXPECT_DOUBLE_EQ(*facts.per_hour, 24);
  EXPECT_DOUBLE_EQ(*facts.iteration, 0.01);
  EXPECT_DOUBLE_EQ(*facts.token, 1e-5);
  EXPECT_FALSE(facts.watts);
  EXPECT_FALSE(facts.token_joules);
  ASSERT_EQ(facts.assumptions.size(), 1U);
  EXPECT_EQ(facts.assumptions[0].value, "3 USD an hour");
  EXPECT_EQ(facts.assumptions[0].source, "list");
  topology.cost->host_hour = std::exchange(topology.cost->gpu_hour, {});
  EXPECT_DOUBLE_EQ(*CostOf(topology, 1.5, 1000)->per_hour, 6);
}

// 8 GPUs, 2 hosts, a switch and 4 ends of cables: 5600 + 2000 + 600 + 40 = 8240 W.
TEST(Cost, PowerIsThatOfAllPartsTimesThePue) {
  Topology topology = Pair();
  topology.cost.emplace().power = Drawn();
  const CostFacts facts = *CostOf(topology, 2, 1000);
  EXPECT_DOUBLE_EQ(*facts.watts, 10300);
  EXPECT_DOUBLE_EQ(*facts.iteration_joules, 20600);
  EXPECT_DOUBLE_EQ(*facts.token_joules, 20.6);
  EXPECT_FALSE(facts.per_hour);
  EXPECT_FALSE(facts.token);
  EXPECT_EQ(facts.assumptions.size(), 5U);
}

TEST(Cost, CapitalIsSpreadOverItsYearsAndElectricityAdded) {
  Topology topology = Pair();
  Cost& cost = topology.cost.emplace();
  cost.currency = "USD";
  cost.power = Drawn();
  cost.capital = {{300000, "a"}, StatedValue{50000, "b"}, StatedValue{250, "c"}, {2, "d"}};
  cost.electricity = {0.1, "e"};
  const CostFacts facts = *CostOf(topology, 3600, 0);
  ASSERT_EQ(facts.hourly.size(), 2U);
  EXPECT_DOUBLE_EQ(facts.hourly[0].second, (600000 + 50000 + 1000) / (2 * 8766.0));
  EXPECT_DOUBLE_EQ(facts.hourly[1].second, 1.03);
  EXPECT_DOUBLE_EQ(*facts.iteration, *facts.per_hour);
  EXPECT_FALSE(facts.token);
}

TEST(Cost, ARunThatWasStoppedCostsByTheHour) {
  Topology topology = Pair();
  topology.cost.emplace().power = Drawn();
  const CostFacts facts = *CostOf(topology, 0, 1000);
  EXPECT_TRUE(facts.watts);
  EXPECT_FALSE(facts.iteration_joules);
}

}  // namespace
}  // namespace drydock
