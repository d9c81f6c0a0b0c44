// "What does a collective leave in small buffers, if each rank holds what this rank holds?"
#include "capture/hackcuda/device/collective_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "capture/hackcuda/device/unknown_values.h"
#include "capture/hackcuda/testing/pretended.h"

namespace drydock::hackcuda {
namespace {

using testing::ElementsAre;

constexpr uint8_t kInt64 = 4, kFp32 = 7, kBf16 = 9, kSum = 0, kMax = 2;

RecordEntry Call(RecordFunction function, uint64_t count, uint8_t type, uint8_t op = kSum) {
  RecordEntry call;
  call.function = function;
  call.count = count;
  call.type = type;
  call.op = op;
  call.rank = 1;
  return call;
}

TEST(CollectiveValues, SumsMultiply) {
  const std::vector<float> own = {1, 2.5};
  std::vector<float> out(2);
  const RecordEntry sum = Call(RecordFunction::kAllReduce, 2, kFp32);
  MoveValues(&sum, own.data(), out.data(), sizeof(float), 4);
  EXPECT_THAT(out, ElementsAre(4, 10));
  const RecordEntry max = Call(RecordFunction::kAllReduce, 2, kFp32, kMax);
  MoveValues(&max, own.data(), out.data(), sizeof(float), 4);
  EXPECT_THAT(out, ElementsAre(1, 2.5));
  std::vector<int64_t> count = {3};
  const RecordEntry in_place = Call(RecordFunction::kAllReduce, 1, kInt64);
  MoveValues(&in_place, count.data(), count.data(), sizeof(int64_t), 1000);
  EXPECT_THAT(count, ElementsAre(3000));
  std::vector<uint16_t> bf16 = {0x3fc0};  // 1.5
  const RecordEntry half = Call(RecordFunction::kAllReduce, 1, kBf16);
  MoveValues(&half, bf16.data(), bf16.data(), sizeof(uint16_t), 2);
  EXPECT_THAT(bf16, ElementsAre(0x4040));  // 3
}

TEST(CollectiveValues, GathersRepeatAndScattersTakeTheOwnPart) {
  const std::vector<int64_t> own = {7, 8};
  std::vector<int64_t> all(6);
  const RecordEntry gather = Call(RecordFunction::kAllGather, 2, kInt64);
  MoveValues(&gather, own.data(), all.data(), sizeof(int64_t), 3);
  EXPECT_THAT(all, ElementsAre(7, 8, 7, 8, 7, 8));
  const std::vector<int64_t> parts = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> part(2);
  const RecordEntry scatter = Call(RecordFunction::kReduceScatter, 2, kInt64);
  MoveValues(&scatter, parts.data(), part.data(), sizeof(int64_t), 3);
  EXPECT_THAT(part, ElementsAre(9, 12));
  const RecordEntry exchange = Call(RecordFunction::kAllToAll, 2, kInt64);
  MoveValues(&exchange, parts.data(), all.data(), sizeof(int64_t), 3);
  EXPECT_THAT(all, ElementsAre(3, 4, 3, 4, 3, 4));
}

TEST(CollectiveValues, OnlyTheRootOfABroadcastHasValues) {
  const std::vector<int64_t> own = {7};
  std::vector<int64_t> out = {0};
  RecordEntry broadcast = Call(RecordFunction::kBroadcast, 1, kInt64);
  broadcast.peer = 0;
  MoveValues(&broadcast, own.data(), out.data(), sizeof(int64_t), 3);
  EXPECT_THAT(out, ElementsAre(0));
  broadcast.peer = 1;
  MoveValues(&broadcast, own.data(), out.data(), sizeof(int64_t), 3);
  EXPECT_THAT(out, ElementsAre(7));
}

// PyTorch makes an exchange with all ranks of messages to each.
TEST(CollectiveValues, AnExchangeByMessages) {
  std::vector<int64_t> own = {4, 5, 6};
  std::vector<int64_t> got = {0, 0, 0};
  const auto message = [&](RecordFunction function, int32_t peer) {
    RecordEntry call = Call(function, 1, kInt64);
    call.peer = peer;
    auto* const buffer = function == RecordFunction::kSend ? &own[peer] : &got[peer];
    MoveValues(&call, nullptr, buffer, sizeof(int64_t), 3);
  };
  for (int32_t peer = 0; peer < 3; ++peer) {
    message(RecordFunction::kSend, peer);
    message(RecordFunction::kRecv, peer);
  }
  EXPECT_THAT(got, ElementsAre(5, 5, 5));
  EXPECT_EQ(ValuesAt(got.data(), 24), Values());
  EndMessages();
  got = {0, 0, 0};
  message(RecordFunction::kSend, 2);
  message(RecordFunction::kRecv, 0);
  EXPECT_THAT(got, ElementsAre(0, 0, 0));
  EXPECT_EQ(ValuesAt(&got[0], 8).knowledge, Knowledge::kUnknown);
  EXPECT_EQ(ValuesAt(&got[1], 16), Values());
}

TEST(CollectiveValues, AreKnownAsWellAsWhatTheyAreMadeOf) {
  const std::vector<float> own = {1, 2};
  std::vector<float> out(4);
  SetValues(own.data(), 8, {Knowledge::kAssumed, 3});
  const RecordEntry sum = Call(RecordFunction::kAllReduce, 2, kFp32);
  MoveValues(&sum, own.data(), out.data(), sizeof(float), 2);
  EXPECT_EQ(ValuesAt(out.data(), 8), (Values{Knowledge::kAssumed, 3}));
  SetValues(own.data(), 8, {});
  const RecordEntry gather = Call(RecordFunction::kAllGather, 2, kFp32);
  MoveValues(&gather, own.data(), out.data(), sizeof(float), 2);
  EXPECT_EQ(ValuesAt(out.data(), 16), Values());
  // Nobody sums fp16.
  constexpr uint8_t kFp16 = 6;
  const RecordEntry half = Call(RecordFunction::kAllReduce, 2, kFp16);
  MoveValues(&half, own.data(), out.data(), 2, 2);
  EXPECT_EQ(ValuesAt(out.data(), 4).knowledge, Knowledge::kUnknown);
  RecordEntry broadcast = Call(RecordFunction::kBroadcast, 1, kInt64);
  broadcast.peer = 0;
  MoveValues(&broadcast, nullptr, out.data(), 8, 3);
  EXPECT_EQ(ValuesAt(out.data(), 8).knowledge, Knowledge::kUnknown);
}

}  // namespace
}  // namespace drydock::hackcuda
