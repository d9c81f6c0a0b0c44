#include "simccl/planner_table.h"

#include <gtest/gtest.h>

#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

TEST(PlannerTableTest, UnknownNameListsTheChoices) {
  const auto choice = FindPlanner("gloo");
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().message(),
            "there is no planner 'gloo'; planners are: nccl, custom:FILE");
  EXPECT_EQ(FindPlanner("custom").error().message(), "--planner custom needs a file: custom:FILE");
  EXPECT_EQ(FindPlanner("nccl:x").error().message(),
            "there is no planner 'nccl:x'; planners are: nccl, custom:FILE");
}

TEST(PlannerTableTest, CallsInUserBuffersBypassTheChosenPlanner) {
  Topology topology;
  topology.gpus = {TestGpu(80)};
  topology.host_kinds = {DgxA100()};
  topology.hosts = {0};
  const auto planner = MakePlanner(PlannerChoices().front(), topology, {});
  ASSERT_TRUE(planner.ok()) << planner.error().ToString();
  const std::vector<Placement::Slot> members = {{0, 0}, {0, 1}};
  ASSERT_TRUE((*planner)->OpenGroup(members).ok());
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.group_size = 2;
  call.count = 1 << 20;
  const auto by_nccl = (*planner)->PlanCall(call);
  call.buffers = BufferKind::kUserBuffers;
  const auto bypassing = (*planner)->PlanCall(call);
  ASSERT_TRUE(by_nccl.ok() && bypassing.ok());
  EXPECT_EQ(by_nccl->works.front().algorithm, Algorithm::kRing);
  EXPECT_EQ(bypassing->works.front().algorithm, Algorithm::kUserBuffers);
  call.count = 3;
  EXPECT_EQ((*planner)->PlanCall(call).error().message(),
            "3 elements do not divide among a group of 2 (the call says 2)");
  call.count = 0;
  EXPECT_EQ((*planner)->PlanCall(call)->works.front().algorithm, Algorithm::kLocal);
}

}  // namespace
}  // namespace drydock
