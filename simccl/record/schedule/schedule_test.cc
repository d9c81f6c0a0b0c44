// A recording of a schedule becomes the schedule again; every other recording is refused.
#include <gtest/gtest.h>

#include <utility>

#include "simccl/record/log/match.h"
#include "simccl/record/schedule/played_schedule.h"
#include "simccl/testing/record_testing.h"

namespace drydock {
namespace {

using testing::kNcclFloat32;
using testing::RecordingBuilder;

constexpr uint64_t kCompute = 0, kTensor = 0x101;  // stream handles

Workload TwoRanks() {
  Workload w;
  w.streams = {"compute", "tp"};
  w.roles = {{"tp", Dimension::kTensor}};
  w.groups = {{{0, 1}}};
  w.group_of_rank = {{0, 0}};
  w.class_of_rank = {0, 0};
  w.class_count = 1;
  w.submodules.resize(1);
  w.blocks = {{"mlp.fwd", {0}}};
  CommCall call;
  call.type = DataType::kFp32;
  call.count = 64;
  call.group_size = 2;
  w.calls = {call};
  w.uses = {{0, 0}};
  Program& program = w.programs.emplace_back();
  Op compute;
  compute.layer = 3;
  Op reduce = compute;
  reduce.kind = OpKind::kCollective;
  reduce.stream = 1;
  Op last = compute;
  last.host_waits = HostWait::kOpReady;
  program.ops = {compute, reduce, last};
  program.dependency = {0, 1};
  program.dependency_begin = {0, 0, 1, 2};
  return w;
}

// The recording of a rank that reduces `count` elements.
class PlayedRanks : public RecordingBuilder {
 public:
  PlayedRanks() : RecordingBuilder(2) {}

  void Begin(int rank, uint64_t op, uint64_t stream) {
    RecordEntry entry;
    entry.kind = RecordKind::kOp;
    entry.count = op;
    SetStream(stream, &entry);
    recording.ranks[static_cast<size_t>(rank)].entries.push_back(entry);
  }
  void Play(int rank, uint64_t count = 64) {
    recording.ranks[static_cast<size_t>(rank)].joined = {0};
    Begin(rank, 0, kCompute);
    Mark(rank, RecordKind::kEventRecord, kCompute, 1);
    Mark(rank, RecordKind::kStreamWait, kTensor, 1);
    Begin(rank, 1, kTensor);
    Call(rank, RecordFunction::kAllReduce, count, kTensor);
    Mark(rank, RecordKind::kEventRecord, kTensor, 2);
    Mark(rank, RecordKind::kStreamWait, kCompute, 2);
    Mark(rank, RecordKind::kStreamSync, kCompute);
    Begin(rank, 2, kCompute);
    recording.ranks[static_cast<size_t>(rank)].entries[4].rank = rank;
  }
  RecordedRank& rank(int rank) { return recording.ranks[static_cast<size_t>(rank)]; }
};

TEST(RecordScheduleTest, GroupsThatShareARankNeedSeparateSplits) {
  Workload w;
  w.class_of_rank = {0, 0, 0, 0};
  w.groups = {{{0, 1}}, {{2, 3}}, {{1, 2}}, {{0, 1, 2, 3}}, {{3, 2, 1, 0}}, {{0, 3}}};
  const ScheduleSplits splits = SplitsOf(w);
  EXPECT_EQ(splits.communicator_of_group, (std::vector<int>{1, 1, 2, 0, 3, 2}));
  EXPECT_EQ(splits.group_of_rank,
            (std::vector<std::vector<int>>{{0, 0, 1, 1}, {5, 2, 2, 5}, {4, 4, 4, 4}}));
}

TEST(RecordScheduleTest, PlayedWorkloadEqualsTheSchedule) {
  const Workload schedule = TwoRanks();
  PlayedSchedule played(schedule);
  PlayedRanks ranks;
  for (const int rank : {0, 1}) {
    ranks.Play(rank);
    ASSERT_TRUE(played.Take(rank, &ranks.rank(rank)).ok());
    EXPECT_EQ(ranks.rank(rank).entries.size(), 1u);  // the call
  }
  ASSERT_TRUE(MatchCalls(&ranks.recording).ok());
  const Result<Workload> made = played.Finish(ranks.recording);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->class_count, 1);
  EXPECT_EQ(made->class_of_rank, schedule.class_of_rank);
  EXPECT_EQ(made->groups[0].ranks, schedule.groups[0].ranks);
  EXPECT_EQ(made->uses, schedule.uses);
  const Program& program = made->programs[0];
  EXPECT_EQ(program.dependency, schedule.programs[0].dependency);
  EXPECT_EQ(program.dependency_begin, schedule.programs[0].dependency_begin);
  EXPECT_EQ(program.ops[1].layer, 3);
  EXPECT_EQ(program.ops[1].host_waits, HostWait::kNothing);
  EXPECT_EQ(program.ops[2].host_waits, HostWait::kOpReady);
}

TEST(RecordScheduleTest, RanksWithAnotherOrderAreAnotherClass) {
  const Workload schedule = TwoRanks();
  PlayedSchedule played(schedule);
  PlayedRanks ranks;
  for (const int rank : {0, 1}) ranks.Play(rank);
  std::erase_if(ranks.rank(1).entries,
                [](const RecordEntry& entry) { return entry.kind == RecordKind::kStreamSync; });
  for (const int rank : {0, 1}) ASSERT_TRUE(played.Take(rank, &ranks.rank(rank)).ok());
  const Result<Workload> made = played.Finish(ranks.recording);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->class_of_rank, (std::vector<int>{0, 1}));
  EXPECT_EQ(made->programs[1].ops[2].host_waits, HostWait::kNothing);
}

TEST(RecordScheduleTest, MismatchesNameTheOps) {
  Workload schedule = TwoRanks();
  schedule.calls.push_back(schedule.calls[0]);
  schedule.calls[1].count = 32;
  schedule.programs.push_back(schedule.programs[0]);
  schedule.programs[1].ops[1].work = 1;
  schedule.class_of_rank = {0, 1};
  PlayedSchedule played(schedule);
  PlayedRanks ranks;
  ranks.Play(0);
  ranks.Play(1, 32);
  for (const int rank : {0, 1}) ASSERT_TRUE(played.Take(rank, &ranks.rank(rank)).ok());
  const Status status = MatchCalls(&ranks.recording, [&](int rank, const RecordEntry& call) {
    return ScheduledPlace(schedule, rank, call.event);
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "communicator of ranks 0, 1: collective 1: rank 1 calls all-reduce of 32 float32 (sum) "
            "in op 1 of class 1 (tp.all-reduce layer3, forward), rank 0 calls all-reduce of 64 "
            "float32 (sum) in op 1 of class 0 (tp.all-reduce layer3, forward); NCCL would hang or "
            "mix up data");
}

TEST(RecordScheduleTest, RefusesARecordingThatDiffersFromTheSchedule) {
  const Workload schedule = TwoRanks();
  const auto refusal = [&schedule](auto change) {
    PlayedSchedule played(schedule);
    PlayedRanks ranks;
    ranks.Play(1);
    change(&ranks.rank(1));
    const Status status = played.Take(1, &ranks.rank(1));
    return status.ok() ? "ok" : status.error().message();
  };
  const std::string mismatch =
      "rank 1, op 1 of class 0 (tp.all-reduce layer3, forward): the recording differs from the "
      "schedule";
  EXPECT_EQ(refusal([](RecordedRank*) {}), "ok");
  EXPECT_EQ(refusal([](RecordedRank* rank) { rank->entries[4].count = 65; }), mismatch);
  EXPECT_EQ(refusal([](RecordedRank* rank) { rank->entries[4].communicator = 7; }), mismatch);
  EXPECT_EQ(refusal([](RecordedRank* rank) {
              rank->entries.insert(rank->entries.begin() + 4, rank->entries[4]);
            }),
            mismatch);
  EXPECT_EQ(refusal([](RecordedRank* rank) { rank->entries.erase(rank->entries.begin() + 4); }),
            mismatch);
  EXPECT_EQ(refusal([](RecordedRank* rank) { rank->entries.erase(rank->entries.begin()); }),
            "rank 1: the recording differs from the schedule after 0 ops");
  EXPECT_EQ(refusal([](RecordedRank* rank) { rank->entries.pop_back(); }),
            "rank 1: 2 of 3 ops were recorded");
  EXPECT_EQ(refusal([](RecordedRank* rank) { rank->joined.clear(); }),
            "rank 1 has not made all of its groups");
}

}  // namespace
}  // namespace drydock
