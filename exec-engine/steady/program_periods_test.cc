#include "exec-engine/steady/program_periods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "exec-engine/testing/pipeline_testing.h"

namespace drydock {
namespace {

using testing::Pipeline;

void ExpectSamePrograms(const Workload& a, const Workload& b) {
  ASSERT_EQ(a.programs.size(), b.programs.size());
  for (size_t c = 0; c < a.programs.size(); ++c) {
    ASSERT_EQ(a.programs[c].ops.size(), b.programs[c].ops.size());
    EXPECT_EQ(a.programs[c].dependency_begin, b.programs[c].dependency_begin);
    EXPECT_EQ(a.programs[c].dependency, b.programs[c].dependency);
    for (size_t i = 0; i < a.programs[c].ops.size(); ++i) {
      const Op &x = a.programs[c].ops[i], &y = b.programs[c].ops[i];
      EXPECT_EQ(x.kind, y.kind);
      EXPECT_EQ(x.stream, y.stream);
      EXPECT_EQ(x.tag, y.tag) << "op " << i << " of class " << c;
    }
  }
}

std::vector<uint32_t> Begins(const WorkloadPeriods& periods) {
  std::vector<uint32_t> out;
  for (const ProgramPeriods& each : periods.classes) out.push_back(each.begin);
  return out;
}

TEST(ProgramPeriodsTest, WithoutPeriodsAScheduleHasFewerMicrobatches) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const Workload whole = Pipeline(40, seed).workload;
    const auto periods = FindPeriods(whole);
    ASSERT_TRUE(periods.has_value()) << seed;
    EXPECT_EQ(periods->microbatches, 1);
    ExpectSamePrograms(WithoutPeriods(whole, *periods, Begins(*periods), 10),
                       Pipeline(30, seed).workload);
  }
}

TEST(ProgramPeriodsTest, ManyPeriodsAreJoined) {
  const auto periods = FindPeriods(Pipeline(400, 1).workload);
  ASSERT_TRUE(periods.has_value());
  EXPECT_EQ(periods->microbatches, 4) << "400 micro-batches, at most 128 periods";
}

TEST(ProgramPeriodsTest, AFewMicrobatchesAreNoPeriods) {
  EXPECT_FALSE(FindPeriods(Pipeline(5, 1).workload).has_value());
}

TEST(ProgramPeriodsTest, AnOpThatDiffersEndsTheRepetition) {
  Workload workload = Pipeline(40, 1).workload;
  const auto before = FindPeriods(workload);
  for (Program& program : workload.programs) {
    for (Op& op : program.ops) {
      if (op.microbatch == 30) op.layer = 7;
    }
  }
  const auto after = FindPeriods(workload);
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_LT(after->classes[0].end, before->classes[0].end);
}

// 20 groups of 8 micro-batches, which pass two chunks one after the other. The ops of one chunk
// repeat themselves 8 times.
TEST(ProgramPeriodsTest, GroupsRepeatAndNotTheMicrobatchesOfOneChunk) {
  Workload workload;
  Program& program = workload.programs.emplace_back();
  program.dependency_begin.push_back(0);
  for (int i = 0; i < 20 * 2 * 8; ++i) {
    Op& op = program.ops.emplace_back();
    op.kind = OpKind::kCompute;
    op.chunk = static_cast<decltype(op.chunk)>(i / 8 % 2);
    op.microbatch = i / 16 * 8 + i % 8;
    program.dependency_begin.push_back(0);
  }
  const auto periods = FindPeriods(workload);
  ASSERT_TRUE(periods.has_value());
  EXPECT_EQ(periods->microbatches, 8);
  EXPECT_EQ(periods->classes[0].ops, 16u);
  EXPECT_EQ(periods->classes[0].begin, 0u);
  EXPECT_EQ(periods->classes[0].end, program.ops.size());
}

TEST(ProgramPeriodsTest, SparePeriodsLeaveTheRest) {
  Workload workload = Pipeline(100, 1).workload;
  const auto periods = FindPeriods(workload);
  ASSERT_TRUE(periods.has_value());
  int64_t least = INT64_MAX;
  for (const ProgramPeriods& each : periods->classes) {
    least = std::min<int64_t>(least, (each.end - each.begin) / each.ops);
  }
  EXPECT_EQ(SparePeriods(workload, *periods, 24), least - 24);
  EXPECT_EQ(SparePeriods(workload, *periods, least / 2), least - least / 2);
  EXPECT_EQ(SparePeriods(workload, *periods, least / 2 + 1), 0) << "fewer than are left";
  ExpectSamePrograms(WithoutPeriods(workload, *periods, Begins(*periods), least - 24),
                     Pipeline(static_cast<int>(100 - (least - 24)), 1).workload);
}

// The last op waits for an op of the first period, or for one of the last that would be left out,
// or for the first that would stay.
TEST(ProgramPeriodsTest, PeriodsThatAnOpWaitsForAreNotSpare) {
  const Workload workload = Pipeline(100, 1).workload;
  const auto periods = FindPeriods(workload);
  ASSERT_TRUE(periods.has_value());
  const int64_t spare = SparePeriods(workload, *periods, 24);
  ASSERT_GT(spare, 24);
  for (size_t c = 0; c < workload.programs.size(); ++c) {
    const ProgramPeriods& each = periods->classes[c];
    const auto stays = static_cast<uint32_t>(each.begin + spare * each.ops);
    for (const auto& [before, expected] :
         {std::pair{each.begin, int64_t{0}}, std::pair{stays - 1, int64_t{0}},
          std::pair{stays, spare}}) {
      Workload waits = workload;
      waits.programs[c].dependency.push_back(before);
      ++waits.programs[c].dependency_begin.back();
      EXPECT_EQ(SparePeriods(waits, *periods, 24), expected) << "class " << c << ", op " << before;
    }
  }
}

TEST(ProgramPeriodsTest, ProgramsWithoutOpsHaveNoSparePeriods) {
  Workload workload;
  workload.programs.emplace_back();
  WorkloadPeriods periods;
  periods.classes.emplace_back();
  EXPECT_EQ(SparePeriods(workload, periods, 24), 0);
}

TEST(ProgramPeriodsTest, TagsWithoutARuleAreNoPeriods) {
  Workload workload = Pipeline(40, 1).workload;
  bool messages = false;
  for (Program& program : workload.programs) {
    for (Op& op : program.ops) {
      if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
      messages = true;
      op.tag = op.tag * op.tag;
    }
  }
  ASSERT_TRUE(messages);
  EXPECT_FALSE(FindPeriods(workload).has_value());
}

}  // namespace
}  // namespace drydock
