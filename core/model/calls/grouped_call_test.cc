#include "core/model/calls/grouped_call.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

CommCall Call(CollectiveType type, int64_t count) {
  CommCall call;
  call.collective = type;
  call.type = DataType::kBf16;
  call.count = count;
  call.group_size = 4;
  return call;
}

CommCall Message(int from, int to, int64_t count) {
  CommCall call = Call(CollectiveType::kSendRecv, count);
  call.root = from, call.peer = to;
  return call;
}

TEST(GroupedCallTest, BuffersOfThePartsFollowEachOther) {
  const CommCall grouped = MakeGrouped({Call(CollectiveType::kAllReduce, 100), Message(0, 1, 8),
                                        Call(CollectiveType::kAllReduce, 7)});
  EXPECT_EQ(grouped.bytes(), Bytes(230));
  EXPECT_EQ(grouped.group_size, 4);
  EXPECT_EQ(OffsetsOfParts(grouped), (std::vector<int64_t>{0, 200, 216}));
  EXPECT_EQ(KindText(grouped), "all-reduce x2, send-recv");
}

TEST(GroupedCallTest, TextNamesRegisteredBuffers) {
  CommCall registered = Call(CollectiveType::kAllReduce, 1);
  EXPECT_EQ(BuffersText(registered), "");
  registered.buffers = BufferKind::kRegistered;
  EXPECT_EQ(BuffersText(registered), ", registered buffers");
  EXPECT_EQ(BuffersText(MakeGrouped({registered, registered})), ", registered buffers");
  EXPECT_EQ(BuffersText(MakeGrouped({registered, Call(CollectiveType::kAllGather, 4)})),
            ", some registered buffers");
}

TEST(GroupedCallTest, CollectivesInvolveAllMembersAndMessagesTwo) {
  EXPECT_EQ(ParticipantsOf(Call(CollectiveType::kAllToAllV, 1)), 4);
  EXPECT_EQ(ParticipantsOf(Message(2, 3, 1)), 2);
  const CommCall messages = MakeGrouped({Message(0, 1, 1), Message(1, 3, 1)});
  EXPECT_TRUE(InvolvesSubset(messages));
  EXPECT_TRUE(TakesPart(messages, 3));
  EXPECT_FALSE(TakesPart(messages, 2));
  EXPECT_EQ(ParticipantsOf(messages), 3);
  const CommCall mixed = MakeGrouped({Message(0, 1, 1), Call(CollectiveType::kBroadcast, 1)});
  EXPECT_FALSE(InvolvesSubset(mixed));
  EXPECT_TRUE(TakesPart(mixed, 2));
}

// Each member sends equal sizes to the members at the same distances: a cyclic shift.
TEST(GroupedCallTest, ACyclicShiftInvolvesAllMembers) {
  const auto shift = [](int hop, int odd_one_out) {
    std::vector<CommCall> messages;
    for (int member = 0; member < 4; ++member) {
      CommCall message;
      message.collective = CollectiveType::kSendRecv;
      message.group_size = 4;
      message.count = member == odd_one_out ? 3 : 2;
      message.root = member;
      message.peer = (member + hop) % 4;
      messages.push_back(message);
    }
    return MakeGrouped(messages);
  };
  for (const int hop : {1, 2, 3}) {
    EXPECT_TRUE(IsCyclicShift(shift(hop, -1))) << hop;
    EXPECT_FALSE(InvolvesSubset(shift(hop, -1))) << hop;
    EXPECT_EQ(ParticipantsOf(shift(hop, -1)), 4) << hop;
  }
  EXPECT_FALSE(IsCyclicShift(shift(0, -1))) << "to themselves";
  EXPECT_FALSE(IsCyclicShift(shift(1, 2)));
  EXPECT_TRUE(InvolvesSubset(shift(1, 2)));
  CommCall shorter = shift(1, -1);
  shorter.parts.pop_back();
  EXPECT_FALSE(IsCyclicShift(shorter)) << "the last member sends nothing";
}

}  // namespace
}  // namespace drydock
