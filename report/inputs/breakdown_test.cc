#include "report/inputs/breakdown.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

constexpr size_t kComputePart = 0;
constexpr size_t kTensorPart = 1 + static_cast<size_t>(Dimension::kTensor);
constexpr size_t kBubblePart = kPartCount - 2;
constexpr size_t kIdlePart = kPartCount - 1;

TEST(Breakdown, PartsKeepEveryPicosecondOfAnAccount) {
  TimeAccount account;
  account.compute = Time::Ps(1);
  for (int i = 0; i < kDimensionCount; ++i) account.exposed[i] = Time::Ps(10 + i);
  account.bubble = Time::Ps(100);
  account.idle = Time::Ps(1000);
  account.host = Time::Ps(10000);
  account.straggler = Time::Ps(100000);
  account.memory = Time::Ps(1000000);
  Time sum;
  for (const Time part : PartsOf(account)) sum += part;
  EXPECT_EQ(sum.ps(), 1 + (10 + 11 + 12 + 13 + 14 + 15) + 100 + 1000 + 10000 + 100000 + 1000000);
  EXPECT_EQ(PartsOf(account)[kTensorPart], Time::Ps(10));
  EXPECT_EQ(PartsOf(account)[kBubblePart], Time::Ps(100));
  EXPECT_EQ(PartsOf(account)[kPartCount - 4], Time::Ps(10000));
  EXPECT_EQ(PartsOf(account)[kPartCount - 3], Time::Ps(100000));
  EXPECT_EQ(PartsOf(account)[kPartCount - 5], Time::Ps(1000000));
}

TEST(Breakdown, PartsAreNamedInTheirOrder) {
  EXPECT_EQ(PartName(0), "compute");
  EXPECT_EQ(PartName(1), "exposed tensor");
  EXPECT_EQ(PartName(kPartCount - 6), "exposed world");
  EXPECT_EQ(PartName(kPartCount - 5), "exposed memory");
  EXPECT_EQ(PartName(kPartCount - 4), "host");
  EXPECT_EQ(PartName(kPartCount - 3), "straggler wait");
  EXPECT_EQ(PartName(kPartCount - 2), "bubble");
  EXPECT_EQ(PartName(kPartCount - 1), "idle");
}

TEST(Breakdown, MeansAndTheRankWithMost) {
  const auto parts = SummarizeParts(FakeRun());
  EXPECT_EQ(parts[kComputePart].mean, Time::Us(205));  // (250 + 260 + 155 + 155) / 4
  EXPECT_EQ(parts[kComputePart].max, Time::Us(260));
  EXPECT_EQ(parts[kComputePart].max_rank, 1);
  EXPECT_EQ(parts[kIdlePart].max, Time::Us(200));
  EXPECT_EQ(parts[kIdlePart].max_rank, 2);  // the lower of two equal ones
}

TEST(Breakdown, MeansDoNotOverflowOnManyRanks) {
  constexpr size_t kRanks = 100000;
  Inputs inputs;
  inputs.workload.programs.emplace_back().ops.emplace_back();
  inputs.workload.class_of_rank.assign(kRanks, 0);
  TimeAccount account;
  account.compute = Time::FromSeconds(1000);
  inputs.timeline.accounts.assign(kRanks, account);
  EXPECT_EQ(SummarizeParts(inputs)[0].mean, account.compute);
}

TEST(Breakdown, ClassesHaveTheirRanksLayersAndMeans) {
  const std::vector<ClassBreakdown> classes = BreakdownByClass(FakeRun());
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(classes[0].mean[kComputePart], Time::Us(255));
  EXPECT_EQ(classes[0].layers, std::vector<int>{0});
  EXPECT_EQ(classes[1].layers, std::vector<int>{1});
}

TEST(Breakdown, RangesOfNumbers) {
  EXPECT_EQ(RangesOf({0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
  EXPECT_EQ(RangesOf({3}), "3");
  EXPECT_EQ(RangesOf({}), "");
}

}  // namespace
}  // namespace drydock
