#include "simccl/record/log/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simccl/testing/record_testing.h"

namespace drydock {
namespace {

using testing::RecordingBuilder;

std::string ErrorOf(RecordingBuilder& b) {
  const Status status = MatchCalls(&b.recording);
  return status.ok() ? "" : status.error().ToString();
}

TEST(RecordMatchTest, EqualCallsMatch) {
  RecordingBuilder b(2);
  for (const int rank : {0, 1}) {
    b.Call(rank, RecordFunction::kAllReduce, 100, 0);
    b.Call(rank, rank == 0 ? RecordFunction::kSend : RecordFunction::kRecv, 7, 0, 1 - rank);
    b.Call(rank, RecordFunction::kReduce, 5, 0, 1);
  }
  EXPECT_EQ(ErrorOf(b), "");
}

// Calls that only move data are compared in bytes, as NCCL moves them.
TEST(RecordMatchTest, TypesOfMovedDataMayDiffer) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kBroadcast, 100, 0);
  b.Call(1, RecordFunction::kBroadcast, 200, 0).type = testing::kNcclFloat16;
  EXPECT_EQ(ErrorOf(b), "");
  EXPECT_EQ(b.recording.ranks[1].entries[0].count, 100u);
  EXPECT_EQ(b.recording.ranks[1].entries[0].type, testing::kNcclFloat32);
  b.Call(0, RecordFunction::kAllReduce, 100, 0);
  b.Call(1, RecordFunction::kAllReduce, 200, 0).type = testing::kNcclFloat16;
  EXPECT_EQ(ErrorOf(b),
            "error: communicator of ranks 0, 1: collective 2: rank 1 calls all-reduce of 200 "
            "float16 (sum), rank 0 calls all-reduce of 100 float32 (sum); NCCL would hang or mix "
            "up data");
}

TEST(RecordMatchTest, BuffersAreRegisteredIfAllMembersRegisterThem) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kAllReduce, 8, 0).buffers = RecordBuffers::kSymmetric;
  b.Call(1, RecordFunction::kAllReduce, 8, 0).buffers = RecordBuffers::kRegistered;
  b.Call(0, RecordFunction::kSend, 8, 0, 1).buffers = RecordBuffers::kRegistered;
  b.Call(1, RecordFunction::kRecv, 8, 0, 0);
  EXPECT_EQ(ErrorOf(b), "");
  EXPECT_EQ(b.recording.ranks[0].entries[0].buffers, RecordBuffers::kRegistered);
  EXPECT_EQ(b.recording.ranks[0].entries[1].buffers, RecordBuffers::kPlain);
}

TEST(RecordMatchTest, NamesADifferentRoot) {
  RecordingBuilder b(3);
  for (const int rank : {0, 1, 2}) b.Call(rank, RecordFunction::kBroadcast, 9, 0, rank / 2);
  EXPECT_EQ(ErrorOf(b),
            "error: communicator of ranks 0, 1, 2: collective 1: rank 2 calls broadcast of 9 "
            "float32, root 1, rank 0 calls broadcast of 9 float32, root 0; NCCL would hang or mix "
            "up data");
}

TEST(RecordMatchTest, NamesARankThatStops) {
  RecordingBuilder b(5);
  for (const int rank : {0, 1, 2, 3, 4}) {
    b.Call(rank, RecordFunction::kAllGather, 4, 0);
    if (rank != 3) b.Call(rank, RecordFunction::kAllToAll, 4, 0);
  }
  EXPECT_EQ(ErrorOf(b),
            "error: communicator of ranks 0, 1, 2, 3, ...: collective 2: rank 3 makes no further "
            "collective, rank 0 calls all-to-all of 4 float32; NCCL would hang or mix up data");
}

TEST(RecordMatchTest, MessagesMatchByPairAndOrder) {
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kSend, 10, 0, 1);
  b.Call(0, RecordFunction::kSend, 20, 0, 1);
  b.Call(1, RecordFunction::kRecv, 10, 0, 0);
  EXPECT_EQ(ErrorOf(b),
            "error: communicator of ranks 0, 1: message 2 from rank 0 to rank 1: rank 0 sends 20 "
            "float32, rank 1 does not receive it; NCCL would hang or mix up data");
  b.Call(1, RecordFunction::kRecv, 21, 0, 0);
  EXPECT_EQ(ErrorOf(b),
            "error: communicator of ranks 0, 1: message 2 from rank 0 to rank 1: rank 0 sends 20 "
            "float32, rank 1 receives 21 float32; NCCL would hang or mix up data");
}

TEST(RecordMatchTest, SizesOfObjectsMayBeUnknown) {
  constexpr int kUint8 = 1;
  RecordingBuilder b(2);
  b.Call(0, RecordFunction::kSend, 20, 0, 1).type = kUint8;
  b.Call(1, RecordFunction::kRecv, 21, 0, 0).type = kUint8;
  b.Call(0, RecordFunction::kAllGather, 7, 0).type = kUint8;
  b.Call(1, RecordFunction::kAllGather, 9, 0).type = kUint8;
  EXPECT_EQ(ErrorOf(b),
            "error: communicator of ranks 0, 1: collective 1: rank 1 calls all-gather of 9 uint8, "
            "rank 0 calls all-gather of 7 uint8; NCCL would hang or mix up data");
  EXPECT_FALSE(MatchCalls(&b.recording, nullptr, 8).ok());
  EXPECT_TRUE(MatchCalls(&b.recording, nullptr, 21).ok());
  EXPECT_EQ(b.recording.ranks[1].entries[0].count, 20u);
  EXPECT_EQ(b.recording.ranks[1].entries[1].count, 7u);
}

TEST(RecordMatchTest, SizesThatOverflowAreErrors) {
  RecordingBuilder b(2);
  for (const int rank : {0, 1}) b.Call(rank, RecordFunction::kAllGather, uint64_t{1} << 62, 0);
  EXPECT_EQ(ErrorOf(b),
            "error: communicator of ranks 0, 1: all-gather of 4611686018427387904 float32: the "
            "buffer's size overflows");
}

}  // namespace
}  // namespace drydock
