#include "core/model/deadlock/wait_sets.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Members send a chunk to the switches and receive the sum.
Plan SumInTheSwitches(uint16_t members) {
  Plan plan;
  Pattern send, take;
  send.operands = take.operands = 1;
  send.loops = take.loops = {{1, 0, 1}};
  send.steps.resize(1);
  send.steps[0].bytes = 8;
  take.steps = send.steps;
  send.steps[0].send = {0, 1};
  take.steps[0].receive = {0, 1};
  plan.patterns = {send, take};
  for (uint16_t m = 0; m < members; ++m) {
    plan.members.emplace_back();
    for (const LinkKind link : {LinkKind::kToSwitch, LinkKind::kFromSwitch}) {
      Connection c;
      c.from = c.to = m;
      c.link = link;
      c.reduction = 0;
      plan.members.back().push_back({.pattern = link == LinkKind::kToSwitch ? 0u : 1u,
                                     .operand_begin = static_cast<uint32_t>(plan.operands.size())});
      plan.operands.push_back(static_cast<uint32_t>(plan.connections.size()));
      plan.connections.push_back(c);
    }
  }
  return plan;
}

TEST(WaitSetsTest, AReceiverOfASumWaitsForAllMembers) {
  EXPECT_TRUE(WaitSetsOf(SumInTheSwitches(3)).all_members);
}

TEST(WaitSetsTest, SeparateSumsDoNotWaitForEachOther) {
  Plan plan = SumInTheSwitches(4);
  for (size_t c = 4; c < 8; ++c) plan.connections[c].reduction = 1;
  const WaitSets sets = WaitSetsOf(plan);
  EXPECT_FALSE(sets.all_members);
  ASSERT_EQ(sets.members.size(), 4u);
  EXPECT_EQ(sets.members[0], std::vector<int>({1}));
  EXPECT_EQ(sets.members[3], std::vector<int>({2}));
}

}  // namespace
}  // namespace drydock
