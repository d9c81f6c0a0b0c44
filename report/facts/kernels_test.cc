#include "report/facts/kernels.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

// Four ranks, each one forward (60 + 40 us) and one backward (150 us): 1000 us in all.
TEST(Kernels, RowsCountLaunchesOfAllRanksCostliestFirst) {
  const KernelSummary kernels = SummarizeKernels(FakeRun());
  ASSERT_EQ(kernels.rows.size(), 3u);
  EXPECT_EQ(kernels.rows[0].shape, "1024x1024x2048 fp16");
  EXPECT_EQ(kernels.rows[0].launches, 4);
  EXPECT_DOUBLE_EQ(kernels.rows[0].share, 0.6);
  EXPECT_DOUBLE_EQ(kernels.rows[1].share, 0.24);
  EXPECT_EQ(kernels.rows[2].name, "norm");
  EXPECT_DOUBLE_EQ(kernels.rows[2].share, 0.16);
}

TEST(Kernels, TimesAreCountedBySource) {
  const KernelSummary kernels = SummarizeKernels(FakeRun());
  const auto& scaled = kernels.by_source[static_cast<size_t>(TimeSource::kScaled)];
  EXPECT_EQ(scaled.kernels, 1);
  EXPECT_DOUBLE_EQ(scaled.share, 0.6);
  EXPECT_DOUBLE_EQ(kernels.by_source[0].share + kernels.by_source[1].share + scaled.share, 1);
}

TEST(Kernels, OneKernelInTwoSubmodulesIsOneRow) {
  Inputs inputs = FakeRun();
  auto& submodules = inputs.times.gpus[0].submodules;
  submodules[1].kernels = {submodules[0].kernels[0]};
  const KernelSummary kernels = SummarizeKernels(inputs);
  ASSERT_EQ(kernels.rows.size(), 2u);
  EXPECT_EQ(kernels.rows[0].launches, 8);
}

TEST(Kernels, SubmodulesThatNeverRunAreLeftOut) {
  Inputs inputs = FakeRun();
  inputs.workload.blocks[1].submodules = {};
  EXPECT_EQ(SummarizeKernels(inputs).rows.size(), 2u);
}

}  // namespace
}  // namespace drydock
