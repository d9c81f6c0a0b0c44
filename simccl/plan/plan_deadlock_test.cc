#include "simccl/plan/plan_deadlock.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

// Two members that send each other `chunks` chunks. Each alternates between `burst` sends and
// `burst` receives.
Plan Exchange(int64_t chunks, uint32_t burst) {
  Plan plan;
  plan.name = "exchange";
  plan.works[0].slots = 4;
  plan.connections = {{0, 1}, {1, 0}};
  plan.operands = {0, 1, 1, 0};  // what a member sends on, what it receives on
  Pattern pattern;
  pattern.ring = burst;
  pattern.operands = 2;
  pattern.steps.resize(2);
  for (Step& step : pattern.steps) {
    step.count = burst;
    step.bytes = 64;
  }
  pattern.steps[0].send = {0, 1};
  pattern.steps[1].receive = {1, 1};
  pattern.loops = {{chunks / burst, 0, 2}};
  plan.patterns = {pattern};
  plan.members.resize(2);
  plan.members[0].push_back({3, 0, 0, 0});
  plan.members[1].push_back({3, 0, 0, 2});
  return plan;
}

TEST(PlanDeadlockTest, BurstsWithinTheBuffersFinish) {
  EXPECT_EQ(ErrorText(CheckPlanDeadlock(Exchange(1000, 4))), "ok");
}

TEST(PlanDeadlockTest, BurstsBeyondTheBuffersAreACycle) {
  EXPECT_EQ(ErrorText(CheckPlanDeadlock(Exchange(1000, 5))),
            "error: exchange: its channels wait for each other in a cycle\n"
            "  member 0 on channel 3 at step 4 waits for room at member 1\n"
            "  member 1 on channel 3 at step 4 waits for room at member 0");
}

TEST(PlanDeadlockTest, ReportsDataThatNoMemberSends) {
  Plan plan = Exchange(4, 4);
  plan.members[1].clear();
  EXPECT_EQ(ErrorText(CheckPlanDeadlock(plan)),
            "error: exchange: a channel waits for a step that no channel runs\n"
            "  member 0 on channel 3 at step 4 waits for data from no member");
}

TEST(PlanDeadlockTest, WorkWaitsForTheWorkBeforeIt) {
  // Member 1's second work would receive what member 0's first work sends, which waits for room.
  Plan plan = Exchange(1000, 4);
  plan.works.push_back(plan.works[0]);
  EXPECT_EQ(ErrorText(CheckPlanDeadlock(plan)), "ok");
  plan.members[1].push_back(plan.members[1][0]);
  plan.members[1][1].work = 1;
  plan.connections.insert(plan.connections.end(), {{0, 1}, {1, 0}});
  plan.operands.insert(plan.operands.end(), {2, 3, 3, 2});
  plan.members[1][1].operand_begin = 6;
  plan.members[0].insert(plan.members[0].begin(), plan.members[0][0]);
  plan.members[0][0].operand_begin = 4;
  plan.members[0][1].work = 1;
  EXPECT_EQ(ErrorText(CheckPlanDeadlock(plan)),
            "error: exchange: its channels wait for each other in a cycle\n"
            "  member 0 on channel 3 at step 4 waits for data from member 1\n"
            "  member 1 on channel 3 at step 0 waits for the channel's earlier work on member 1\n"
            "  member 1 on channel 3 at step 4 waits for data from member 0\n"
            "  member 0 on channel 3 at step 0 waits for the channel's earlier work on member 0");
}

}  // namespace
}  // namespace drydock
