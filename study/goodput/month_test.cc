#include "study/goodput/month.h"

#include <gtest/gtest.h>

#include <numeric>

namespace drydock {
namespace {

constexpr size_t At(Badput badput) { return static_cast<size_t>(badput); }

// A step of 10 s, a checkpoint of 20 s every 60 steps, a failure every 10,000 s of a part of one of
// ten hosts.
MonthPlan Plan() {
  MonthPlan plan;
  plan.horizon = 1e6;
  plan.full = {10, 10, 60, 20, 0};
  plan.hosts = 10;
  plan.hazards = {{FailingPart::kGpu, 1, 80, 1e-4}};
  plan.detect.fill(30);
  plan.repair.fill(5000);
  plan.replace = 100;
  plan.start = 60;
  plan.communicators = 5;
  plan.restore = 40;
  return plan;
}

double Whole(const Month& month) {
  return std::accumulate(month.badput.begin(), month.badput.end(), month.goodput);
}

TEST(Month, WithoutFailuresItIsStartAndCheckpoints) {
  MonthPlan plan = Plan();
  plan.hazards.clear();
  const Month month = SimulateMonth(plan, 0, 0);
  EXPECT_EQ(month.failures, 0);
  EXPECT_DOUBLE_EQ(month.badput[At(Badput::kStartup)], 60);
  EXPECT_DOUBLE_EQ(month.badput[At(Badput::kInitialization)], 5);
  EXPECT_DOUBLE_EQ(month.badput[At(Badput::kRestore)], 0);
  EXPECT_DOUBLE_EQ(month.badput[At(Badput::kWasted)], 0);
  EXPECT_DOUBLE_EQ(month.badput[At(Badput::kSave)], 20.0 * 1612);  // of 620 s each
  EXPECT_NEAR(Whole(month), plan.horizon, 1e-6);
}

TEST(Month, EveryPolicyAddsUpToTheTime) {
  for (const Policy policy : {Policy::kRestart, Policy::kSpares, Policy::kShrink}) {
    MonthPlan plan = Plan();
    plan.policy = policy;
    plan.spares = policy == Policy::kSpares ? 2 : 0;
    plan.shrunk = plan.full;
    plan.shrunk.step = plan.shrunk.writing_step = 11;
    plan.shrunk_worth = 0.85;
    plan.most_lost = 2;
    for (uint64_t sample = 0; sample < 20; ++sample) {
      const Month month = SimulateMonth(plan, 3, sample);
      EXPECT_NEAR(Whole(month), plan.horizon, 1e-5);
      EXPECT_GT(month.failures, 20);
      for (const double part : month.badput) EXPECT_GE(part, 0);
      EXPECT_EQ(month.badput[At(Badput::kShrunk)] > 0, policy == Policy::kShrink);
    }
  }
}

TEST(Month, IsTheSameForTheSameSeed) {
  const MonthPlan plan = Plan();
  EXPECT_EQ(SimulateMonth(plan, 1, 5).goodput, SimulateMonth(plan, 1, 5).goodput);
  EXPECT_NE(SimulateMonth(plan, 1, 5).goodput, SimulateMonth(plan, 1, 6).goodput);
  EXPECT_NE(SimulateMonth(plan, 1, 5).goodput, SimulateMonth(plan, 2, 5).goodput);
}

// A failure takes 30 s to detect and 5000 s to repair; the others follow.
TEST(Month, RestartWaitsForTheRepair) {
  const Month month = SimulateMonth(Plan(), 0, 0);
  EXPECT_NEAR(month.badput[At(Badput::kInfrastructure)], 5030.0 * month.failures, 5030);
  EXPECT_NEAR(month.badput[At(Badput::kStartup)], 60.0 * (month.failures + 1), 120);
  EXPECT_NEAR(month.badput[At(Badput::kRestore)], 40.0 * month.failures, 200);
}

TEST(Month, SoftwareTakesNoHost) {
  MonthPlan plan = Plan();
  plan.hazards = {{FailingPart::kSoftware, 0, 10, 1e-4}};
  const Month month = SimulateMonth(plan, 0, 0);
  EXPECT_NEAR(month.badput[At(Badput::kInfrastructure)], 30.0 * month.failures, 30);
}

TEST(Month, SparesReplaceUntilThereAreNone) {
  MonthPlan plan = Plan();
  plan.policy = Policy::kSpares;
  plan.spares = 50;
  const Month enough = SimulateMonth(plan, 0, 0);
  EXPECT_NEAR(enough.badput[At(Badput::kInfrastructure)], 130.0 * enough.failures, 130);
  plan.spares = 1;
  plan.repair.fill(30000);
  const Month few = SimulateMonth(plan, 0, 0);
  EXPECT_GT(few.badput[At(Badput::kInfrastructure)], 500.0 * few.failures);
}

// A switch takes four hosts at once.
TEST(Month, ASwitchNeedsAsManySparesAsItHasHosts) {
  MonthPlan plan = Plan();
  plan.policy = Policy::kSpares;
  plan.hazards = {{FailingPart::kSwitch, 4, 2, 1e-5}};
  plan.spares = 4;
  const Month enough = SimulateMonth(plan, 0, 1);
  ASSERT_GT(enough.failures, 3);
  plan.spares = 3;
  const Month few = SimulateMonth(plan, 0, 1);
  EXPECT_NEAR(few.badput[At(Badput::kInfrastructure)] / few.failures, 30 + 5000 + 100, 1300);
  EXPECT_LT(enough.badput[At(Badput::kInfrastructure)] / enough.failures, 1000);
}

TEST(Month, ShrinkingTrainsWhileHostsAreMissing) {
  MonthPlan plan = Plan();
  plan.policy = Policy::kShrink;
  plan.shrunk = plan.full;
  plan.shrunk_worth = 0.9;
  plan.most_lost = 3;
  const Month shrinks = SimulateMonth(plan, 0, 0);
  EXPECT_GT(shrinks.goodput, SimulateMonth(Plan(), 0, 0).goodput);
  EXPECT_NEAR(shrinks.badput[At(Badput::kInfrastructure)], 30.0 * shrinks.failures, 6000);
}

TEST(Month, FailuresAreAsOftenAsStated) {
  MonthPlan plan = Plan();
  plan.repair.fill(0);
  double failures = 0, running = 0;
  for (uint64_t sample = 0; sample < 200; ++sample) {
    const Month month = SimulateMonth(plan, 0, sample);
    failures += month.failures;
    running += plan.horizon - month.badput[At(Badput::kInfrastructure)];
  }
  EXPECT_NEAR(failures / running, 1e-4, 3e-6);
}

}  // namespace
}  // namespace drydock
