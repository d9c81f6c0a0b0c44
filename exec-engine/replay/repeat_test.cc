#include "exec-engine/replay/repeat.h"

#include <gtest/gtest.h>

#include "exec-engine/replay/accounting.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::Analytical;
using testing::SmallCluster;
using testing::WorkloadBuilder;

Result<Timeline> Iterate(const WorkloadBuilder& b, int iterations, double jitter = 0) {
  ReplayOptions options;
  options.variation.jitter.compute = jitter;
  options.iterations = iterations;
  return Replay(b.workload, b.plan, b.times, Analytical(), options);
}

Result<Timeline> Until(const WorkloadBuilder& b, Time until) {
  ReplayOptions options;
  options.until = until;
  return Replay(b.workload, b.plan, b.times, Analytical(), options);
}

// Rank 0 computes 100 us and sends to rank 1, which then computes 300 us. After the send, rank 0
// computes 50 us on another stream.
WorkloadBuilder Pipeline() {
  WorkloadBuilder b(SmallCluster(1, 2));
  const int compute = b.Stream("compute"), pp = b.Stream("pp");
  const int role = b.Role("pp", Dimension::kPipeline, {{0, 1}});
  const uint32_t work = b.Compute(0, compute, Time::Us(100));
  b.Transfer(0, pp, role, true, 0, 1 << 20, 0, {work});
  b.Compute(0, compute, Time::Us(50), {work});
  const uint32_t data = b.Transfer(1, pp, role, false, 0, 1 << 20, 0);
  b.Compute(1, compute, Time::Us(300), {data});
  b.PlanAll();
  return b;
}

TEST(RepeatTest, RepeatsAProgramOpByOp) {
  const WorkloadBuilder b = Pipeline();
  const Workload twice = Repeat(b.workload, 2);
  const Program& program = twice.programs[0];
  ASSERT_EQ(program.ops.size(), 6u);
  EXPECT_EQ(program.ops[4].kind, OpKind::kSend);
  const auto before = [&](size_t op) {
    const auto span = program.dependencies(op);
    return std::vector<uint32_t>(span.begin(), span.end());
  };
  EXPECT_EQ(before(1), (std::vector<uint32_t>{0}));
  EXPECT_EQ(before(3), (std::vector<uint32_t>{1, 2})) << "the last op of each stream";
  EXPECT_EQ(before(4), (std::vector<uint32_t>{3}));
  EXPECT_EQ(before(5), (std::vector<uint32_t>{3}));
}

// The first iteration fills the pipeline. From then on rank 1 is the bottleneck and hides the
// compute of rank 0.
TEST(RepeatTest, IterationsOverlap) {
  const WorkloadBuilder b = Pipeline();
  const Result<Timeline> once = Iterate(b, 1), four = Iterate(b, 4);
  ASSERT_TRUE(once.ok() && four.ok());
  EXPECT_TRUE(once->iterations.empty());
  ASSERT_EQ(four->iterations.size(), 4u);
  EXPECT_EQ(four->iterations[0], once->iteration);
  EXPECT_LT(four->iterations[3], once->iteration - Time::Us(90));
  EXPECT_GT(four->iterations[3], Time::Us(300));
  EXPECT_EQ(four->iterations[2], four->iterations[3]);
  ASSERT_EQ(four->ranks.size(), 2u);
  EXPECT_EQ(four->ranks[0].start.size(), 3u) << "the ops of one iteration";
  EXPECT_EQ(four->ranks[0].start[0], Time()) << "rank 0 begins it first";
  EXPECT_EQ(four->ranks[0].end[0], Time::Us(100));
  EXPECT_EQ(four->ranks[1].end[1], four->iteration);
  EXPECT_GT(four->accounts[1].idle, Time::Us(100)) << "rank 1 was in the previous iteration";
  for (const TimeAccount& account : four->accounts) EXPECT_EQ(Total(account), four->iteration);
}

TEST(RepeatTest, IterationsDrawTheirOwnJitter) {
  const Result<Timeline> three = Iterate(Pipeline(), 3, /*jitter=*/0.1);
  ASSERT_TRUE(three.ok());
  EXPECT_NE(three->iterations[1], three->iterations[2]);
}

TEST(UntilTest, ARunEndsAtItsLimit) {
  const WorkloadBuilder b = Pipeline();
  const Result<Timeline> whole = Until(b, Time::Max()), cut = Until(b, Time::Us(260));
  ASSERT_TRUE(whole.ok() && cut.ok());
  EXPECT_EQ(whole->stopped, Time());
  EXPECT_EQ(cut->stopped, Time::Us(260));
  EXPECT_EQ(cut->iteration, Time::Us(260));
  EXPECT_EQ(cut->ops_ended, 4);
  const RankTimeline &zero = cut->ranks[0], &one = cut->ranks[1];
  EXPECT_EQ(zero.end, whole->ranks[0].end) << "rank 0 had ended";
  EXPECT_EQ(one.end[0], whole->ranks[1].end[0]);
  EXPECT_EQ(one.start[1], whole->ranks[1].start[1]);
  EXPECT_EQ(one.end[1], Time::Us(260)) << "still computing";
  for (const TimeAccount& account : cut->accounts) EXPECT_EQ(Total(account), cut->iteration);
}

TEST(UntilTest, OpsThatHaveNotStartedTakeNoTime) {
  const Result<Timeline> cut = Until(Pipeline(), Time::Us(40));
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->ops_ended, 0);
  const RankTimeline &zero = cut->ranks[0], &one = cut->ranks[1];
  for (const size_t op : {1, 2}) {
    EXPECT_EQ(zero.start[op], Time::Us(40));
    EXPECT_EQ(zero.ready[op], Time::Us(40));
    EXPECT_EQ(zero.end[op], Time::Us(40));
  }
  EXPECT_EQ(one.start[0], Time()) << "the receive had started";
  EXPECT_EQ(one.end[0], Time::Us(40));
  for (const TimeAccount& account : cut->accounts) EXPECT_EQ(Total(account), cut->iteration);
}

TEST(UntilTest, ARunMayEndBeforeItsLimit) {
  const WorkloadBuilder b = Pipeline();
  const Result<Timeline> whole = Until(b, Time::Max()), long_run = Until(b, Time::Us(9000));
  ASSERT_TRUE(long_run.ok());
  EXPECT_EQ(long_run->stopped, Time());
  EXPECT_EQ(long_run->iteration, whole->iteration);
}

TEST(UntilTest, ADeadlockIsNotAStoppedRun) {
  WorkloadBuilder b(SmallCluster(1, 2));
  const int stream = b.Stream("pp");
  const int role = b.Role("pp", Dimension::kPipeline, {{0, 1}});
  b.Transfer(0, stream, role, false, 1, 1 << 20, 0);
  b.Compute(1, stream, Time::Us(10));
  b.PlanAll();
  EXPECT_TRUE(Until(b, Time::Us(5)).ok());
  EXPECT_FALSE(Until(b, Time::Us(50)).ok());
}

// A thousand iterations of five million ops.
TEST(RepeatTest, TooManyOpsAreAnError) {
  Workload workload;
  workload.streams = {"compute"};
  Program& program = workload.programs.emplace_back();
  program.ops.resize(5'000'000);
  program.dependency_begin.resize(program.ops.size() + 1);
  EXPECT_TRUE(CheckRepeat(workload, 800).ok());
  const Status status = CheckRepeat(workload, 1000);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(
      status.error().message(),
      "1000 iterations are too many for programs of 5000000 ops: at most 2^32 can be numbered");
}

// A dependency on the last op of each of 40 streams for each of a million first ops.
TEST(RepeatTest, TooManyDependenciesAreAnError) {
  Workload workload;
  workload.streams.resize(40);
  Program& program = workload.programs.emplace_back();
  program.ops.resize(1'000'000);
  program.dependency_begin.resize(program.ops.size() + 1);
  EXPECT_TRUE(CheckRepeat(workload, 100).ok());
  EXPECT_FALSE(CheckRepeat(workload, 200).ok());
}

}  // namespace
}  // namespace drydock
