#include "workload-gen/sharded/zero_fetch.h"

#include <gmock/gmock.h>

namespace drydock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ZeroRules Rules(int64_t prefetch, int64_t reuse) {
  ZeroRules rules;
  rules.stage = 3;
  rules.prefetch_bucket_size = prefetch;
  rules.max_reuse_distance = reuse;
  rules.param_persistence_threshold = 10;
  return rules;
}

// Four modules of one parameter each, forward and backward.
const std::vector<std::vector<int>> kForwardBackward = {{0}, {1}, {2}, {3}, {3}, {2}, {1}, {0}};

TEST(ZeroFetch, WithoutPrefetchEveryModuleFetchesItsOwnParameters) {
  const ZeroFetchPlan plan =
      PlanZeroFetches({100, 100, 100, 100}, kForwardBackward, Rules(0, 0), 4);
  ASSERT_EQ(plan.gathers.size(), 8u);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(plan.steps[i].own, static_cast<int>(i));
    EXPECT_THAT(plan.steps[i].waits, ElementsAre(static_cast<int>(i)));
    EXPECT_EQ(plan.steps[i].prefetch, -1);
  }
  EXPECT_THAT(plan.steps[3].releases, ElementsAre(3));
}

TEST(ZeroFetch, PrefetchStopsAtTheFirstParameterThatReachesTheSize) {
  const ZeroFetchPlan plan =
      PlanZeroFetches({100, 100, 100, 100}, kForwardBackward, Rules(150, 0), 4);
  // Module 0 gathers its own parameter, then 1 and 2 together. Module 1 waits for that gather.
  EXPECT_EQ(plan.steps[0].own, 0);
  ASSERT_EQ(plan.steps[0].prefetch, 1);
  EXPECT_THAT(plan.gathers[1].parameters, ElementsAre(1, 2));
  EXPECT_THAT(plan.steps[1].waits, ElementsAre(1));
  EXPECT_EQ(plan.steps[1].own, -1);
  // Next, 3 is gathered once, because its backward reuses it. Parameters 2 and 1 are still present.
  ASSERT_EQ(plan.steps[1].prefetch, 2);
  EXPECT_THAT(plan.gathers[2].parameters, ElementsAre(3, 0));
  EXPECT_THAT(plan.steps[2].waits, IsEmpty());
}

TEST(ZeroFetch, KeepsParametersThatAreReusedSoon) {
  const ZeroFetchPlan near =
      PlanZeroFetches({100, 100, 100, 100}, kForwardBackward, Rules(0, 100), 4);
  EXPECT_EQ(near.gathers.size(), 7u);  // 3 is used twice in a row
  const ZeroFetchPlan far =
      PlanZeroFetches({100, 100, 100, 100}, kForwardBackward, Rules(0, 700), 4);
  EXPECT_EQ(far.gathers.size(), 4u);
  EXPECT_THAT(near.steps[3].releases, IsEmpty());
  EXPECT_THAT(near.steps[4].releases, ElementsAre(3));
}

TEST(ZeroFetch, SmallParametersAreNeverGathered) {
  const ZeroFetchPlan plan = PlanZeroFetches({100, 10}, {{0, 1}, {1}, {0}}, Rules(0, 0), 4);
  ASSERT_EQ(plan.gathers.size(), 2u);
  EXPECT_THAT(plan.gathers[0].parameters, ElementsAre(0));
  EXPECT_THAT(plan.steps[1].waits, IsEmpty());
}

TEST(ZeroFetch, EachParameterIsPaddedToTheRanks) {
  const ZeroFetchPlan plan = PlanZeroFetches({101, 30}, {{0, 1}}, Rules(0, 0), 4);
  ASSERT_EQ(plan.gathers.size(), 1u);
  EXPECT_EQ(plan.gathers[0].elements, 104 + 32);
}

TEST(ZeroFetch, LiveParametersBoundThePrefetch) {
  ZeroRules rules = Rules(1000, 0);
  rules.max_live_parameters = 200;
  const ZeroFetchPlan plan = PlanZeroFetches({100, 100, 100, 100}, kForwardBackward, rules, 4);
  EXPECT_THAT(plan.gathers[1].parameters, ElementsAre(1));
}

}  // namespace
}  // namespace drydock
