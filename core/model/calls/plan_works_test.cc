#include "core/model/calls/plan_works.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

TEST(PlanWorksTest, ConsecutiveEqualWorksAreOneKind) {
  Plan plan;
  plan.works = {{Algorithm::kRing, Protocol::kLl, 1},
                {Algorithm::kRing, Protocol::kLl, 4},
                {Algorithm::kSendRecv, Protocol::kSimple, 2},
                {Algorithm::kRing, Protocol::kLl, 1}};
  const std::vector<WorkKind> kinds = WorkKindsOf(plan);
  EXPECT_EQ(ToString(kinds), "ring LL x2, send-recv Simple, ring LL");
  EXPECT_EQ(MaxChannels(kinds), 4);
  plan.works.resize(1);
  EXPECT_EQ(ToString(WorkKindsOf(plan)), "ring LL");
}

}  // namespace
}  // namespace drydock
