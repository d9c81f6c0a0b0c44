// Checks that the oracle notices every kind of error in a plan.
#include "simccl/proof/interpreter.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/model/calls/grouped_call.h"

namespace drydock {
namespace {

constexpr Slots kSend = {0, 1}, kReceive = {1, 1};

// A pattern that runs the steps one after another.
Pattern Serial(std::vector<Step> steps) {
  Pattern pattern;
  pattern.operands = 2;
  pattern.loops = {{1, 0, static_cast<uint32_t>(steps.size())}};
  pattern.steps = std::move(steps);
  return pattern;
}

void Append(const Step& step, Pattern* pattern) {
  pattern->steps.push_back(step);
  ++pattern->loops.back().step_end;
}

// Two members swap their 4 elements over two connections and add them. Each has its own pattern.
Plan Swap() {
  Plan plan;
  plan.connections = {{0, 1}, {1, 0}};
  plan.operands = {0, 1, 1, 0};  // send, receive
  plan.patterns.assign(2,
                       Serial({{.send = kSend, .bytes = 16},
                               {.receive = kReceive, .bytes = 16, .reduce = true, .store = true}}));
  plan.members = {{{}}, {{.pattern = 1, .operand_begin = 2}}};
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

// A buffer of 4 TB: the size of a run costs nothing.
TEST(InterpreterTest, TakesBuffersOfAnySize) {
  Plan plan = Swap();
  CommCall call = Call();
  call.count = int64_t{1} << 40;
  for (Pattern& pattern : plan.patterns) {
    for (Step& step : pattern.steps) step.bytes = 4 * call.count;
  }
  EXPECT_EQ(CheckPlan(plan, call), "");
  plan.patterns[1].steps[0].bytes -= 4;
  plan.patterns[0].steps[1].bytes -= 4;
  EXPECT_EQ(CheckPlan(plan, call), "member 0 ends with the wrong element 1099511627775");
}

TEST(InterpreterTest, SeesAMissingReduction) {
  Plan plan = Swap();
  plan.patterns[1].steps[1].reduce = false;
  EXPECT_EQ(CheckPlan(plan, Call()), "member 1 ends with the wrong element 0");
}

TEST(InterpreterTest, SeesMissingData) {
  Plan plan = Swap();
  plan.patterns[0].steps[0].bytes = 8;
  EXPECT_EQ(CheckPlan(plan, Call()), "member 1 expects 4 elements from 0, 2 came");
}

TEST(InterpreterTest, SeesADeadlock) {
  Plan plan = Swap();
  for (Pattern& pattern : plan.patterns) std::swap(pattern.steps[0], pattern.steps[1]);
  EXPECT_EQ(CheckPlan(plan, Call()), "deadlock: member 0 waits at step 0 of channel 0");
}

TEST(InterpreterTest, SeesABufferThatIsTooSmall) {
  Plan plan = Swap();
  plan.works[0].slots = 1;
  for (Pattern& pattern : plan.patterns) {  // both halves are sent before one is received
    pattern = Serial({{.send = kSend, .bytes = 8},
                      {.receive = kReceive, .bytes = 8, .reduce = true, .store = true}});
    pattern.loops = {{2, 8, 1}, {2, 8, 2}};
  }
  EXPECT_EQ(CheckPlan(plan, Call()), "deadlock: member 0 waits at step 1 of channel 0");
  plan.works[0].slots = 2;
  EXPECT_EQ(CheckPlan(plan, Call()), "");
}

TEST(InterpreterTest, SeesDataThatIsNeverReceived) {
  Plan plan = Swap();
  Append({.send = kSend, .bytes = 16}, &plan.patterns[0]);
  EXPECT_EQ(CheckPlan(plan, Call()), "data from 0 to 1 is never received");
}

TEST(InterpreterTest, SeesADoubleStore) {
  Plan plan = Swap();
  Append({.send = kSend, .bytes = 16}, &plan.patterns[1]);
  Append({.receive = kReceive, .bytes = 16, .store = true}, &plan.patterns[0]);
  EXPECT_EQ(CheckPlan(plan, Call()), "member 0 stores element 0 twice");
}

CommCall Message(int from, int to) {
  CommCall call = Call();
  call.collective = CollectiveType::kSendRecv;
  call.root = from, call.peer = to;
  return call;
}

// Two members send each other a message. Both receive first and then send, each on its own channel
// or in its own kernel.
Plan ReceiveThenSend(uint16_t second_channel, int second_launch) {
  Plan plan = Swap();
  plan.works.resize(2);
  plan.works[1].launch = second_launch;
  plan.patterns = {Serial({{.receive = kReceive, .bytes = 16, .store = true}}),
                   Serial({{.send = kSend, .bytes = 16}})};
  for (uint32_t m = 0; m < 2; ++m) {
    plan.members[m] = {{.operand_begin = 2 * m, .base = m == 0 ? 16 : 0},
                       {.channel = second_channel,
                        .work = 1,
                        .pattern = 1,
                        .operand_begin = 2 * m,
                        .base = m == 0 ? 0 : 16}};
  }
  return plan;
}

TEST(InterpreterTest, WorksOfAChannelAndKernelsComeOneAfterAnother) {
  const CommCall call = MakeGrouped({Message(0, 1), Message(1, 0)});
  EXPECT_EQ(CheckPlan(ReceiveThenSend(1, 0), call), "");
  EXPECT_EQ(CheckPlan(ReceiveThenSend(0, 0), call),
            "deadlock: member 0 waits at step 0 of channel 0");
  EXPECT_EQ(CheckPlan(ReceiveThenSend(1, 1), call),
            "deadlock: member 0 waits at step 0 of channel 0");
}

TEST(InterpreterTest, EachPartOfAGroupIsCheckedSeparately) {
  const CommCall grouped = MakeGrouped({Call(), Call()});
  Plan plan = Swap();
  for (auto& member : plan.members) {
    member.push_back(member.front());
    member.back().work = 1;
    member.back().base = 16;
  }
  plan.works.resize(2);
  EXPECT_EQ(CheckPlan(plan, grouped), "");
  plan.members[1].back().base = 12;  // overlaps the part before
  EXPECT_EQ(CheckPlan(plan, grouped), "member 1: 16 B at 12 are outside the buffer");
  plan.members[1].pop_back();
  EXPECT_EQ(CheckPlan(plan, grouped), "deadlock: member 0 waits at step 1 of channel 0");
}

}  // namespace
}  // namespace drydock
