#include "exec-engine/replay/accounting.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

constexpr uint8_t kCompute = 0, kTensor = 1, kSend = 2, kRecv = 3;
constexpr uint8_t kTp = 0, kPp = 1, kDp = 2;

class Rank {
 public:
  Rank() { program.dependency_begin = {0}; }
  void Add(OpKind kind, uint8_t stream, uint8_t role, int start, int ready, int end,
           std::vector<uint32_t> dependencies = {}) {
    Op op;
    op.kind = kind;
    op.stream = stream;
    op.role = role;
    program.ops.push_back(op);
    program.dependency.insert(program.dependency.end(), dependencies.begin(), dependencies.end());
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
    timeline.start.push_back(Time::Us(start));
    timeline.ready.push_back(Time::Us(ready));
    timeline.end.push_back(Time::Us(end));
  }
  TimeAccount Account(int iteration) const {
    return AccountFor({program, roles, transfers}, timeline, Time::Us(iteration));
  }
  std::vector<GroupRole> roles = {
      {"tp", Dimension::kTensor}, {"pp", Dimension::kPipeline}, {"dp", Dimension::kData}};
  std::vector<MemoryTransfer> transfers;
  Program program;
  RankTimeline timeline;
};

Time Exposed(const TimeAccount& account, Dimension dimension) {
  return account.exposed[static_cast<size_t>(dimension)];
}

// The example of docs/explanation/accounting.md.
TEST(AccountingTest, TheWorkedExample) {
  Rank rank;
  rank.Add(OpKind::kCompute, kCompute, 0, 0, 0, 10);
  rank.Add(OpKind::kCollective, kTensor, kTp, 10, 10, 13, {0});
  rank.Add(OpKind::kSend, kSend, kPp, 13, 13, 16, {1});
  rank.Add(OpKind::kRecv, kRecv, kPp, 13, 30, 34, {1});
  rank.Add(OpKind::kCompute, kCompute, 0, 34, 34, 50, {3});
  const TimeAccount account = rank.Account(60);
  EXPECT_EQ(account.compute, Time::Us(26));
  EXPECT_EQ(Exposed(account, Dimension::kTensor), Time::Us(3));
  EXPECT_EQ(Exposed(account, Dimension::kPipeline), Time::Us(4));
  EXPECT_EQ(account.bubble, Time::Us(17));
  EXPECT_EQ(account.idle, Time::Us(10));
  EXPECT_EQ(Total(account), Time::Us(60));
}

// One member starts 4 us after the rank. The wait for the data counts separately.
TEST(AccountingTest, WaitForALateMemberIsStragglerWait) {
  Rank rank;
  rank.Add(OpKind::kCompute, kCompute, 0, 0, 0, 10);
  rank.Add(OpKind::kCollective, kTensor, kTp, 10, 14, 17, {0});
  rank.Add(OpKind::kCompute, kCompute, 0, 17, 17, 20, {1});
  rank.Add(OpKind::kSend, kSend, kPp, 20, 25, 26, {2});
  rank.Add(OpKind::kRecv, kRecv, kDp, 26, 28, 31, {3});
  const TimeAccount account = rank.Account(31);
  EXPECT_EQ(account.compute, Time::Us(13));
  EXPECT_EQ(account.straggler, Time::Us(4 + 2));
  EXPECT_EQ(Exposed(account, Dimension::kTensor), Time::Us(3));
  EXPECT_EQ(Exposed(account, Dimension::kPipeline), Time::Us(6))
      << "sends of the pipeline count completely";
  EXPECT_EQ(Exposed(account, Dimension::kData), Time::Us(3));
  EXPECT_EQ(Total(account), Time::Us(31));
}

// A compute op hides a part of the wait.
TEST(AccountingTest, OnlyTheExposedWaitCounts) {
  Rank rank;
  rank.Add(OpKind::kCompute, kCompute, 0, 0, 0, 10);
  rank.Add(OpKind::kCollective, kTensor, kDp, 5, 14, 17);
  rank.Add(OpKind::kCompute, kCompute, 0, 17, 17, 20, {1});
  const TimeAccount account = rank.Account(20);
  EXPECT_EQ(account.straggler, Time::Us(4));
  EXPECT_EQ(Exposed(account, Dimension::kData), Time::Us(3));
}

TEST(AccountingTest, CommunicationUnderComputeIsHidden) {
  Rank rank;
  rank.Add(OpKind::kCompute, kCompute, 0, 0, 0, 10);
  rank.Add(OpKind::kCollective, kTensor, kDp, 10, 10, 25, {0});
  rank.Add(OpKind::kCompute, kCompute, 0, 10, 10, 20, {0});
  rank.Add(OpKind::kCompute, kCompute, 0, 25, 25, 30, {1});
  const TimeAccount account = rank.Account(30);
  EXPECT_EQ(account.compute, Time::Us(25));
  EXPECT_EQ(Exposed(account, Dimension::kData), Time::Us(5)) << "only the exposed part";
}

TEST(AccountingTest, TheLastOpExplainsTheTail) {
  Rank rank;
  rank.Add(OpKind::kCompute, kCompute, 0, 0, 0, 10);
  rank.Add(OpKind::kCollective, kTensor, kDp, 10, 10, 18, {0});
  const TimeAccount account = rank.Account(20);
  EXPECT_EQ(Exposed(account, Dimension::kData), Time::Us(8));
  EXPECT_EQ(account.idle, Time::Us(2));
}

TEST(AccountingTest, ARankWithoutComputeHasAnAccount) {
  Rank rank;
  rank.Add(OpKind::kRecv, kRecv, kPp, 0, 12, 20);
  const TimeAccount account = rank.Account(25);
  EXPECT_EQ(account.bubble, Time::Us(12));
  EXPECT_EQ(Exposed(account, Dimension::kPipeline), Time::Us(8));
  EXPECT_EQ(account.idle, Time::Us(5));
}

TEST(AccountingTest, ARankWithoutOpsIsIdle) { EXPECT_EQ(Rank().Account(25).idle, Time::Us(25)); }

}  // namespace
}  // namespace drydock
