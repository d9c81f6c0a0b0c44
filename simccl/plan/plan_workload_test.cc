#include "simccl/plan/plan_workload.h"

#include <gtest/gtest.h>

#include "core/model/calls/grouped_call.h"
#include "core/nccl/testing/hosts_testing.h"
#include "simccl/nccl/nccl_planner.h"
#include "simccl/plan/plan_text.h"
#include "simccl/proof/interpreter.h"

namespace drydock {
namespace {

// Four DGX A100: tensor groups of 8 in a host, data groups of 4 across hosts, pipeline pairs.
Workload FourHosts() {
  Workload workload;
  workload.topology.gpus = {TestGpu(80)};
  workload.topology.host_kinds = {DgxA100()};
  workload.topology.hosts = {0, 0, 0, 0};
  for (int host = 0; host < 4; ++host) {
    Group tensor;
    for (int gpu = 0; gpu < 8; ++gpu) tensor.ranks.push_back(8 * host + gpu);
    workload.groups.push_back(tensor);
  }
  for (int gpu = 0; gpu < 8; ++gpu) {
    Group data;
    for (int host = 0; host < 4; ++host) data.ranks.push_back(8 * host + gpu);
    workload.groups.push_back(data);
  }
  workload.groups.push_back({{3, 11}});
  workload.groups.push_back({{19, 27}});
  workload.groups.push_back({{5}});
  return workload;
}

CommCall CallOf(CollectiveType type, int64_t count, int group_size) {
  CommCall call;
  call.collective = type;
  call.type = DataType::kFp16;
  call.count = count;
  call.group_size = group_size;
  return call;
}

Result<FlowPlan> PlanAll(const Workload& workload) {
  auto planner = MakeNcclPlanner(workload.topology);
  EXPECT_TRUE(planner.ok()) << planner.error().ToString();
  return PlanWorkload(workload, planner->get(), [](size_t, size_t) {});
}

TEST(PlanWorkloadTest, GroupsOfOnePlacementPatternShareAPlan) {
  Workload workload = FourHosts();
  workload.calls = {CallOf(CollectiveType::kAllReduce, 1 << 18, 8),
                    CallOf(CollectiveType::kReduceScatter, 1 << 20, 4),
                    CallOf(CollectiveType::kSendRecv, 1 << 16, 2),
                    CallOf(CollectiveType::kAllReduce, 1000, 1)};
  workload.calls[2].peer = 1;
  for (uint32_t g = 0; g < 4; ++g) workload.uses.push_back({0, g});
  for (uint32_t g = 4; g < 12; ++g) workload.uses.push_back({1, g});
  workload.uses.push_back({2, 12});
  workload.uses.push_back({2, 13});
  workload.uses.push_back({3, 14});
  const auto flow_plan = PlanAll(workload);
  ASSERT_TRUE(flow_plan.ok()) << flow_plan.error().ToString();

  // One for the hosts, eight for the GPU indices across them, one for the pairs, one alone.
  EXPECT_EQ(flow_plan->plans.size(), 1u + 8 + 1 + 1);
  ASSERT_EQ(flow_plan->assignments.size(), workload.uses.size());
  for (size_t u = 0; u < workload.uses.size(); ++u) {
    const FlowPlan::Assignment& assignment = flow_plan->assignments[u];
    EXPECT_EQ(assignment.call, workload.uses[u].call);
    EXPECT_EQ(assignment.group, workload.uses[u].group);
    const Plan& plan = flow_plan->plans[assignment.plan];
    const CommCall& call = workload.calls[assignment.call];
    EXPECT_EQ(plan.name, NameOf(call));
    if (plan.works.front().algorithm == Algorithm::kLocal) continue;
    EXPECT_EQ(CheckPlan(plan, call), "") << plan.name;
  }
  EXPECT_EQ(flow_plan->plans.back().works[0].algorithm, Algorithm::kLocal);
}

TEST(PlanWorkloadTest, PlanDoesNotDependOnEarlierPlans) {
  Workload workload = FourHosts();
  workload.calls = {CallOf(CollectiveType::kAllReduce, 1 << 18, 8),
                    CallOf(CollectiveType::kAllReduce, 1 << 10, 8)};
  workload.uses = {{1, 2}};
  const auto alone = PlanAll(workload);
  workload.uses = {{0, 0}, {0, 2}, {1, 0}, {1, 2}};
  const auto later = PlanAll(workload);
  ASSERT_TRUE(alone.ok() && later.ok());
  EXPECT_EQ(PlanText(alone->plans[0], true), PlanText(later->plans[1], true));
}

TEST(PlanWorkloadTest, ErrorsNameTheCallAndItsGroup) {
  Workload workload = FourHosts();
  workload.calls = {CallOf(CollectiveType::kAllGather, 1001, 8)};
  workload.uses = {{0, 1}};
  const auto flow_plan = PlanAll(workload);
  ASSERT_FALSE(flow_plan.ok());
  EXPECT_EQ(flow_plan.error().message(),
            "all-gather fp16 2.002 KB over 8, ranks 8, 9, 10, 11, ...: 1001 elements do not divide "
            "among a group of 8 (the call says 8)");
}

TEST(PlanWorkloadTest, RefusesAGroupLargerThanAPlan) {
  Workload workload = FourHosts();
  workload.topology.hosts.assign(4096, 0);
  workload.groups = {{}};
  for (int rank = 0; rank < 32768; ++rank) workload.groups[0].ranks.push_back(rank);
  workload.calls = {CallOf(CollectiveType::kAllReduce, 1 << 18, 32768)};
  workload.uses = {{0, 0}};
  const auto flow_plan = PlanAll(workload);
  ASSERT_FALSE(flow_plan.ok());
  EXPECT_EQ(flow_plan.error().message(),
            "the group of ranks 0, 1, 2, 3, ... has 32768 members, a plan can have at most 32767");
}

// A GPU that is alone on its host alternates between the two NICs of its PCIe switch.
TEST(PlanTextTest, WritesConnectionsOut) {
  Workload workload = FourHosts();
  workload.calls = {CallOf(CollectiveType::kSendRecv, 1000, 2)};
  workload.calls[0].peer = 1;
  workload.uses = {{0, 12}};
  const auto flow_plan = PlanAll(workload);
  ASSERT_TRUE(flow_plan.ok());
  const std::string text = PlanText(flow_plan->plans[0], true);
  EXPECT_NE(text.find("      2 KB at 0 to 1 NIC 2 to 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      2 KB at 0 from 0 NIC 2 to 2, store\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace drydock
