#include "capture/classes/class_tape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/classes/role_names.h"
#include "capture/classes/testing/tape_builder.h"

namespace drydock::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using F = RecordFunction;
using testing::TapeBuilder;

ClassTape Made(const TapeBuilder& b) {
  WorldGroups groups(b.tape.world);
  groups.Add(b.tape.groups);
  const Result<ClassTape> tape = MakeClassTape(b.tape, groups);
  EXPECT_TRUE(tape.ok()) << tape.error().ToString();
  return *tape;
}

// Two ranks of the same place in different groups.
TEST(ClassTapeTest, EqualRanksHaveEqualTapes) {
  const auto of_rank = [](int rank, int noise) {
    TapeBuilder b(rank, 8);
    const int tp = b.Grid("tp", 2, 1), dp = b.Grid("dp", 4, 2);
    const uint64_t on_dp = b.Communicator(dp), on_tp = b.Communicator(tp);
    const auto stream = static_cast<uint64_t>(70 + noise), event = static_cast<uint64_t>(5 + noise);
    b.Work("product", 10);
    b.tape.submodules.back().host = Time::Us(noise);
    b.Call(F::kAllReduce, on_tp, 100, 0, stream);
    b.Order(RecordKind::kEventRecord, stream, event);
    // The watchdog of the framework records an event now and then, and nobody waits.
    if (noise > 0) b.Order(RecordKind::kEventRecord, stream, event + 1);
    b.Order(RecordKind::kStreamWait, 0, event);
    b.Call(F::kAllGather, on_dp, 7);
    return Made(b);
  };
  const ClassTape a = of_rank(0, 0), b = of_rank(5, 9);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(FirstDifference(a, "rank 0", b, "rank 5"), std::nullopt);
  EXPECT_EQ(a.roles.size(), 2u);
  EXPECT_EQ(a.roles[0].kind, (GroupKind{"tp", 0}));
}

TEST(ClassTapeTest, NamesTheFirstDifference) {
  const auto of_rank = [](int rank, uint64_t count, double flops) {
    TapeBuilder b(rank, 4);
    const uint64_t on = b.Communicator(b.Grid("TENSOR_MODEL_PARALLEL_GROUP", 2, 1));
    b.place = {Phase::kBackward, 3, 1};
    b.Work("product", flops);
    b.Call(F::kAllReduce, on, count);
    return Made(b);
  };
  EXPECT_EQ(FirstDifference(of_rank(0, 8, 1), "rank 0", of_rank(1, 9, 1), "rank 1"),
            "entry 2 of the iteration (backward layer 3 micro-batch 1): rank 0 has all-reduce of "
            "8 float32 (sum) on tp, rank 1 has all-reduce of 9 float32 (sum) on tp");
  EXPECT_THAT(*FirstDifference(of_rank(0, 8, 1), "rank 0", of_rank(1, 8, 2), "rank 1"),
              ::testing::HasSubstr("entry 1 of the iteration"));
}

TEST(ClassTapeTest, StepsMayDifferALittleAndPeaksOfMemoryMay) {
  const auto of_step = [](int64_t bytes) {
    TapeBuilder b(0, 4);
    b.place = {Phase::kOptimizer, -1, -1};
    b.Work("step", 1000);
    b.tape.submodules.back().bytes = Bytes(bytes);
    return Made(b);
  };
  const int64_t few = StepTolerance::kFew.count();
  ClassTape one = of_step(100 * few), other = of_step(105 * few);
  one.memory.allocated = Bytes(1);
  other.memory.allocated = Bytes(few * 1000);
  EXPECT_TRUE(AreAlike(one, other));
  EXPECT_EQ(FirstDifference(one, "rank 0", other, "rank 1"), std::nullopt);
  EXPECT_FALSE(AreAlike(one, of_step(80 * few)));
  EXPECT_EQ(*FirstDifference(one, "rank 0", of_step(80 * few), "rank 1"),
            "the optimizer's step: rank 0 moves 3.355 GB, rank 1 moves 2.684 GB");
  EXPECT_TRUE(AreAlike(of_step(few / 2), of_step(few)));
}

// An all-to-all consists of messages from each member to each. The position in the group does not
// matter.
TEST(ClassTapeTest, AnExchangeWithEverybodyIsOneCall) {
  TapeBuilder b(2, 4);
  const uint64_t on = b.Communicator(b.Grid("ep", 4, 1));
  b.BeginGroup();
  for (int peer = 0; peer < 4; ++peer) {
    b.Call(F::kSend, on, 5, peer);
    b.Call(F::kRecv, on, 5, peer);
  }
  b.EndGroup();
  const ClassTape tape = Made(b);
  ASSERT_EQ(tape.entries.size(), 1u);
  EXPECT_EQ(tape.entries[0].function, F::kAllToAll);
  EXPECT_THAT(FindPlaces(tape).positions, IsEmpty());
}

TEST(ClassTapeTest, PositionsMatterAtTheEndsOfMessages) {
  TapeBuilder b(2, 8);
  const int pp = b.Grid("pp", 4, 2), cp = b.Grid("cp", 2, 1);
  const uint64_t to_next = b.Communicator(pp, {1, 2}), ring = b.Communicator(cp);
  b.Call(F::kSend, to_next, 5, 1);
  b.BeginGroup();
  b.Call(F::kSend, ring, 5, 1);
  b.Call(F::kRecv, ring, 5, 1);
  b.EndGroup();
  const ClassTape tape = Made(b);
  EXPECT_THAT(FindPlaces(tape).positions, ElementsAre(GroupKind{"pp", 0}));
  EXPECT_EQ(RoleOf(tape.roles[0]).name, "pp-next");
  EXPECT_EQ(RoleOf(tape.roles[1]).name, "cp");
}

TEST(ClassTapeTest, RootsMatter) {
  TapeBuilder b(1, 4);
  const uint64_t on = b.Communicator(b.Grid("tp", 4, 1));
  b.Call(F::kBroadcast, on, 5, 2);
  EXPECT_THAT(FindPlaces(Made(b)).roots, ElementsAre(std::pair(GroupKind{"tp", 0}, 2)));
}

TEST(ClassTapeTest, CallsOfUnknownRanksAreErrors) {
  TapeBuilder b(1, 4);
  const uint64_t on = b.Communicator(b.Group("tp", {0, 1}));
  b.Call(F::kBroadcast, on, 5);
  b.tape.entries[0].communicator = 9;
  WorldGroups groups(4);
  groups.Add(b.tape.groups);
  EXPECT_EQ(MakeClassTape(b.tape, groups).error().message(),
            "rank 1 calls broadcast of 5 float32, root 0 on a communicator of unknown ranks");
}

TEST(RoleNamesTest, OfFrameworks) {
  const auto name = [](const char* description, int ordinal = 0, std::vector<int> offsets = {}) {
    return RoleOf({{description, ordinal}, 4, std::move(offsets)}).name;
  };
  EXPECT_EQ(name("DATA_PARALLEL_GROUP_WITH_CP"), "dp-cp");
  EXPECT_EQ(name("mesh_dp_shard"), "dp-shard");
  EXPECT_EQ(name("default_pg"), "world");
  EXPECT_EQ(name("undefined", 1), "group 2");
  EXPECT_EQ(name("My Group"), "my-group");
  EXPECT_EQ(name("PIPELINE_MODEL_PARALLEL_GROUP", 0, {3, 0}), "pp-prev");
  EXPECT_EQ(name("PIPELINE_MODEL_PARALLEL_GROUP", 0, {0, 2}), "pp+2");
  EXPECT_EQ(RoleOfDescription("mesh_tp").dimension, Dimension::kTensor);
  EXPECT_EQ(RoleOfDescription("tp").dimension, Dimension::kWorld);
}

}  // namespace
}  // namespace drydock::capture
