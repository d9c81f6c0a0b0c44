#include "exec-engine/transfer/gpu_sharing.h"

#include <gtest/gtest.h>

#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::SmallCluster;
using testing::WorkloadBuilder;

// 10 SMs, memory of 100 GB/s.
GpuSpec Gpu() {
  GpuSpec gpu;
  gpu.sms = 10;
  gpu.memory_bandwidth = Bandwidth::FromBytesPerSecond(100e9);
  return gpu;
}

KernelLoad Load(double sms, double gigabytes_per_second = 0) {
  return {sms, Bandwidth::FromBytesPerSecond(gigabytes_per_second * 1e9)};
}

GpuSharing::Work Work(uint32_t op, int us, double tensor, double memory) {
  return {op, Time::Us(us), tensor, memory, Time()};
}

TEST(GpuSharingTest, AloneAnOpTakesItsTime) {
  GpuSharing gpu(Gpu());
  const GpuSharing::End end = gpu.Begin(Work(3, 80, 0.5, 0.5), Time::Us(5));
  EXPECT_EQ(end.op, 3u);
  EXPECT_EQ(end.end, Time::Us(85));
  EXPECT_EQ(end.late, Time());
}

TEST(GpuSharingTest, TensorWorkHasTheRemainingSms) {
  GpuSharing gpu(Gpu());
  EXPECT_TRUE(gpu.Add(Load(2), Time()).empty());
  EXPECT_EQ(gpu.Begin(Work(0, 80, 1, 0), Time()).end, Time::Us(100));
  EXPECT_EQ(gpu.Begin(Work(1, 80, 0, 1), Time()).end, Time::Us(80)) << "memory-bound";
  EXPECT_EQ(gpu.Begin(Work(2, 80, 0.5, 0.5), Time()).end, Time::Us(90)) << "half and half";
}

TEST(GpuSharingTest, MemoryWorkHasTheRemainingBandwidth) {
  GpuSharing gpu(Gpu());
  gpu.Add(Load(0, 20), Time());
  EXPECT_EQ(gpu.Begin(Work(0, 80, 0, 1), Time()).end, Time::Us(100));
  EXPECT_EQ(gpu.Begin(Work(1, 80, 1, 0), Time()).end, Time::Us(80)) << "tensor cores";
  EXPECT_EQ(gpu.Begin(Work(2, 80, 0, 0), Time()).end, Time::Us(80)) << "launches";
}

// Calls that could take all of the bandwidth leave an even share.
TEST(GpuSharingTest, MemoryIsSharedFairly) {
  GpuSharing gpu(Gpu());
  gpu.Begin(Work(0, 80, 0, 1), Time());
  EXPECT_EQ(gpu.Add(Load(0, 95), Time()).at(0).end, Time::Us(160));
  EXPECT_EQ(gpu.Add(Load(0, 95), Time()).at(0).end, Time::Us(240));
}

TEST(GpuSharingTest, AChangedPaceHoldsFromItsChangeOn) {
  GpuSharing gpu(Gpu());
  gpu.Begin(Work(0, 100, 1, 0), Time());
  // 40 us have passed; the other 60 us run at half the pace.
  EXPECT_EQ(gpu.Add(Load(5), Time::Us(40)).at(0).end, Time::Us(40 + 120));
  // 20 us more have passed by 80 us; 40 us run at the full pace.
  EXPECT_EQ(gpu.Remove(Load(5), Time::Us(80)).at(0).end, Time::Us(80 + 40));
  gpu.Finish(0);
  EXPECT_TRUE(gpu.Add(Load(5), Time::Us(200)).empty());
}

TEST(GpuSharingTest, OpsThatDoNotSlowDownAreNotReported) {
  GpuSharing gpu(Gpu());
  gpu.Begin(Work(0, 100, 1, 0), Time());
  gpu.Begin(Work(1, 100, 0, 1), Time());
  const std::vector<GpuSharing::End>& ends = gpu.Add(Load(5), Time::Us(40));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].op, 0u);
}

TEST(GpuSharingTest, ASlowGpuComputesSlowly) {
  GpuSharing gpu(Gpu());
  gpu.SlowDown(1.5, Time());
  EXPECT_EQ(gpu.Begin(Work(0, 100, 0.2, 0.2), Time()).end, Time::Us(150));
  // 40 of 100 us have passed by then.
  EXPECT_EQ(gpu.SlowDown(1, Time::Us(60)).at(0).end, Time::Us(120));
}

TEST(GpuSharingTest, ComputeAlwaysKeepsAShare) {
  GpuSharing gpu(Gpu());
  gpu.Add(Load(64), Time());
  EXPECT_EQ(gpu.Begin(Work(0, 1, 1, 0), Time()).end, Time::Us(10));
}

TEST(GpuSharingTest, LateLaunchesDoNotSlowDown) {
  GpuSharing gpu(Gpu());
  const GpuSharing::End late = gpu.Begin({0, Time::Us(80), 1.0, 0.0, Time::Us(100)}, Time());
  EXPECT_EQ(late.end, Time::Us(100));
  EXPECT_EQ(late.late, Time::Us(20));
  const GpuSharing::End slow = gpu.Add(Load(5), Time()).at(0);
  EXPECT_EQ(slow.end, Time::Us(160)) << "the last launch";
  EXPECT_EQ(slow.late, Time());
}

// Two ranks, each with 1 ms of compute with this bound in parallel with an all-reduce of 1 MiB over
// two channels.
WorkloadBuilder Beside(KernelBound bound) {
  WorkloadBuilder b(SmallCluster(1, 2));
  b.workload.topology.gpus[0].sms = 10;
  const int compute = b.Stream("compute"), tp = b.Stream("tp");
  const int role = b.Role("tp", Dimension::kTensor, {{0, 1}});
  for (const int rank : {0, 1}) {
    b.Compute(rank, compute, Time::Us(1000));
    KernelTime kernel;
    kernel.time = Time::Us(1000);
    kernel.bound = bound;
    b.times.gpus[0].submodules.back().kernels = {kernel};
    b.Collective(rank, tp, role, CollectiveType::kAllReduce, 1 << 20);
  }
  b.PlanAll(/*channels=*/2);
  return b;
}

Result<Timeline> ReplayWith(const WorkloadBuilder& b, double channel_sms, double staged_traffic) {
  ReplayOptions options;
  options.sharing = {{channel_sms, staged_traffic, "a test"}};
  return Replay(b.workload, b.plan, b.times, testing::Analytical(), options);
}

TEST(GpuSharingTest, ACallSlowsMatrixProductsWhileItRuns) {
  const WorkloadBuilder b = Beside(KernelBound::kTensorCores);
  const Result<Timeline> alone = ReplayWith(b, 0, 0), beside = ReplayWith(b, 1, 0);
  ASSERT_TRUE(alone.ok() && beside.ok());
  const RankTimeline& rank = beside->ranks[0];
  EXPECT_EQ(alone->ranks[0].end[0], Time::Us(1000));
  EXPECT_EQ(rank.end[1], alone->ranks[0].end[1]) << "the call does not slow down";
  // While the call runs, 10 us of the work take 12.5 us.
  const double lost = rank.end[1].seconds() * 0.2;
  EXPECT_NEAR(rank.end[0].seconds(), 1000e-6 + lost, 1e-11);
  EXPECT_GT(lost, 10e-6);
}

// Each of two channels runs, at 10 GB/s, three steps of a chunk: send; receive, add and send;
// receive. Two steps read the input, two write results, two find their data in NCCL's buffer.
TEST(GpuSharingTest, ACallSlowsMemoryBoundWorkWhileItRuns) {
  WorkloadBuilder b = Beside(KernelBound::kMemory);
  GpuSpec& gpu = b.workload.topology.gpus[0];
  gpu.memory_bandwidth = Bandwidth::FromBytesPerSecond(200e9);
  for (const double staged : {0.0, 1.0}) {
    const Result<Timeline> timeline = ReplayWith(b, 1, staged);
    ASSERT_TRUE(timeline.ok());
    const RankTimeline& rank = timeline->ranks[0];
    EXPECT_GT(rank.end[0], Time::Us(1001));
    EXPECT_LT(rank.end[0], Time::Us(1100));
    const double lost = rank.end[0].seconds() - 1000e-6;
    const double share =
        lost / rank.end[1].seconds();  // of the memory bandwidth that the call takes
    const double traffic = (2 + 2 + 2 * staged) / 3;
    EXPECT_NEAR(share, traffic * 20e9 / 200e9, 0.002) << staged;
  }
}

}  // namespace
}  // namespace drydock
