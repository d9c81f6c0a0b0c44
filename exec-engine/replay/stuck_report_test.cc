#include "exec-engine/replay/stuck_report.h"

#include <gtest/gtest.h>

#include "exec-engine/replay/gather.h"

namespace drydock {
namespace {

StuckOp Waits(int rank, uint32_t op, std::vector<int> ranks) {
  StuckOp stuck;
  stuck.rank = rank;
  stuck.op = op;
  stuck.ranks = std::move(ranks);
  return stuck;
}

TEST(StuckReportTest, FindsACycleInAnyPlace) {
  const std::vector<StuckOp> stuck = {Waits(0, 5, {1}), Waits(1, 6, {3, 2}), Waits(2, 7, {4}),
                                      Waits(4, 1, {1})};
  const WaitChain chain = FindChain(stuck);
  EXPECT_TRUE(chain.closed);
  EXPECT_EQ(chain.ops, (std::vector<size_t>{1, 2, 3})) << "rank 0 is not part of it";
}

TEST(StuckReportTest, ARankMayBeInSeveralOpsAtOnce) {
  const std::vector<StuckOp> stuck = {Waits(0, 1, {2}), Waits(0, 9, {1}), Waits(1, 4, {0})};
  const WaitChain chain = FindChain(stuck);
  EXPECT_TRUE(chain.closed);
  EXPECT_EQ(chain.ops, (std::vector<size_t>{1, 2}));
}

TEST(StuckReportTest, FindsTheLongestChainWithoutACycle) {
  const std::vector<StuckOp> stuck = {Waits(0, 1, {7}), Waits(1, 1, {2}), Waits(2, 1, {0})};
  const WaitChain chain = FindChain(stuck);
  EXPECT_FALSE(chain.closed);
  EXPECT_EQ(chain.ops, (std::vector<size_t>{1, 2, 0})) << "rank 7 has ended";
}

TEST(StuckReportTest, FollowsLongChains) {
  std::vector<StuckOp> stuck;
  constexpr int kRanks = 200000;
  for (int rank = 0; rank < kRanks; ++rank) stuck.push_back(Waits(rank, 0, {(rank + 1) % kRanks}));
  const WaitChain chain = FindChain(stuck);
  EXPECT_TRUE(chain.closed);
  EXPECT_EQ(chain.ops.size(), static_cast<size_t>(kRanks));
}

// The first of two processes. The second one gives the same for ranks that are higher by one.
class TwoProcesses : public Processes {
 public:
  int index() const override { return 0; }
  int count() const override { return 2; }
  int count_here() const override { return 2; }
  std::vector<std::string> GatherAll(const std::string& own) override { return {other, own}; }
  std::vector<std::string> GatherAtFirst(std::string) override { return {}; }
  void Exchange(const std::vector<std::string>&, std::vector<std::string>*) override {}
  std::string other;
};

// What a process sends to the others.
class Recorder : public TwoProcesses {
 public:
  std::vector<std::string> GatherAll(const std::string& own) override {
    other = own;
    return {own};
  }
};

TEST(StuckReportTest, ProcessesExchangeTheirState) {
  RunState there;
  there.ended = 7;
  there.stopped = true;
  there.stuck = {Waits(3, 8, {0, 1})};
  Recorder recorder;
  GatherState(there, &recorder);
  TwoProcesses processes;
  processes.other = recorder.other;
  RunState own;
  own.ended = 2;
  own.stuck = {Waits(1, 4, {3})};
  const RunState all = GatherState(own, &processes);
  EXPECT_EQ(all.ended, 9);
  EXPECT_TRUE(all.stopped);
  ASSERT_EQ(all.stuck.size(), 2u);
  EXPECT_EQ(all.stuck[0].rank, 1);
  EXPECT_EQ(all.stuck[1].rank, 3);
  EXPECT_EQ(all.stuck[1].ranks, (std::vector<int>{0, 1}));
  EXPECT_TRUE(FindChain(all.stuck).closed);
}

}  // namespace
}  // namespace drydock
