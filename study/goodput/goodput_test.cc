#include "study/goodput/goodput.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// A failure every 20,000 s, 30 s of a checkpoint, 10 s of a step.
MonthPlan Plan() {
  MonthPlan plan;
  plan.horizon = 2e6;
  plan.full = {10, 10, 60, 30, 0};
  plan.hosts = 10;
  plan.hazards = {{FailingPart::kSoftware, 0, 10, 5e-5}};
  plan.detect.fill(30);
  plan.start = 60;
  plan.restore = 40;
  return plan;
}

Sampling Samples(size_t count, int threads = 1) {
  Sampling sampling;
  sampling.samples = count;
  sampling.threads = threads;
  return sampling;
}

TEST(Goodput, PercentilesAreOfTheSamples) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Distribution of = DistributionOf(values);
  EXPECT_EQ(of.p10, 10);
  EXPECT_EQ(of.median, 50);
  EXPECT_EQ(of.p90, 90);
  EXPECT_DOUBLE_EQ(of.mean, 50);
}

TEST(Goodput, DoesNotDependOnTheThreads) {
  const MonthPlan plan = Plan();
  const Goodput one = Simulate(plan, Samples(50)), four = Simulate(plan, Samples(50, 4));
  EXPECT_EQ(one.goodput.p10, four.goodput.p10);
  EXPECT_EQ(one.goodput.mean, four.goodput.mean);
  EXPECT_EQ(one.failures.mean, four.failures.mean);
  for (size_t i = 0; i < kBadputs; ++i) EXPECT_EQ(one.badput[i].mean, four.badput[i].mean);
  MonthPlan first = plan, second = plan;
  ChooseInterval(Samples(20), &first);
  ChooseInterval(Samples(20, 3), &second);
  EXPECT_EQ(first.full.steps, second.full.steps);
}

TEST(Goodput, SharesAddUpToOne) {
  const Goodput goodput = Simulate(Plan(), Samples(50));
  double sum = goodput.goodput.mean;
  for (const Distribution& badput : goodput.badput) sum += badput.mean;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_LT(goodput.goodput.p10, goodput.goodput.p90);
}

// Where recovery is short against the time between failures, the formulas hold.
TEST(Goodput, TheBestIntervalIsNearYoungsAndDalys) {
  MonthPlan plan = Plan();
  const std::vector<IntervalTrial> trials = ChooseInterval(Samples(400, 2), &plan);
  const double best = static_cast<double>(plan.full.steps) * plan.full.step;
  EXPECT_NEAR(best, YoungInterval(30, 20000), 0.35 * YoungInterval(30, 20000));
  EXPECT_GT(trials.size(), 20U);
  const auto goodput_at = [&](double interval) {
    MonthPlan at = Plan();
    SetInterval(static_cast<int64_t>(interval / 10), &at);
    return Simulate(at, Samples(400, 2)).goodput.mean;
  };
  const double reached = Simulate(plan, Samples(400, 2)).goodput.mean;
  for (const IntervalTrial& trial : trials) EXPECT_LE(trial.goodput, reached + 1e-12);
  EXPECT_GE(reached, goodput_at(DalyInterval(30, 20000)));
  EXPECT_LT(reached - goodput_at(DalyInterval(30, 20000)), 0.002);
  EXPECT_GT(reached - goodput_at(5 * best), 0.01);
  EXPECT_GT(reached - goodput_at(best / 5), 0.01);
}

TEST(Goodput, FormulasOfTheInterval) {
  EXPECT_DOUBLE_EQ(YoungInterval(50, 10000), 1000);
  // sqrt(2 · 50 · 10000) · (1 + sqrt(1/400)/3 + (1/400)/9) − 50
  EXPECT_NEAR(DalyInterval(50, 10000), 1000 * (1 + 0.05 / 3 + 0.0025 / 9) - 50, 1e-9);
  EXPECT_DOUBLE_EQ(DalyInterval(20000, 10000), 10000);
}

TEST(Goodput, AsynchronousCheckpointsAreNotWrittenFasterThanStorageTakesThem) {
  MonthPlan plan = Plan();
  plan.full = {10, 10, 1, 1, 300};
  ChooseInterval(Samples(20), &plan);
  EXPECT_GE(static_cast<double>(plan.full.steps) * plan.full.step, 300);
  plan.full.write = 3e6;  // longer than the whole time
  EXPECT_TRUE(ChooseInterval(Samples(20), &plan).empty());
}

}  // namespace
}  // namespace drydock
