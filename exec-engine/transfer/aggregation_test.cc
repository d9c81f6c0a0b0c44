// Sums in the switches: which switches sum, and the time of the sums.
#include "exec-engine/transfer/aggregation.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"
#include "exec-engine/testing/replay_testing.h"
#include "exec-engine/transfer/aggregation_tree.h"

namespace drydock {
namespace {

using testing::Analytical;
using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

// `hosts` hosts of one GPU and one NIC of 200 Gbps, `per_leaf` of them on a leaf, all leaves on two
// spines. As in configs/clusters/dgx-h100-8-sharp.topo, cables are 10 and 50 m long, a switch takes
// 130 ns and a sum 80 ns.
Topology TwoTiers(int hosts, int per_leaf) {
  Topology t = SmallCluster(hosts, 1);
  t.host_kinds[0].nics.latency = Time::Ns(600);
  t.fabric = {};
  t.transport.header = Bytes(34);
  const Bandwidth rate = t.host_kinds[0].nics.rate;
  const int leaves = (hosts + per_leaf - 1) / per_leaf;
  for (int s = 0; s < leaves + 2; ++s) {
    const bool leaf = s < leaves;
    t.fabric.switches.push_back({(leaf ? "leaf" : "spine") + std::to_string(leaf ? s : s - leaves),
                                 leaf ? 0 : 1, Time::Ns(130), Bytes(1 << 20)});
  }
  for (int h = 0; h < hosts; ++h) {
    t.fabric.links.push_back({{false, h, 0}, {true, h / per_leaf, 0}, rate, Time::Ns(50)});
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (const int spine : {leaves, leaves + 1}) {
      t.fabric.links.push_back({{true, leaf, 0}, {true, spine, 0}, rate, Time::Ns(250)});
    }
  }
  t.fabric.sharp = Sharp{Time::Ns(80)};
  return t;
}

// One channel: every member sends `bytes` to the switches in slices and takes the sum.
Plan SwitchAllReduce(int members, int64_t bytes, int64_t slice) {
  Plan plan;
  plan.name = "all-reduce";
  plan.works[0].algorithm = Algorithm::kCollNetChain;
  plan.works[0].channels = 1;
  plan.works[0].slice_bytes = slice;
  for (const bool sends : {true, false}) {
    Pattern pattern;
    pattern.operands = 1;
    pattern.loops = {{1, 0, 1}};
    Step step;
    (sends ? step.send : step.receive) = {0, 1};
    step.bytes = bytes;
    step.store = !sends;
    pattern.steps = {step};
    plan.patterns.push_back(pattern);
  }
  for (int m = 0; m < members; ++m) {
    plan.members.emplace_back();
    for (const LinkKind link : {LinkKind::kToSwitch, LinkKind::kFromSwitch}) {
      Connection c;
      c.from = c.to = static_cast<uint16_t>(m);
      c.link = link;
      c.send_nic = c.recv_nic = 0;
      c.reduction = 0;
      plan.members.back().push_back({.pattern = link == LinkKind::kToSwitch ? 0u : 1u,
                                     .operand_begin = static_cast<uint32_t>(plan.operands.size())});
      plan.operands.push_back(static_cast<uint32_t>(plan.connections.size()));
      plan.connections.push_back(c);
    }
  }
  return plan;
}

// An all-gather, or else a reduce-scatter, in which each member owns `pieces` pieces.
Plan SwitchParts(bool gathers, int members, uint32_t pieces, int64_t piece_bytes) {
  Plan plan = SwitchAllReduce(members, piece_bytes, 0);
  plan.name = gathers ? "all-gather" : "reduce-scatter";
  // Patterns 0 and 1 send and receive all pieces, 2 and 3 those of the member.
  plan.patterns.insert(plan.patterns.end(), {plan.patterns[0], plan.patterns[1]});
  for (size_t p = 0; p < 4; ++p) {
    plan.patterns[p].loops[0].repeat = p < 2 ? pieces * members : pieces;
    plan.patterns[p].loops[0].stride = piece_bytes;
  }
  for (uint16_t m = 0; m < members; ++m) {
    const size_t own = gathers ? 0 : 1;  // which of its two connections
    plan.connections[2u * m + own].first = m * pieces;
    plan.members[m][own].pattern += 2;
  }
  return plan;
}

// All ranks of `topology` take part. The last one starts `late`.
Result<Timeline> Replayed(const Topology& topology, CollectiveType type, Plan plan, int64_t bytes,
                          Time late = {}) {
  const int hosts = topology.host_count();
  WorkloadBuilder builder(topology);
  const int stream = builder.Stream("dp");
  std::vector<int> all;
  for (int rank = 0; rank < hosts; ++rank) all.push_back(rank);
  const int role = builder.Role("dp", Dimension::kData, {all});
  for (int rank = 0; rank < hosts; ++rank) {
    std::vector<uint32_t> before;
    if (late > Time() && rank + 1 == hosts) before = {builder.Compute(rank, stream, late)};
    builder.Collective(rank, stream, role, type, bytes, before);
  }
  builder.PlanAll();
  builder.SetPlan(bytes, std::move(plan));
  return ReplayAll(builder);
}

Result<Timeline> AllReduce(const Topology& topology, int64_t bytes, int64_t slice) {
  return Replayed(topology, CollectiveType::kAllReduce,
                  SwitchAllReduce(topology.host_count(), bytes, slice), bytes);
}

TEST(AggregationTreeTest, OneLeafIsItsOwnRoot) {
  SwitchGraph graph(TwoTiers(8, 4));
  const std::vector<NicPlace> nics = {{4, 0}, {6, 0}};
  const AggregationTree tree = graph.TreeFor(nics).value();
  ASSERT_EQ(tree.nodes.size(), 1u);
  EXPECT_EQ(tree.nodes[0].switch_index, 1);
  EXPECT_EQ(tree.node_of, std::vector<int>({0, 0}));
}

TEST(AggregationTreeTest, LeavesMeetAtASpine) {
  SwitchGraph graph(TwoTiers(12, 4));
  const std::vector<NicPlace> nics = {{0, 0}, {5, 0}, {6, 0}, {11, 0}};
  const AggregationTree tree = graph.TreeFor(nics).value();
  ASSERT_EQ(tree.nodes.size(), 4u);
  EXPECT_EQ(tree.nodes[0].switch_index, 3);  // the first spine
  for (int leaf = 0; leaf < 3; ++leaf) {
    EXPECT_EQ(tree.nodes[static_cast<size_t>(leaf + 1)].switch_index, leaf);
    EXPECT_EQ(tree.nodes[static_cast<size_t>(leaf + 1)].parent, 0);
  }
  EXPECT_EQ(tree.node_of, std::vector<int>({1, 2, 2, 3}));
}

TEST(AggregationTreeTest, SwitchesWithoutACommonSwitchAreAnError) {
  Topology t = TwoTiers(4, 2);
  t.fabric.links.resize(4);  // no spines
  SwitchGraph graph(t);
  const std::vector<NicPlace> nics = {{0, 0}, {3, 0}};
  EXPECT_EQ(graph.TreeFor(nics).error().ToString(),
            "error: no switch is reachable from NIC 0 of host 0 and from all other NICs of its "
            "reduction");
}

// Graham et al., COMHPC 2016: 8 bytes over 128 hosts in 2.83 us.
TEST(AggregationTest, AFewBytesTakeThePublishedTime) {
  const auto timeline = AllReduce(TwoTiers(128, 32), 8, 0);
  ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
  EXPECT_NEAR(timeline->iteration.us(), 2.83, 0.03);
}

// Each NIC carries the data once in each direction, both at the same time: the time is bytes over
// rate for any number of hosts. A ring takes 2 (n - 1) / n of that.
TEST(AggregationTest, ManyBytesCrossTheNicOnce) {
  constexpr int64_t kBytes = 64 << 20;
  Topology topology = TwoTiers(2, 4);
  topology.gpus[0].collectives.simple.send = topology.gpus[0].collectives.simple.receive =
      Bandwidth::FromBytesPerSecond(100e9);
  const double packets = static_cast<double>(kBytes) / 4096;
  const double once = (static_cast<double>(kBytes) + 34 * packets) / 25e9 * 1e6;  // us
  for (const int hosts : {2, 4, 7, 16}) {
    Topology t = TwoTiers(hosts, 4);
    t.gpus = topology.gpus;
    const auto timeline = AllReduce(t, kBytes, 128 << 10);
    ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
    EXPECT_GT(timeline->iteration.us(), once) << hosts;
    EXPECT_LT(timeline->iteration.us(), once * 1.03) << hosts;
  }
}

// All parts come down to each NIC, or go up from it, once.
TEST(AggregationTest, PartsCrossTheNicOnce) {
  constexpr int64_t kPiece = 128 << 10;
  constexpr uint32_t kPieces = 64;
  for (const bool gathers : {true, false}) {
    for (const int hosts : {2, 4, 7, 16}) {
      Topology t = TwoTiers(hosts, 4);
      t.gpus[0].collectives.simple.send = t.gpus[0].collectives.simple.receive =
          Bandwidth::FromBytesPerSecond(100e9);
      const int64_t bytes = kPiece * kPieces * hosts;
      const double packets = static_cast<double>(bytes) / 4096;
      const double once = (static_cast<double>(bytes) + 34 * packets) / 25e9 * 1e6;  // us
      const auto timeline =
          Replayed(t, gathers ? CollectiveType::kAllGather : CollectiveType::kReduceScatter,
                   SwitchParts(gathers, hosts, kPieces, kPiece), bytes);
      ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
      EXPECT_GT(timeline->iteration.us(), once) << hosts << (gathers ? " gather" : " scatter");
      EXPECT_LT(timeline->iteration.us(), once * 1.1)
          << hosts << (gathers ? " gather" : " scatter");
    }
  }
}

// No part is gathered before all members have room for it.
TEST(AggregationTest, PartsWaitForTheLastMember) {
  const Topology t = TwoTiers(4, 2);
  for (const bool gathers : {true, false}) {
    const auto timeline =
        Replayed(t, gathers ? CollectiveType::kAllGather : CollectiveType::kReduceScatter,
                 SwitchParts(gathers, 4, 2, 4096), 4 * 2 * 4096, Time::Us(500));
    ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
    for (const RankTimeline& rank : timeline->ranks) EXPECT_GT(rank.end.back().us(), 500.0);
  }
}

TEST(AggregationTest, AFabricThatDoesNotReduceIsAnError) {
  Topology t = TwoTiers(2, 2);
  t.fabric.sharp.reset();
  EXPECT_EQ(AllReduce(t, 1024, 0).error().ToString(),
            "error: 2-flows.pb: the plan 'all-reduce' reduces in the switches, but the cluster's "
            "'fabric' has no 'sharp'");
}

TEST(AggregationTest, NamesAMemberThatNeverStarts) {
  WorkloadBuilder builder(TwoTiers(3, 4));
  const int stream = builder.Stream("dp");
  const int role = builder.Role("dp", Dimension::kData, {{0, 1, 2}});
  for (const int rank : {0, 1}) {
    builder.Collective(rank, stream, role, CollectiveType::kAllReduce, 1024);
  }
  builder.Compute(2, stream, Time::Us(1));
  builder.PlanAll();
  builder.SetPlan(1024, SwitchAllReduce(3, 1024, 0));
  const auto timeline = ReplayAll(builder);
  ASSERT_FALSE(timeline.ok());
  EXPECT_NE(timeline.error().ToString().find("the other members' data, which the switches sum"),
            std::string::npos)
      << timeline.error().ToString();
}

}  // namespace
}  // namespace drydock
