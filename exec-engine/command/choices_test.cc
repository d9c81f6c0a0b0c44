#include "exec-engine/command/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "exec-engine/command/network_table.h"
#include "exec-engine/replay/accounting.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

std::vector<std::string> Unused(const char* network, const Topology& topology) {
  return UnusedSettings(**FindNetwork(network), topology);
}

TEST(ChoicesTest, FindsFoldsByName) {
  EXPECT_EQ(*FindFold("off"), Fold::kOff);
  EXPECT_EQ(*FindFold("exact"), Fold::kExact);
  EXPECT_EQ(*FindFold("relaxed"), Fold::kRelaxed);
  EXPECT_EQ(*FindFold("auto"), Fold::kAuto);
  EXPECT_EQ(
      FindFold("exakt").error().message(),
      "there is no fold 'exakt'; did you mean 'exact'?; valid values are off, exact, relaxed, "
      "auto");
}

TEST(ChoicesTest, AFoldNeedsANetworkThatFolds) {
  const auto check = [](const char* fold, const char* network) {
    const Status status = CheckFold(fold, *FindNetwork(network));
    return status.ok() ? "" : status.error().message();
  };
  for (const char* fold : {"off", "auto"}) {
    for (const char* network : {"analytical", "packet", "auto"})
      EXPECT_EQ(check(fold, network), "");
  }
  EXPECT_EQ(check("relaxed", "analytical"), "");
  EXPECT_EQ(check("relaxed", "packet"),
            "--fold relaxed needs --network analytical or fluid, not packet");
  EXPECT_EQ(check("relaxed", "fluid"), "");
  EXPECT_EQ(check("exact", "fluid"), "--fold exact needs --network analytical, not fluid");
  EXPECT_EQ(check("exact", "auto"), "--fold exact needs --network analytical, not auto");
  EXPECT_NE(check("some", "packet"), "");
}

TEST(ChoicesTest, OnlyThePacketNetworkHasQueues) {
  Topology topology = testing::SmallCluster(2, 2);
  EXPECT_TRUE(Unused("analytical", topology).empty());
  topology.transport.congestion_control = CongestionControl::kDcqcn;
  topology.transport.flow_control = FlowControl::kPfc;
  topology.transport.attributes = {{"Dcqcn::Gain", "0.1"}};
  topology.fabric.routing = Routing::kSpray;
  EXPECT_EQ(
      Unused("analytical", topology),
      (std::vector<std::string>{"transport.congestion_control dcqcn", "transport.flow_control pfc",
                                "transport.attributes.Dcqcn::Gain 0.1"}))
      << "its messages take the paths of the packets";
  EXPECT_TRUE(Unused("packet", topology).empty());
  topology.transport.attributes.emplace_back("FaultInjector::RerouteTime", "1 ms");
  EXPECT_EQ(
      Unused("fluid", topology),
      (std::vector<std::string>{"transport.congestion_control dcqcn", "transport.flow_control pfc",
                                "transport.attributes.Dcqcn::Gain 0.1"}))
      << "its flows take the paths of the packets";
  topology = testing::SmallCluster(2, 2);
  topology.nccl_settings = {{"NCCL_ALGO", "Ring"}, {"NCCL_IB_QPS_PER_CONNECTION", "4"}};
  EXPECT_EQ(Unused("analytical", topology),
            std::vector<std::string>{"nccl.settings.NCCL_IB_QPS_PER_CONNECTION 4"})
      << "no cable joins two switches";
  EXPECT_TRUE(Unused("fluid", topology).empty());
}

// Two ranks on two hosts enter two collectives in different order.
TEST(ChoicesTest, EveryNetworkReportsADeadlock) {
  testing::WorkloadBuilder b(testing::SmallCluster(2, 1));
  const int stream = b.Stream("compute");
  const int roles[] = {b.Role("tp", Dimension::kTensor, {{0, 1}}),
                       b.Role("dp", Dimension::kData, {{0, 1}})};
  for (const int rank : {0, 1}) {
    for (const int i : {rank, 1 - rank}) {
      b.Collective(rank, stream, roles[i], CollectiveType::kAllReduce, 1 << 20);
    }
  }
  b.PlanAll();
  for (const auto& [network, summary] : NetworkChoices()) {
    const Result<Timeline> timeline = Replay(b.workload, b.plan, b.times, network, {});
    ASSERT_FALSE(timeline.ok()) << network.name;
    EXPECT_THAT(timeline.error().message(),
                ::testing::HasSubstr("in a cycle: rank 0 in op 0 waits for rank 1, which in op 0 "
                                     "waits for rank 0"))
        << network.name;
  }
}

// Notices of messages that are in flight when the run stops are dropped.
TEST(ChoicesTest, EveryNetworkCanBeStopped) {
  testing::WorkloadBuilder b(testing::SmallCluster(2, 2));
  const int stream = b.Stream("dp");
  const int role = b.Role("dp", Dimension::kData, {{0, 1, 2, 3}});
  for (int rank = 0; rank < 4; ++rank) {
    for (int i = 0; i < 3; ++i) {
      b.Collective(rank, stream, role, CollectiveType::kAllReduce, 4 << 20);
    }
  }
  b.PlanAll();
  for (const auto& [network, summary] : NetworkChoices()) {
    const Result<Timeline> whole = Replay(b.workload, b.plan, b.times, network, {});
    ASSERT_TRUE(whole.ok()) << network.name;
    ReplayOptions options;
    for (const int64_t part : {1, 3, 7}) {
      options.until = Time::Ps(whole->iteration.ps() * part / 8);
      const Result<Timeline> cut = Replay(b.workload, b.plan, b.times, network, options);
      ASSERT_TRUE(cut.ok()) << network.name;
      EXPECT_EQ(cut->stopped, options.until);
      EXPECT_EQ(cut->iteration, options.until);
      int64_t ended = 0;
      for (size_t rank = 0; rank < 4; ++rank) {
        for (size_t op = 0; op < 3; ++op) {
          const Time end = whole->ranks[rank].end[op];
          EXPECT_EQ(cut->ranks[rank].end[op], std::min(end, options.until));
          ended += end <= options.until ? 1 : 0;
        }
        EXPECT_EQ(Total(cut->accounts[rank]), cut->iteration);
      }
      EXPECT_EQ(cut->ops_ended, ended);
      EXPECT_GT(cut->ops_ended, part < 7 ? -1 : 3);
    }
  }
}

}  // namespace
}  // namespace drydock
