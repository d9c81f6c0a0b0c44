// The oracle must notice what it is there for.
#include "simccl/interpreter.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Two members swap their 4 elements over two connections and add them up.
Plan Swap() {
  Plan plan;
  plan.connections = {{0, 1}, {1, 0}};
  for (uint32_t m = 0; m < 2; ++m) {
    ChannelProgram program;
    program.operands = {m, 1 - m};  // send, receive
    program.steps = {{0, 0, 0, 1, 16, 0, false, false}, {1, 1, 0, 0, 16, 0, true, true}};
    plan.members.push_back({program});
  }
  return plan;
}

CommCall Call() {
  CommCall call;
  call.collective = CollectiveType::kAllReduce;
  call.type = DataType::kFp32;
  call.count = 4;
  call.group_size = 2;
  return call;
}

TEST(InterpreterTest, AcceptsARightPlan) { EXPECT_EQ(CheckPlan(Swap(), Call()), ""); }

TEST(InterpreterTest, SeesAMissingReduction) {
  Plan plan = Swap();
  plan.members[1][0].steps[1].reduce = false;
  EXPECT_EQ(CheckPlan(plan, Call()), "member 1 ends with the wrong element 0");
}

TEST(InterpreterTest, SeesMissingData) {
  Plan plan = Swap();
  plan.members[0][0].steps[0].bytes = 8;
  EXPECT_EQ(CheckPlan(plan, Call()), "member 1 expects 4 elements from 0, 2 came");
}

TEST(InterpreterTest, SeesADeadlock) {
  Plan plan = Swap();
  for (auto& member : plan.members) std::swap(member[0].steps[0], member[0].steps[1]);
  EXPECT_EQ(CheckPlan(plan, Call()), "deadlock: member 0 waits at step 0 of channel 0");
}

TEST(InterpreterTest, SeesABufferThatIsTooSmall) {
  Plan plan = Swap();
  plan.slots = 1;
  for (auto& member : plan.members) {  // two halves sent before one is taken
    const Step half = {0, 0, 0, 1, 8, 0, false, false};
    Step second = half;
    second.offset = 8;
    Step take = {1, 1, 0, 0, 8, 0, true, true};
    Step take_second = take;
    take_second.offset = 8;
    member[0].steps = {half, second, take, take_second};
  }
  EXPECT_EQ(CheckPlan(plan, Call()), "deadlock: member 0 waits at step 1 of channel 0");
  plan.slots = 2;
  EXPECT_EQ(CheckPlan(plan, Call()), "");
}

TEST(InterpreterTest, SeesDataNobodyTakes) {
  Plan plan = Swap();
  plan.members[0][0].steps.push_back({0, 0, 0, 1, 16, 0, false, false});
  EXPECT_EQ(CheckPlan(plan, Call()), "data from 0 to 1 is never received");
}

TEST(InterpreterTest, SeesADoubleStore) {
  Plan plan = Swap();
  plan.members[1][0].steps.push_back({0, 0, 0, 1, 16, 0, false, false});
  plan.members[0][0].steps.push_back({1, 1, 0, 0, 16, 0, false, true});
  EXPECT_EQ(CheckPlan(plan, Call()), "member 0 stores element 0 twice");
}

}  // namespace
}  // namespace drydock
