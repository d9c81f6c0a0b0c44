// Hosts that launch work: closed forms in the replay of a rank.
#include "exec-engine/host/launch_queue.h"

#include <gtest/gtest.h>

#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

// A launch takes 10 us of the host, a collective 30 us, a graph 20 us. A kernel starts 4 us after
// its launch.
WorkloadBuilder OneRank() {
  WorkloadBuilder b(SmallCluster(1, 2));
  b.Stream("compute");
  b.Stream("other");
  b.workload.launch = {"test",       Time::Us(10), Time::Us(30), Time::Us(25),
                       Time::Us(20), Time::Us(5),  Time::Us(4),  1024};
  return b;
}

// An op whose kernels take these times in us.
uint32_t Kernels(WorkloadBuilder* b, const std::vector<int>& us, int stream = 0) {
  int sum = 0;
  for (const int one : us) sum += one;
  const uint32_t op = b->Compute(0, stream, Time::Us(sum));
  for (const int one : us) {
    KernelTime kernel;
    kernel.time = Time::Us(one);
    b->times.gpus[0].submodules.back().kernels.push_back(kernel);
  }
  return op;
}

Op& OpOf(WorkloadBuilder* b, uint32_t op) { return b->workload.programs[0].ops[op]; }

Time Iteration(const WorkloadBuilder& b) {
  const Result<Timeline> timeline = ReplayAll(b);
  EXPECT_TRUE(timeline.ok());
  return timeline->iteration;
}

TEST(LaunchQueueTest, ShortKernelsAreBoundByLaunches) {
  WorkloadBuilder b = OneRank();
  for (int op = 0; op < 5; ++op) Kernels(&b, std::vector<int>(20, 1));
  EXPECT_EQ(Iteration(b), Time::Us(100 * 10 + 4 + 1)) << "the last of 100, its latency and time";
}

TEST(LaunchQueueTest, LongKernelsHideTheirLaunches) {
  WorkloadBuilder b = OneRank();
  for (int op = 0; op < 5; ++op) Kernels(&b, std::vector<int>(20, 50));
  EXPECT_EQ(Iteration(b), Time::Us(10 + 4 + 100 * 50)) << "all launches but the first";
}

TEST(LaunchQueueTest, GapsBetweenKernelsAreNotLaunched) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, {50, 50});
  SubmoduleTime& times = b.times.gpus[0].submodules.back();
  KernelTime gaps;
  gaps.time = Time::Us(40);
  gaps.gap = true;
  times.kernels.push_back(gaps);
  times.total += gaps.time;
  EXPECT_EQ(Iteration(b), Time::Us(10 + 4 + 140));
  b.workload.launch.kernel = Time::Us(100);
  EXPECT_EQ(Iteration(b), Time::Us(2 * 100 + 4 + 50 + 20))
      << "the last kernel has half of the gaps";
}

TEST(LaunchQueueTest, TheOrderOfKernelsInAnOpMatters) {
  WorkloadBuilder first = OneRank(), last = OneRank();
  Kernels(&first, {100, 1, 1, 1, 1, 1});
  Kernels(&last, {1, 1, 1, 1, 1, 100});
  EXPECT_EQ(Iteration(first), Time::Us(14 + 105)) << "the short kernels are launched by 64 us";
  EXPECT_EQ(Iteration(last), Time::Us(64 + 100));
}

TEST(LaunchQueueTest, HostsThatWaitLoseTheirLead) {
  WorkloadBuilder ahead = OneRank(), waits = OneRank();
  for (WorkloadBuilder* b : {&ahead, &waits}) {
    Kernels(b, {1000});
    for (int op = 0; op < 10; ++op) Kernels(b, std::vector<int>(5, 1));
  }
  OpOf(&waits, 1).host_waits = HostWait::kDeviceSync;
  EXPECT_EQ(Iteration(ahead), Time::Us(14 + 1000 + 50));
  // From the end of the first op: 5 us for the wait, then one launch after another.
  EXPECT_EQ(Iteration(waits), Time::Us(14 + 1000 + 5 + 50 * 10 + 4 + 1));
}

// Another process works beside the rank's host; synchronizing the device does not wait for it.
TEST(LaunchQueueTest, ASynchronizationDoesNotWaitForHostWork) {
  WorkloadBuilder b = OneRank();
  b.Memory(0, 1, OpKind::kHostWork, MemoryTier::kHost, 0);
  b.workload.transfers.back().time = Time::Us(1000);
  b.PlanAll();
  Kernels(&b, {50});
  const uint32_t op = Kernels(&b, {50});
  OpOf(&b, op).host_waits = HostWait::kDeviceSync;
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(timeline->ranks[0].end[op], Time::Us(10 + 4 + 50 + 5 + 10 + 4 + 50));
  EXPECT_EQ(timeline->iteration, Time::Us(4 + 1000));
}

TEST(LaunchQueueTest, AHostThatReadsAValueWaitsForItsDependencies) {
  for (const HostWait wait : {HostWait::kOpReady, HostWait::kDeviceSync}) {
    WorkloadBuilder b = OneRank();
    const uint32_t made = Kernels(&b, {100});
    Kernels(&b, {1000}, /*stream=*/1);
    b.Compute(0, b.Stream("third"), Time::Us(1), {made});
    OpOf(&b, 2).host_waits = wait;
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok());
    const Time before = wait == HostWait::kOpReady ? Time::Us(114) : Time::Us(24 + 1000);
    EXPECT_EQ(timeline->ranks[0].start[2], before + Time::Us(5 + 10 + 4));
  }
}

TEST(LaunchQueueTest, AHostThatReadsAValueWaitsForItsStream) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, {100});
  OpOf(&b, Kernels(&b, {1})).host_waits = HostWait::kOpReady;
  EXPECT_EQ(Iteration(b), Time::Us(114 + 5 + 10 + 4 + 1));
}

TEST(LaunchQueueTest, AFullQueueStopsTheHost) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, {1000});
  for (int op = 0; op < 30; ++op) Kernels(&b, {1});
  EXPECT_EQ(Iteration(b), Time::Us(14 + 1000 + 30));
  b.workload.launch.queue = 10;
  // Nine ops are launched before the first kernel ends, and 21 after it.
  EXPECT_EQ(Iteration(b), Time::Us(14 + 1000 + 21 * 10 + 4 + 1));
}

TEST(LaunchQueueTest, AnOpLargerThanTheQueueIsLaunchedWhenItsStreamIsEmpty) {
  WorkloadBuilder b = OneRank();
  b.workload.launch.queue = 4;
  Kernels(&b, {100});
  Kernels(&b, std::vector<int>(20, 1));
  EXPECT_EQ(Iteration(b), Time::Us(114 + 20 * 10 + 4 + 1));
}

TEST(LaunchQueueTest, EachStreamHasASeparateQueue) {
  WorkloadBuilder b = OneRank();
  b.workload.launch.queue = 1;
  Kernels(&b, {1000});
  Kernels(&b, {1}, /*stream=*/1);
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(timeline->ranks[0].start[1], Time::Us(20 + 4));
}

TEST(LaunchQueueTest, AGraphIsOneLaunch) {
  WorkloadBuilder b = OneRank();
  for (int op = 0; op < 5; ++op) {
    const uint32_t id = Kernels(&b, std::vector<int>(20, 1));
    OpOf(&b, id).graph = op == 0 ? GraphPart::kFirst : GraphPart::kRest;
  }
  EXPECT_EQ(Iteration(b), Time::Us(20 + 4 + 100));
}

TEST(LaunchQueueTest, ALoopWithoutPythonLaunchesFaster) {
  WorkloadBuilder b = OneRank();
  b.workload.launch.loop = Time::Us(3);
  for (int op = 0; op < 5; ++op) {
    const uint32_t id = Kernels(&b, {1});
    if (op > 0) OpOf(&b, id).graph = GraphPart::kLoop;
  }
  EXPECT_EQ(Iteration(b), Time::Us(10 + 4 * 3 + 4 + 1));
}

// The first product of an expert takes 10 us of the host, seven more take 3 us each.
TEST(LaunchQueueTest, EachExpertOfALoopIsLaunched) {
  WorkloadBuilder b = OneRank();
  b.workload.launch.expert = Time::Us(3);
  Kernels(&b, {8});
  b.times.gpus[0].submodules.back().kernels.back().looped = 7;
  EXPECT_EQ(Iteration(b), Time::Us(10 + 7 * 3 + 4 + 1)) << "then the last product, of 1 us";
  b.times.gpus[0].submodules.back().kernels.back().launches = 3;
  EXPECT_EQ(Iteration(b), Time::Us(3 * 10 + 7 * 3 + 4) + Time::Ps(800'000)) << "of 8/10 us";
}

// Forward kernels take 10 us, backward kernels 2 us, also within one op.
TEST(LaunchQueueTest, AutogradLaunchesFasterThanPython) {
  WorkloadBuilder b = OneRank();
  b.workload.launch.backward_kernel = Time::Us(2);
  for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kBackwardWeight}) {
    Kernels(&b, std::vector<int>(20, 1));
    b.workload.submodules.back().pass = pass;
  }
  EXPECT_EQ(Iteration(b), Time::Us(20 * 10 + 40 * 2 + 4 + 1));
  ComputeBlock& first = b.workload.blocks[0];
  first.submodules.push_back(b.workload.blocks[1].submodules[0]);
  b.workload.programs[0].ops.resize(1);
  EXPECT_EQ(Iteration(b), Time::Us(20 * 10 + 20 * 2 + 4 + 1));
}

// The code of a module precedes its first launch, and a graph or a loop runs without it.
TEST(LaunchQueueTest, CodeOfModulesDelaysTheirLaunches) {
  WorkloadBuilder b = OneRank();
  for (int op = 0; op < 3; ++op) Kernels(&b, {1, 1});
  b.workload.submodules[1].host = Time::Us(70);
  EXPECT_EQ(Iteration(b), Time::Us(70 + 6 * 10 + 4 + 1));
  b.workload.topology.host_kinds[0].board.launch_speed = 2;
  EXPECT_EQ(Iteration(b), Time::Us(35 + 6 * 5 + 4 + 1));
  for (const GraphPart part : {GraphPart::kFirst, GraphPart::kLoop}) {
    OpOf(&b, 1).graph = part;
    const Time with_code = Iteration(b);
    b.workload.submodules[1].host = Time();
    EXPECT_EQ(Iteration(b), with_code);
    b.workload.submodules[1].host = Time::Us(70);
  }
}

TEST(LaunchQueueTest, AFasterHostLaunchesFaster) {
  WorkloadBuilder b = OneRank();
  b.workload.topology.host_kinds[0].board.launch_speed = 2;
  Kernels(&b, std::vector<int>(20, 1));
  EXPECT_EQ(Iteration(b), Time::Us(20 * 5 + 4 + 1)) << "the latency belongs to the GPU";
}

TEST(LaunchQueueTest, CollectivesCostTheHostMore) {
  WorkloadBuilder b = OneRank();
  const int role = b.Role("tp", Dimension::kTensor, {{0, 1}});
  for (const int rank : {0, 1}) {
    b.Collective(rank, 1, role, CollectiveType::kAllReduce, 1 << 20);
    b.Collective(rank, 1, role, CollectiveType::kAllReduce, 1 << 20);
  }
  b.PlanAll();
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(timeline->ranks[1].start[0], Time::Us(34));
  EXPECT_EQ(timeline->ranks[1].start[1], std::max(Time::Us(64), timeline->ranks[1].end[0]));
}

TEST(LaunchQueueTest, WithoutCostsNoOpIsLate) {
  WorkloadBuilder b = OneRank();
  b.workload.launch = {};
  Kernels(&b, {10});
  OpOf(&b, Kernels(&b, {7}, /*stream=*/1)).host_waits = HostWait::kDeviceSync;
  EXPECT_EQ(Iteration(b), Time::Us(10)) << "a host without costs has issued all ops";
}

// ---- Accounts ---------------------------------------------------------------------------------

TEST(LaunchQueueTest, LaunchBoundTimeBelongsToTheHost) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, std::vector<int>(20, 1));
  Kernels(&b, {1000});
  OpOf(&b, Kernels(&b, std::vector<int>(5, 1))).host_waits = HostWait::kDeviceSync;
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  const TimeAccount& account = timeline->accounts[0];
  // 14 us until the first kernel, 20 launches of 10 us with 20 us of work, the launch of the next
  // op; then the wait.
  EXPECT_EQ(account.compute, Time::Us(20 + 1000 + 5));
  EXPECT_EQ(account.host, timeline->iteration - account.compute);
  EXPECT_EQ(timeline->iteration, Time::Us(21 * 10 + 4 + 1000 + 5 + 5 * 10 + 4 + 1));
  // The read, the launch after it and its latency, and four kernels that wait 9 us each: otherwise
  // the host would have been 1 ms ahead.
  EXPECT_EQ(account.host_time.of(HostCause::kValues), Time::Us(5 + 10 + 4 + 4 * 9));
  EXPECT_EQ(account.host_time.of(HostCause::kLaunches), account.host - Time::Us(55));
  EXPECT_EQ(account.host_time.of(HostCause::kCode), Time());
}

// Two kernels of 1 us: the GPU waits 70 us for code, 10 + 4 us for the first launch, and 9 us more
// for the second.
TEST(LaunchQueueTest, CodeOfModulesIsToldFromLaunches) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, {1, 1});
  b.workload.submodules[0].host = Time::Us(70);
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  const TimeAccount& account = timeline->accounts[0];
  EXPECT_EQ(account.host_time.of(HostCause::kCode), Time::Us(70));
  EXPECT_EQ(account.host_time.of(HostCause::kLaunches), Time::Us(10 + 4 + 9));
  EXPECT_EQ(account.host, Time::Us(70 + 23));
}

// The gap before an op of another stream reaches back over what the host launched before it.
TEST(LaunchQueueTest, AGapHasTheWorkOfAllOpsLaunchedInIt) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, {5});
  b.Memory(0, 1, OpKind::kLoad, MemoryTier::kHost, 1);
  b.PlanAll();
  Kernels(&b, {5});
  b.workload.submodules[1].host = Time::Us(100);
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  const TimeAccount& account = timeline->accounts[0];
  EXPECT_EQ(timeline->iteration, Time::Us(10 + 10 + 100 + 10 + 4 + 5));
  EXPECT_EQ(account.host_time.of(HostCause::kCode), Time::Us(100));
  EXPECT_EQ(account.host_time.of(HostCause::kLaunches), Time::Us(10 + 4 + 10 + 10 - 5));
}

// A host that is late anyway finds the value: only reading it costs.
TEST(LaunchQueueTest, AValueThatIsThereDelaysByItsReadOnly) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, {1});
  Kernels(&b, std::vector<int>(10, 1), /*stream=*/1);
  OpOf(&b, Kernels(&b, {1})).host_waits = HostWait::kOpReady;
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  // The last of eleven launches at 110, its kernel until 115; 5 us for the read, a launch of 10 us.
  const TimeAccount& account = timeline->accounts[0];
  EXPECT_EQ(timeline->iteration, Time::Us(110 + 5 + 10 + 4 + 1));
  EXPECT_EQ(account.host_time.of(HostCause::kValues), Time());
  b.workload.launch.wait = Time::Us(8);
  EXPECT_EQ(ReplayAll(b)->accounts[0].host_time.of(HostCause::kValues), Time::Us(3))
      << "5 us of the read pass before the last kernel ends";
}

// The host waits 24 us for the end of the first op. Of the 84 us of code and launch that follow, it
// would have done as much before that end.
TEST(LaunchQueueTest, AWaitForAValueCostsAtMostTheLeadOfTheHost) {
  WorkloadBuilder b = OneRank();
  Kernels(&b, {20});
  OpOf(&b, Kernels(&b, {1})).host_waits = HostWait::kOpReady;
  b.workload.submodules[1].host = Time::Us(70);
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  const HostTime& host = timeline->accounts[0].host_time;
  EXPECT_EQ(timeline->iteration, Time::Us(14 + 20 + 5 + 70 + 10 + 4 + 1));
  EXPECT_EQ(host.of(HostCause::kValues), Time::Us(5 + 24));
  EXPECT_EQ(host.of(HostCause::kCode), Time::Us(50)) << "70 of 84 us, of the 60 us left";
  EXPECT_EQ(host.of(HostCause::kLaunches), Time::Us(14 + 10));
}

TEST(LaunchQueueTest, TheDataLoaderIsToldFromOtherWorkOfTheHost) {
  for (const char* name : {"data.samples", "optimizer.step"}) {
    WorkloadBuilder b = OneRank();
    const uint32_t read = b.Memory(0, 1, OpKind::kHostWork, MemoryTier::kHost, 0);
    b.workload.transfers.back() = {name, MemoryTier::kHost, Bytes(), Time::Us(1000)};
    b.PlanAll();
    b.Compute(0, 0, Time::Us(1), {read});
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok());
    const HostTime& host = timeline->accounts[0].host_time;
    const bool data = std::string(name) == "data.samples";
    EXPECT_EQ(host.of(data ? HostCause::kData : HostCause::kWork), Time::Us(1000)) << name;
    EXPECT_EQ(host.of(data ? HostCause::kWork : HostCause::kData), Time()) << name;
  }
}

}  // namespace
}  // namespace drydock
