#include "report/path/critical_path.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/path/path_summary.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

// "0-110 compute rank 1 op 0", "110-150 transfer rank 0 op 1 held by 1": in us.
std::vector<std::string> Words(const std::vector<PathStep>& steps) {
  static constexpr const char* kKinds[] = {"compute", "host", "transfer", "memory"};
  std::vector<std::string> out;
  for (const PathStep& step : steps) {
    out.push_back(fmt::format("{:g}-{:g} {} rank {} op {}", step.begin.us(), step.end.us(),
                              kKinds[static_cast<int>(step.kind)], step.rank, step.op));
    if (step.held_by != step.rank) out.back() += fmt::format(" held by {}", step.held_by);
  }
  return out;
}

// The example of docs/explanation/accounting.md. Rank 0 waits for rank 1's late forward pass, the
// second stage for the first one's activations, and the first for the second's gradients.
TEST(CriticalPath, FollowsWaitsFromRankToRank) {
  EXPECT_THAT(Words(CriticalPath(FakeRun())),
              testing::ElementsAre(
                  "0-110 compute rank 1 op 0", "110-150 transfer rank 0 op 1 held by 1",
                  "150-205 transfer rank 2 op 0 held by 0", "205-305 compute rank 2 op 1",
                  "305-345 transfer rank 2 op 2", "345-400 compute rank 2 op 3",
                  "400-450 transfer rank 0 op 3 held by 2", "450-600 compute rank 0 op 4"));
}

TEST(CriticalPath, LateLaunchesAreHostTime) {
  Inputs inputs = FakeRun();
  for (const int rank : {0, 1}) {
    inputs.timeline.ranks[static_cast<size_t>(rank)].start[4] += Time::Us(10);
    inputs.timeline.ranks[static_cast<size_t>(rank)].ready[4] += Time::Us(30);
  }
  const std::vector<std::string> words = Words(CriticalPath(inputs));
  ASSERT_EQ(words.size(), 10u);
  EXPECT_EQ(words[7], "450-460 host rank 0 op 4") << "before it started";
  EXPECT_EQ(words[8], "460-480 host rank 0 op 4") << "between its kernels";
  EXPECT_EQ(words[9], "480-600 compute rank 0 op 4");
}

TEST(CriticalPath, PartsAddUpToTheIteration) {
  const PathSummary path = SummarizePath(FakeRun());
  EXPECT_EQ(path.parts[0], Time::Us(415));
  EXPECT_EQ(path.parts[1 + static_cast<int>(Dimension::kTensor)], Time::Us(80));
  EXPECT_EQ(path.parts[1 + static_cast<int>(Dimension::kPipeline)], Time::Us(105));
  EXPECT_EQ(path.jumps, 3);
  EXPECT_EQ(path.ranks, 3);
  EXPECT_EQ(path.ops[0].name, "layer.forward");
  EXPECT_EQ(path.ops[0].time, Time::Us(210));
  EXPECT_EQ(path.ops[0].steps, 2);
}

TEST(CriticalPath, IncludesLoadsAndHostWork) {
  Inputs inputs = FakeRun();
  inputs.workload.transfers.resize(1);
  for (const OpKind kind : {OpKind::kLoad, OpKind::kHostWork}) {
    Op& op = inputs.workload.programs[0].ops[4];
    op.kind = kind;
    op.work = 0;
    const PathSummary path = SummarizePath(inputs);
    EXPECT_EQ(path.parts[kPathPartCount - (kind == OpKind::kLoad ? 2 : 1)], Time::Us(150));
  }
}

TEST(CriticalPath, IsEmptyWithoutOps) {
  Inputs inputs = FakeRun();
  inputs.workload.programs.assign(2, Program());
  for (Program& program : inputs.workload.programs) program.dependency_begin = {0};
  inputs.timeline.ranks.assign(4, RankTimeline());
  EXPECT_TRUE(CriticalPath(inputs).empty());
}

// The walk ends even if two ops are each other's cause, which happens in no replay.
TEST(CriticalPath, EndsEvenIfCausesFormACycle) {
  Inputs inputs = FakeRun();
  for (RankTimeline& rank : inputs.timeline.ranks) {
    for (size_t op = 0; op < rank.start.size(); ++op) {
      rank.start[op] = rank.ready[op] = rank.end[op] = Time::Us(600);
    }
  }
  const std::vector<PathStep> steps = CriticalPath(inputs);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front().begin, Time());
  EXPECT_EQ(steps.back().end, Time::Us(600));
}

TEST(PathCsv, HasALineForEachStepWithItsOpAndItsLinks) {
  Inputs inputs = FakeRun();
  Plan& plan = inputs.flows.plans[0];
  plan.connections.resize(2);
  plan.connections[0].to = 1;
  plan.connections[1].from = 1;
  plan.operands = {0, 1};
  plan.patterns.resize(1);
  plan.patterns[0].operands = 2;
  plan.members.assign(2, {ChannelProgram()});
  EXPECT_THAT(PathCsv(inputs, SummarizePath(inputs)),
              testing::StartsWith(
                  "begin_us,end_us,kind,part,rank,op,name,stream,phase,held_by_rank,links\n"
                  "0.000000,110.000000,compute,compute,1,0,\"layer.forward mb0 layer0\","
                  "\"compute\",forward,,\n"
                  "110.000000,150.000000,transfer,tensor communication,0,1,"
                  "\"tp.all-reduce mb0 layer0\",\"tp\",forward,1,\"host 0/GPU 1 to GPU 0\"\n"));
  inputs.workload.streams[0] = "=1+\"1\"";
  EXPECT_THAT(PathCsv(inputs, SummarizePath(inputs)),
              testing::HasSubstr("\"layer.forward mb0 layer0\",\"'=1+\"\"1\"\"\",forward"));
}

}  // namespace
}  // namespace drydock
