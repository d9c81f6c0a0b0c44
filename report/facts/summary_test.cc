#include "report/facts/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

// MFU = model FLOPs / (iteration time × GPUs × dense peak) = 9.6e10 / (600 us × 4 × 100 TFLOP/s).
TEST(Summary, ModelFlopsUtilisationIsItsClosedForm) {
  const Rates rates = Summarize(FakeRun()).rates;
  EXPECT_DOUBLE_EQ(rates.model.flops_per_second(), 9.6e10 / 600e-6 / 4);
  ASSERT_TRUE(rates.mfu.has_value());
  EXPECT_DOUBLE_EQ(*rates.mfu, 9.6e10 / (600e-6 * 4 * 100e12));
}

// A captured program may take fewer GPUs than the cluster has.
TEST(Summary, RatesAreThoseOfTheGpusThatWork) {
  Inputs inputs = FakeRun();
  Workload& workload = inputs.workload;
  const int idle = static_cast<int>(workload.programs.size());
  workload.programs.emplace_back().dependency_begin.push_back(0);
  workload.class_of_rank.back() = idle;
  const Summary summary = Summarize(inputs);
  EXPECT_EQ(summary.cluster.ranks, 4);
  EXPECT_EQ(summary.cluster.working, 3);
  EXPECT_DOUBLE_EQ(*summary.rates.mfu, 9.6e10 / (600e-6 * 3 * 100e12));
  EXPECT_DOUBLE_EQ(summary.rates.tokens_per_gpu_second, 4096 / 600e-6 / 3);
  EXPECT_EQ(summary.parts[0].mean.ps(), 665'000'000 / 3);  // (250 + 260 + 155) us
}

TEST(Summary, HardwareFlopsUtilisationCountsRecompute) {
  const Rates rates = Summarize(FakeRun()).rates;
  ASSERT_TRUE(rates.hfu.has_value());
  EXPECT_DOUBLE_EQ(*rates.hfu, 1.2e11 / (600e-6 * 4 * 100e12));
}

TEST(Summary, WithoutRecomputeThereIsNoHardwareUtilisation) {
  Inputs inputs = FakeRun();
  inputs.workload.totals.hardware_flops = inputs.workload.totals.model_flops;
  EXPECT_FALSE(Summarize(inputs).rates.hfu.has_value());
}

TEST(Summary, TokensPerSecondAreThoseOfTheWholeCluster) {
  const Rates rates = Summarize(FakeRun()).rates;
  EXPECT_DOUBLE_EQ(rates.tokens_per_second, 4096 / 600e-6);
  EXPECT_DOUBLE_EQ(rates.tokens_per_gpu_second, 4096 / 600e-6 / 4);
}

TEST(Summary, SharesOfTheMeanAddUpToOne) {
  const Summary summary = Summarize(FakeRun());
  double sum = 0;
  for (const PartSummary& part : summary.parts) sum += summary.ShareOf(part.mean);
  EXPECT_DOUBLE_EQ(sum, 1);
}

}  // namespace
}  // namespace drydock
