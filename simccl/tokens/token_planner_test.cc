// Plans of token exchanges: what they compute, on symbolic data, and how they move it.
#include "simccl/tokens/token_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/calls/grouped_call.h"
#include "simccl/testing/proof_testing.h"

namespace drydock {
namespace {

using ::testing::HasSubstr;

constexpr int kInHost = 4;

Topology Hosts(int hosts, int nics) {
  Topology topology;
  HostKind kind;
  kind.name = "box";
  kind.gpus = kInHost;
  kind.nics.count = nics;
  topology.host_kinds = {kind};
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  return topology;
}

std::vector<Placement::Slot> Slots(int hosts) {
  std::vector<Placement::Slot> slots;
  for (int host = 0; host < hosts; ++host) {
    for (int gpu = 0; gpu < kInHost; ++gpu) slots.push_back({host, gpu});
  }
  return slots;
}

// 1000 elements to each member of the host, itself included; 300 to the same place on other hosts.
CommCall TwoHops(int hosts) {
  CommCall call;
  call.collective = CollectiveType::kAllToAllV;
  call.group_size = hosts * kInHost;
  call.buffers = BufferKind::kDeepEp;
  call.sms = 20;
  for (int from = 0; from < call.group_size; ++from) {
    for (int to = 0; to < call.group_size; ++to) {
      const bool inside = from / kInHost == to / kInHost;
      call.pair_counts.push_back(inside ? 1000 : from % kInHost == to % kInHost ? 300 : 0);
    }
  }
  call.count = 1000 * kInHost + 300 * (hosts - 1);
  return call;
}

TokenCosts Costs() {
  const auto rate = [](int64_t gigabits) {
    return Bandwidth::BitsPerSecond(gigabits * 1'000'000'000);
  };
  TokenCosts costs;
  costs.start = costs.start_between_hosts = Time::Us(30);
  costs.rate = rate(16);
  costs.rate_between_hosts = rate(10);
  return costs;
}

Plan Proven(const CommCall& call, int hosts) {
  return ProvenPlan(PlanTokenExchange(call, Slots(hosts), Hosts(hosts, kInHost), Costs()), call);
}

TEST(TokenPlanner, EveryMemberGetsItsTokens) {
  for (const int hosts : {1, 2, 3}) {
    const Plan plan = Proven(TwoHops(hosts), hosts);
    EXPECT_EQ(plan.works[0].algorithm, Algorithm::kDeepEp);
    EXPECT_EQ(plan.works[0].channels, 20);
    EXPECT_EQ(plan.works[0].start, Costs().start);
    EXPECT_EQ(plan.works[0].rate, hosts > 1 ? Costs().rate_between_hosts : Costs().rate);
    const auto ranks = static_cast<size_t>(hosts * kInHost);
    EXPECT_EQ(plan.connections.size(), ranks * (kInHost - 1 + static_cast<size_t>(hosts) - 1));
  }
}

TEST(TokenPlanner, OtherHostsAreReachedByTheNicOfTheGpu) {
  int over_network = 0;
  for (const Connection& c : Proven(TwoHops(2), 2).connections) {
    const bool net = c.from / kInHost != c.to / kInHost;
    EXPECT_EQ(c.link == LinkKind::kNet, net);
    EXPECT_TRUE(c.direct);
    if (!net) continue;
    EXPECT_EQ(c.send_nic, c.from % kInHost);
    EXPECT_EQ(c.recv_nic, c.to % kInHost);
    ++over_network;
  }
  EXPECT_EQ(over_network, 2 * kInHost);
}

TEST(TokenPlanner, HybridEpIsToldApart) {
  CommCall call = TwoHops(1);
  call.buffers = BufferKind::kHybridEp;
  EXPECT_EQ(Proven(call, 1).works[0].algorithm, Algorithm::kHybridEp);
  EXPECT_THAT(NameOf(call), HasSubstr("over 4, hybridep"));
  EXPECT_TRUE(BypassesNccl(call));
}

TEST(TokenPlanner, RefusesWhatNoLibraryDoes) {
  const auto error = [](const CommCall& call, int nics) {
    const Result<Plan> plan = PlanTokenExchange(call, Slots(2), Hosts(2, nics), Costs());
    return plan.ok() ? "" : plan.error().message();
  };
  CommCall sum = TwoHops(2);
  sum.collective = CollectiveType::kAllReduce;
  EXPECT_THAT(error(sum, kInHost), HasSubstr("an all-to-all-v by at least one SM"));
  CommCall idle = TwoHops(2);
  idle.sms = 0;
  EXPECT_THAT(error(idle, kInHost), HasSubstr("an all-to-all-v by at least one SM"));
  EXPECT_EQ(error(TwoHops(2), 0), "box hosts have no NICs to exchange tokens with others");
}

// With low latency, each member sends to every other, on other hosts too, and nothing is forwarded.
TEST(TokenPlanner, LowLatencySendsStraightToEachMember) {
  CommCall call = TwoHops(2);
  call.buffers = BufferKind::kDeepEpLowLatency;
  call.sms = 1;
  call.pair_counts.assign(64, 500);
  call.count = 8 * 500;
  TokenCosts costs = Costs();
  costs.start_between_hosts = Time::Us(44);
  const Plan plan = ProvenPlan(PlanTokenExchange(call, Slots(2), Hosts(2, kInHost), costs), call);
  EXPECT_EQ(plan.works[0].algorithm, Algorithm::kDeepEpLowLatency);
  EXPECT_EQ(plan.works[0].start, Time::Us(44));
  EXPECT_EQ(plan.connections.size(), 8u * 7u);
  for (const Connection& c : plan.connections) {
    const bool net = c.from / kInHost != c.to / kInHost;
    EXPECT_EQ(c.link == LinkKind::kNet, net);
    if (!net) continue;
    EXPECT_EQ(c.send_nic, c.from % kInHost);
    EXPECT_EQ(c.recv_nic, c.to % kInHost);
  }
  // Each begins with the member that has its place on the other host, so no NIC gets all at once.
  for (size_t member = 0; member < 8; ++member) {
    const ChannelProgram& sends = plan.members[member].front();
    const Connection& first = plan.connections[plan.operands[sends.operand_begin]];
    EXPECT_EQ(first.from, member);
    EXPECT_EQ(first.to, (member + kInHost) % 8);
  }
}

}  // namespace
}  // namespace drydock
