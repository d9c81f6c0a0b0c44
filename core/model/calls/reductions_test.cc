#include "core/model/calls/reductions.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Two members, four pieces: member m sends pieces [2m, 2m + 2) and receives all; or, as a
// reduce-scatter, the reverse.
Plan Parts(bool gathers) {
  Plan plan;
  plan.works[0].slots = 3;
  Pattern few, all;
  few.operands = all.operands = 1;
  few.loops = {{2, 8, 1}};
  all.loops = {{4, 8, 1}};
  few.steps.resize(1);
  all.steps.resize(1);
  few.steps[0].bytes = all.steps[0].bytes = 8;
  (gathers ? few : all).steps[0].send = {0, 1};
  (gathers ? all : few).steps[0].receive = {0, 1};
  plan.patterns = {few, all};
  for (uint16_t m = 0; m < 2; ++m) {
    plan.members.emplace_back();
    for (const LinkKind link : {LinkKind::kToSwitch, LinkKind::kFromSwitch}) {
      Connection c;
      c.from = c.to = m;
      c.link = link;
      c.reduction = 0;
      const bool part = (link == LinkKind::kToSwitch) == gathers;
      c.first = part ? 2u * m : 0;
      plan.members.back().push_back({.pattern = part ? 0u : 1u,
                                     .operand_begin = static_cast<uint32_t>(plan.operands.size())});
      plan.operands.push_back(static_cast<uint32_t>(plan.connections.size()));
      plan.connections.push_back(c);
    }
  }
  return plan;
}

TEST(ReductionsTest, ListsThePiecesOfEachMember) {
  for (const bool gathers : {true, false}) {
    const std::vector<PlanReduction> reductions = ReductionsOf(Parts(gathers));
    ASSERT_EQ(reductions.size(), 1u);
    EXPECT_EQ(reductions[0].pieces, 4);
    EXPECT_EQ(reductions[0].slots, 3);
    EXPECT_TRUE(IsWhole(reductions[0]));
    ASSERT_EQ(reductions[0].ends.size(), 2u);
    for (const ReductionEnd& end : reductions[0].ends) {
      const auto& [own, all] =
          gathers ? std::pair(end.sends, end.receives) : std::pair(end.receives, end.sends);
      EXPECT_EQ(own.begin, 2 * end.member);
      EXPECT_EQ(own.count(), 2);
      EXPECT_EQ(all.count(), 4);
    }
  }
}

TEST(ReductionsTest, IsNotWholeIfNoMemberSendsAPiece) {
  Plan plan = Parts(true);
  plan.connections[2].first = 1;  // pieces 1 and 2 of member 1; no member sends the last
  EXPECT_FALSE(IsWhole(ReductionsOf(plan)[0]));
}

TEST(ReductionsTest, IsNotWholeIfAMemberHasNoPartInAPiece) {
  Plan plan = Parts(false);
  plan.connections[2].first = 1;  // member 1 has no part in piece 0
  EXPECT_FALSE(IsWhole(ReductionsOf(plan)[0]));
}

TEST(ReductionsTest, PiecesMayBeSlices) {
  Plan plan = Parts(true);
  plan.works[0].slice_bytes = 4;
  plan.connections[2].first = 4;
  EXPECT_EQ(ReductionsOf(plan, PieceUnit::kSlice)[0].pieces, 8);
}

}  // namespace
}  // namespace drydock
