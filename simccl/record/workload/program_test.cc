#include "simccl/record/workload/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simccl/testing/record_testing.h"

namespace drydock {
namespace {

using testing::RecordingBuilder;

constexpr uint64_t kFree = 257, kOther = 259, kBlocking = 260;  // streams

RecordProgram Make(const RecordingBuilder& b, int rank = 0) {
  RecordTables tables;
  Result<RecordProgram> made =
      MakeRecordProgram(b.recording, b.recording.ranks[static_cast<size_t>(rank)], &tables);
  EXPECT_TRUE(made.ok()) << made.error().ToString();
  return std::move(made).value();
}

// Returns "stream<dependency,..." for each op.
std::vector<std::string> Order(const Program& program) {
  std::vector<std::string> order;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    std::string text = std::to_string(program.ops[i].stream);
    for (const uint32_t d : program.dependencies(i)) text.append("<").append(std::to_string(d));
    order.push_back(text);
  }
  return order;
}

TEST(RecordProgramTest, StreamsAreIndependent) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Call(0, RecordFunction::kAllReduce, 8, kOther);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  EXPECT_THAT(Order(Make(b).program), ::testing::ElementsAre("1", "2", "1"));
}

TEST(RecordProgramTest, EventHoldsTheEarlierOpsOfItsStream) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Mark(0, RecordKind::kEventRecord, kFree, 1000);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Mark(0, RecordKind::kStreamWait, kOther, 1000);
  b.Call(0, RecordFunction::kAllReduce, 8, kOther);
  b.Call(0, RecordFunction::kAllReduce, 8, kOther);
  EXPECT_THAT(Order(Make(b).program), ::testing::ElementsAre("1", "1", "2<0", "2"));
}

TEST(RecordProgramTest, LaterOpsFollowTheOpsThatTheHostWaitedFor) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Call(0, RecordFunction::kAllReduce, 8, kOther);
  b.Mark(0, RecordKind::kStreamSync, kOther);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Mark(0, RecordKind::kDeviceSync, 0);
  b.Call(0, RecordFunction::kAllReduce, 8, kOther);
  EXPECT_THAT(Order(Make(b).program), ::testing::ElementsAre("1", "2", "1<1", "2<2"));
}

TEST(RecordProgramTest, DefaultStreamAndBlockingStreamsWaitForEachOther) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Call(0, RecordFunction::kAllReduce, 8, kBlocking);
  b.Call(0, RecordFunction::kAllReduce, 8, 0);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Call(0, RecordFunction::kAllReduce, 8, kBlocking);
  EXPECT_THAT(Order(Make(b).program), ::testing::ElementsAre("1", "2", "3<1", "1", "2<2"));
}

// The stream of the first work is "compute"; calls follow work by the rules of streams.
TEST(RecordProgramTest, WorkIsAComputeOp) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  b.Mark(0, RecordKind::kStreamWait, kOther, 1000);
  b.Mark(0, RecordKind::kWork, kOther).count = 3;
  b.Mark(0, RecordKind::kEventRecord, kOther, 1001);
  b.Mark(0, RecordKind::kStreamWait, kFree, 1001);
  b.Call(0, RecordFunction::kAllReduce, 8, kFree);
  const RecordProgram made = Make(b);
  EXPECT_THAT(Order(made.program), ::testing::ElementsAre("1", "0", "1<1"));
  EXPECT_EQ(made.program.ops[1].kind, OpKind::kCompute);
  EXPECT_EQ(made.program.ops[1].work, 3U);
  EXPECT_THAT(made.entry_of_op, ::testing::ElementsAre(0U, 2U, 5U));
}

// The collective of the group first, then its messages, then later calls on the stream.
TEST(RecordProgramTest, MessagesOfAGroupRunSideBySide) {
  RecordingBuilder b(4);
  b.StartGroup();
  b.Call(1, RecordFunction::kSend, 8, kFree, 0);
  b.Call(1, RecordFunction::kSend, 8, kFree, 2);
  b.Call(1, RecordFunction::kRecv, 8, kFree, 3);
  b.Call(1, RecordFunction::kSend, 8, kFree, 1);  // to itself, which is a copy
  b.Call(1, RecordFunction::kAllReduce, 8, kFree);
  b.EndGroup();
  b.Call(1, RecordFunction::kAllReduce, 8, kFree);
  const RecordProgram made = Make(b, 1);
  EXPECT_THAT(Order(made.program), ::testing::ElementsAre("1", "2<0", "3<0", "4<0", "1<1<2<3"));
  EXPECT_EQ(made.program.ops[1].kind, OpKind::kSend);  // to 2, the next rank
  EXPECT_EQ(made.program.ops[2].kind, OpKind::kRecv);  // from 3, two ranks before
  EXPECT_EQ(made.program.ops[3].kind, OpKind::kSend);  // to 0, three ranks after
}

// Every rank sends to the next: one call for all ranks, which share a program.
TEST(RecordProgramTest, RingIsOneExchange) {
  RecordingBuilder b(3);
  for (const int rank : {0, 1, 2}) {
    b.StartGroup();
    b.Call(rank, RecordFunction::kSend, 8, kFree, (rank + 1) % 3);
    b.Call(rank, RecordFunction::kRecv, 8, kFree, (rank + 2) % 3);
    b.EndGroup();
  }
  RecordTables tables;
  tables.launches = RecordLaunches(b.recording);
  for (const RecordedRank& rank : b.recording.ranks) {
    const auto made = MakeRecordProgram(b.recording, rank, &tables);
    ASSERT_TRUE(made.ok());
    ASSERT_EQ(made->program.ops.size(), 1u);
    EXPECT_EQ(made->program.ops[0].kind, OpKind::kCollective);
  }
  ASSERT_EQ(tables.calls.size(), 1u);
  EXPECT_EQ(tables.calls[0].collective, CollectiveType::kAllToAllV);
  EXPECT_EQ(tables.calls[0].count, 8);
  EXPECT_THAT(tables.calls[0].pair_counts, ::testing::ElementsAre(0, 8, 0, 0, 0, 8, 8, 0, 0));
}

TEST(RecordProgramTest, EqualMessagesToAllAreAnAllToAll) {
  RecordingBuilder b(3);
  for (const int rank : {0, 1, 2}) {
    b.StartGroup();
    for (const int peer : {0, 1, 2}) {
      b.Call(rank, RecordFunction::kSend, 5, kFree, peer);
      b.Call(rank, RecordFunction::kRecv, 5, kFree, peer);
    }
    b.EndGroup();
  }
  const RecordLaunches launches(b.recording);
  const CommCall* call = launches.Of(0, 1, 2).all;
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->collective, CollectiveType::kAllToAll);
  EXPECT_EQ(call->count, 15);
}

// A pipeline: only the middle rank receives and sends in one group.
TEST(RecordProgramTest, MessagesThatDoNotMeetInOneGroupStayMessages) {
  RecordingBuilder b(3);
  b.Call(0, RecordFunction::kSend, 8, kFree, 1);
  b.Call(1, RecordFunction::kRecv, 8, kFree, 0);
  b.Call(1, RecordFunction::kSend, 8, kFree, 2);
  b.Call(2, RecordFunction::kRecv, 8, kFree, 1);
  const RecordLaunches launches(b.recording);
  for (uint64_t group = 1; group <= 4; ++group) {
    for (const int rank : {0, 1, 2}) EXPECT_EQ(launches.Of(0, rank, group).all, nullptr);
  }
}

// Returns each rank's form of the launches of groups 1, 2, ...
RecordTables MakeAll(const RecordingBuilder& b, std::vector<Program>* programs) {
  RecordTables tables;
  tables.launches = RecordLaunches(b.recording);
  for (const RecordedRank& rank : b.recording.ranks) {
    auto made = MakeRecordProgram(b.recording, rank, &tables);
    EXPECT_TRUE(made.ok());
    programs->push_back(std::move(made->program));
  }
  return tables;
}

TEST(RecordProgramTest, GroupOfCollectivesAndMessagesIsOneCall) {
  RecordingBuilder b(3);
  for (const int rank : {0, 1, 2}) {
    b.StartGroup();
    b.Call(rank, RecordFunction::kAllReduce, 100, kFree);
    if (rank == 0) b.Call(rank, RecordFunction::kSend, 8, kFree, 2);
    if (rank == 2) b.Call(rank, RecordFunction::kRecv, 8, kFree, 0);
    b.Call(rank, RecordFunction::kBroadcast, 20, kFree, 1);
    b.EndGroup();
  }
  std::vector<Program> programs;
  const RecordTables tables = MakeAll(b, &programs);
  ASSERT_EQ(tables.calls.size(), 1u);
  const CommCall& call = tables.calls[0];
  ASSERT_EQ(call.parts.size(), 3u);
  EXPECT_EQ(call.parts[0].collective, CollectiveType::kAllReduce);
  EXPECT_EQ(call.parts[1].collective, CollectiveType::kBroadcast);
  EXPECT_EQ(call.parts[1].root, 1);
  EXPECT_EQ(call.parts[2].collective, CollectiveType::kSendRecv);
  EXPECT_EQ(call.parts[2].peer, 2);
  for (const Program& program : programs) EXPECT_EQ(program.ops.size(), 1u);
}

// One step of a pipeline: the middle rank's two messages are one launch, so the step is one call.
TEST(RecordProgramTest, MessagesOfASubsetAreACallOfTheSubset) {
  RecordingBuilder b(4);
  b.Call(0, RecordFunction::kSend, 8, kFree, 1);
  b.StartGroup();
  b.Call(1, RecordFunction::kRecv, 8, kFree, 0);
  b.Call(1, RecordFunction::kSend, 9, kFree, 2);
  b.EndGroup();
  b.Call(2, RecordFunction::kRecv, 9, kFree, 1);
  std::vector<Program> programs;
  const RecordTables tables = MakeAll(b, &programs);
  ASSERT_EQ(tables.calls.size(), 1u);
  EXPECT_EQ(tables.calls[0].collective, CollectiveType::kGrouped);
  EXPECT_EQ(tables.calls[0].bytes(), Bytes(68));
  EXPECT_EQ(programs[1].ops.size(), 1u);
  EXPECT_TRUE(programs[3].ops.empty());
}

// Rank 0 makes two launches and rank 1 makes one, so only the collectives form one call.
TEST(RecordProgramTest, LaunchesThatDoNotMatchAreDivided) {
  RecordingBuilder b(2);
  for (const int rank : {0, 1}) {
    b.StartGroup();
    b.Call(rank, RecordFunction::kAllReduce, 100, kFree);
    b.Call(rank, RecordFunction::kAllReduce, 200, kFree);
    b.Call(rank, rank == 0 ? RecordFunction::kSend : RecordFunction::kRecv, 8, kFree, 1 - rank);
    if (rank == 0) b.EndGroup();
    b.Call(rank, rank == 0 ? RecordFunction::kSend : RecordFunction::kRecv, 7, kFree, 1 - rank);
    b.EndGroup();
  }
  std::vector<Program> programs;
  const RecordTables tables = MakeAll(b, &programs);
  ASSERT_EQ(programs[0].ops.size(), 3u);
  EXPECT_EQ(tables.calls[programs[0].ops[0].work].parts.size(), 2u);
  EXPECT_EQ(programs[0].ops[1].kind, OpKind::kSend);
  EXPECT_EQ(programs[0].ops[2].kind, OpKind::kSend);
  EXPECT_EQ(programs[1].ops[1].kind, OpKind::kRecv);
}

TEST(RecordProgramTest, CountsAreThoseOfTheWorkload) {
  RecordingBuilder b(4);
  b.Call(0, RecordFunction::kAllGather, 8, kFree);
  b.Call(0, RecordFunction::kReduce, 8, kFree, 3).op = testing::kNcclMax;
  b.Call(0, RecordFunction::kGather, 8, kFree, 2).type = testing::kNcclFloat64;
  RecordTables tables;
  ASSERT_TRUE(MakeRecordProgram(b.recording, b.recording.ranks[0], &tables).ok());
  EXPECT_EQ(tables.calls[0].count, 32);  // gathered
  EXPECT_EQ(tables.calls[0].group_size, 4);
  EXPECT_EQ(tables.calls[1].op, ReduceOp::kMax);
  EXPECT_EQ(tables.calls[1].root, 3);
  EXPECT_EQ(tables.calls[2].count, 32);  // the root's buffer
  EXPECT_EQ(tables.calls[2].root, 2);
  EXPECT_EQ(tables.calls[2].type, DataType::kFp64);
}

}  // namespace
}  // namespace drydock
