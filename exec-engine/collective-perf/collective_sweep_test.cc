#include "exec-engine/collective-perf/collective_sweep.h"

#include <gtest/gtest.h>

#include "exec-engine/collective-perf/pair_weights.h"

namespace drydock {
namespace {

Sweep OneSize(CollectiveType collective, int members, int64_t bytes) {
  Sweep sweep;
  sweep.collective = collective;
  sweep.group_size = members;
  sweep.smallest = sweep.largest = Bytes(bytes);
  return sweep;
}

TEST(CollectiveSweepTest, ASendRecvIsARing) {
  const SweepSize size = SizesOf(OneSize(CollectiveType::kSendRecv, 3, 4096))[0];
  EXPECT_EQ(size.call.collective, CollectiveType::kAllToAllV);
  EXPECT_EQ(size.call.pair_counts, (std::vector<int64_t>{0, 1024, 0, 0, 0, 1024, 1024, 0, 0}));
  EXPECT_EQ(size.size.count(), 4096);
  EXPECT_EQ(size.bus_factor, 1);
}

TEST(CollectiveSweepTest, TheBufferOfTheBusiestMemberHasTheSize) {
  Sweep sweep = OneSize(CollectiveType::kAllToAllV, 2, 4096);
  sweep.weights = {1, 3, 5, 0};  // member 0 receives 6, sends 4
  const SweepSize size = SizesOf(sweep)[0];
  EXPECT_EQ(size.call.pair_counts, (std::vector<int64_t>{170, 512, 853, 0}));
  EXPECT_EQ(size.count, 170 + 853);
  EXPECT_DOUBLE_EQ(size.bus_factor, 853.0 / 1023);
}

TEST(CollectiveSweepTest, EveryTypeWithEveryReductionOrRoot) {
  Sweep sweep = OneSize(CollectiveType::kReduce, 4, 4096);
  sweep.types = {DataType::kFp32, DataType::kFp16};
  sweep.ops = {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin};
  sweep.roots = {0, 3};
  EXPECT_EQ(SizesOf(sweep).size(), 2u * 3 * 2);
  sweep.collective = CollectiveType::kBroadcast;  // has no reduction
  EXPECT_EQ(SizesOf(sweep).size(), 2u * 2);
  sweep.collective = CollectiveType::kAllGather;  // has no root
  EXPECT_EQ(SizesOf(sweep).size(), 2u);
}

TEST(CollectiveSweepTest, SizesGrow) {
  Sweep sweep = OneSize(CollectiveType::kAllReduce, 4, 8);
  sweep.largest = Bytes(64);
  std::vector<int64_t> sizes;
  for (const SweepSize& size : SizesOf(sweep)) sizes.push_back(size.size.count());
  EXPECT_EQ(sizes, (std::vector<int64_t>{8, 16, 32, 64}));
}

TEST(CollectiveSweepTest, ATableHasAnEnd) {
  Sweep sweep = OneSize(CollectiveType::kAllReduce, 4, 8);
  sweep.largest = Bytes(10007);
  sweep.factor = 1;
  sweep.increment = Bytes(1);
  EXPECT_TRUE(CheckSweepLength(sweep).ok());  // 10000 sizes
  EXPECT_EQ(static_cast<int64_t>(SizesOf(sweep).size()), kMaxRows);
  sweep.largest = Bytes(10008);
  EXPECT_EQ(CheckSweepLength(sweep).error().message(),
            "-b 8 -e 10008 -i 1 are 10001 sizes; a table has at most 10000 rows; write -i 2 or "
            "more, or a factor (-f 2)");
  sweep.increment = Bytes(2);
  EXPECT_TRUE(CheckSweepLength(sweep).ok());
  sweep.types = {DataType::kFp32, DataType::kFp16};
  EXPECT_FALSE(CheckSweepLength(sweep).ok());  // two types, 5001 sizes each
  sweep.collective = CollectiveType::kBroadcast;
  sweep.roots.assign(6000, 0);
  EXPECT_EQ(CheckSweepLength(sweep).error().message(),
            "2 types, 1 reductions and 6000 roots are 12000 rows for each size; a table has at "
            "most 10000; write fewer of them (-d, -o, -r)");
}

TEST(PairWeightsTest, ReadsLinesOfNumbers) {
  EXPECT_EQ(*ParsePairWeights("w", "# a comment\n0, 1\n\n2 3  # last\n", 2),
            (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(PairWeightsTest, ReportsMistakes) {
  const auto message = [](const char* text) {
    return ParsePairWeights("w", text, 2).error().ToString();
  };
  EXPECT_EQ(message("0 1\n2 x\n"),
            "w:2:3: error: 'x' is not a whole number from 0 to 1000000\n  2 x\n    ^");
  EXPECT_EQ(message("0 1\n-2 1\n").substr(0, 58),
            "w:2:1: error: '-2' is not a whole number from 0 to 1000000");
  EXPECT_EQ(message("0 1 2\n"), "w:1: error: 3 numbers, but the group has 2 members");
  EXPECT_EQ(message("0 1\n"), "w: error: 1 lines of numbers, but the group has 2 members");
  EXPECT_EQ(message("0 0\n0 0\n"), "w: error: no member sends anything");
}

}  // namespace
}  // namespace drydock
