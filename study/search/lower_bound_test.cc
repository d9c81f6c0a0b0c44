#include "study/search/lower_bound.h"

#include <gtest/gtest.h>

#include "study/search/least_times.h"

namespace drydock {
namespace {

constexpr int kPipe = 0;  // the role of the group of all ranks

// Hosts with two GPUs of 100 GB/s and one NIC of 10 GB/s.
Topology Hosts(int hosts) {
  Topology topology;
  topology.gpus.emplace_back();
  HostKind kind;
  kind.gpus = 2;
  kind.scale_up.bandwidth = Bandwidth::FromBytesPerSecond(100e9);
  kind.nics.count = 1;
  kind.nics.rate = Bandwidth::FromBytesPerSecond(10e9);
  topology.host_kinds.push_back(kind);
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  return topology;
}

// Ranks of one group; each runs a program of its own. Submodule i takes i + 1 ms.
class Ranks {
 public:
  explicit Ranks(int hosts) {
    workload_.topology = Hosts(hosts);
    workload_.streams = {"compute", "send", "receive"};
    workload_.roles.push_back({"pp", Dimension::kPipeline});
    const int ranks = workload_.topology.gpu_count();
    workload_.groups.emplace_back();
    workload_.group_of_rank.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) {
      workload_.groups[0].ranks.push_back(rank);
      workload_.group_of_rank[0].push_back(0);
      workload_.class_of_rank.push_back(rank);
      workload_.programs.emplace_back().dependency_begin.push_back(0);
    }
    workload_.class_count = ranks;
    times_.gpus.emplace_back();
    for (int i = 0; i < 10; ++i) {
      SubmoduleTime time;
      time.total = Time::Us(1000 * (i + 1));
      times_.gpus[0].submodules.push_back(time);
      workload_.blocks.push_back({"block", {static_cast<uint32_t>(i)}});
    }
  }

  // Each returns the op's index.
  uint32_t Compute(int rank, int ms, std::vector<uint32_t> after = {}) {
    return Add(rank, OpKind::kCompute, 0, static_cast<uint32_t>(ms - 1), 0, std::move(after));
  }
  uint32_t Send(int from, int to, int64_t bytes, std::vector<uint32_t> after) {
    return Add(from, OpKind::kSend, 1, Message(from, to, bytes), from * 100 + to, std::move(after));
  }
  uint32_t Receive(int from, int to, int64_t bytes) {
    return Add(to, OpKind::kRecv, 2, Message(from, to, bytes), from * 100 + to, {});
  }
  uint32_t AllReduce(int rank, int64_t bytes, std::vector<uint32_t> after) {
    CommCall call;
    call.collective = CollectiveType::kAllReduce;
    call.type = DataType::kUint8;
    call.count = bytes;
    call.group_size = workload_.rank_count();
    workload_.calls.push_back(call);
    return Add(rank, OpKind::kCollective, 1, static_cast<uint32_t>(workload_.calls.size() - 1), 0,
               std::move(after));
  }

  // The ops added next belong to this pass.
  void BeginPass(Phase phase, int microbatch) {
    phase_ = phase;
    microbatch_ = microbatch;
  }

  double Milliseconds(int64_t more = 0) const {
    return LowerBound(workload_, times_, more).seconds() * 1e3;
  }
  KernelTimes& times() { return times_; }

 private:
  uint32_t Message(int from, int to, int64_t bytes) {
    CommCall call;
    call.collective = CollectiveType::kSendRecv;
    call.type = DataType::kUint8;
    call.count = bytes;
    call.root = from;
    call.peer = to;
    workload_.calls.push_back(call);
    return static_cast<uint32_t>(workload_.calls.size() - 1);
  }

  uint32_t Add(int rank, OpKind kind, uint8_t stream, uint32_t work, int32_t tag,
               std::vector<uint32_t> after) {
    Program& program = workload_.programs[static_cast<size_t>(rank)];
    Op op;
    op.kind = kind;
    op.stream = stream;
    op.role = kPipe;
    op.work = work;
    op.tag = tag;
    op.phase = phase_;
    op.microbatch = microbatch_;
    program.ops.push_back(op);
    program.dependency.insert(program.dependency.end(), after.begin(), after.end());
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
    return static_cast<uint32_t>(program.ops.size() - 1);
  }

  Workload workload_;
  KernelTimes times_;
  Phase phase_ = Phase::kForward;
  int microbatch_ = -1;
};

TEST(LowerBound, AddsUpAStream) {
  Ranks run(1);
  run.Compute(0, 3);
  run.Compute(0, 4);
  run.Compute(1, 5);
  EXPECT_DOUBLE_EQ(run.Milliseconds(), 7);
}

TEST(LowerBound, LeavesGapsBetweenKernelsOut) {
  Ranks run(1);
  run.Compute(0, 3);
  KernelTime gap;
  gap.gap = true;
  gap.time = Time::Us(1000);
  run.times().gpus[0].submodules[2].kernels.push_back(gap);
  EXPECT_DOUBLE_EQ(run.Milliseconds(), 2);
}

TEST(LowerBound, FollowsMessagesThroughThePipeline) {
  // Rank 0 of host 0 and rank 2 of host 1: forward, forward, backward, backward. Each message of
  // 10 MB takes 1 ms over the NIC.
  Ranks run(2);
  const uint32_t forward = run.Compute(0, 2);
  run.Send(0, 2, 10'000'000, {forward});
  const uint32_t arrived = run.Receive(0, 2, 10'000'000);
  const uint32_t middle = run.Compute(2, 5, {arrived});
  run.Send(2, 0, 10'000'000, {middle});
  const uint32_t back = run.Receive(2, 0, 10'000'000);
  run.Compute(0, 4, {back});
  EXPECT_DOUBLE_EQ(run.Milliseconds(), 2 + 1 + 5 + 1 + 4);
}

TEST(LowerBound, AMessageThatWasSentEarlyIsNotWaitedFor) {
  Ranks run(1);
  run.Send(0, 1, 100'000'000, {run.Compute(0, 1)});  // 1 ms over NVLink
  const uint32_t arrived = run.Receive(0, 1, 100'000'000);
  const uint32_t busy = run.Compute(1, 9);
  run.Compute(1, 1, {arrived, busy});
  EXPECT_DOUBLE_EQ(run.Milliseconds(), 10);
}

TEST(LowerBound, ReceivesMayBePostedBeforeTheOwnSend) {
  // Both ranks post their receive first: no op waits for a later one.
  Ranks run(1);
  for (const int rank : {0, 1}) {
    const uint32_t arrived = run.Receive(1 - rank, rank, 100'000'000);
    const uint32_t own = run.Compute(rank, 2);
    run.Send(rank, 1 - rank, 100'000'000, {own});
    run.Compute(rank, 1, {arrived});
  }
  EXPECT_DOUBLE_EQ(run.Milliseconds(), 4);
}

TEST(LowerBound, CountsWhatACollectiveHasToTakeIn) {
  // 80 MB among 4 members on 2 hosts: all of it has to enter a host, at 10 GB/s.
  Ranks run(2);
  run.AllReduce(0, 80'000'000, {run.Compute(0, 1)});
  EXPECT_DOUBLE_EQ(run.Milliseconds(), 9);
}

// Two stages on two hosts, one forward and one backward (1F1B). The second stage is the slower one.
Ranks Pipeline(int microbatches) {
  Ranks run(2);
  const auto forward = [&](int rank, int microbatch) {
    std::vector<uint32_t> after;
    if (rank == 2) after = {run.Receive(0, 2, 1'000'000)};
    run.BeginPass(Phase::kForward, microbatch);
    const uint32_t done = run.Compute(rank, rank == 0 ? 2 : 3, after);
    if (rank == 0) run.Send(0, 2, 1'000'000, {done});
  };
  const auto backward = [&](int rank, int microbatch) {
    std::vector<uint32_t> after;
    if (rank == 0) after = {run.Receive(2, 0, 1'000'000)};
    run.BeginPass(Phase::kBackward, microbatch);
    const uint32_t done = run.Compute(rank, rank == 0 ? 4 : 6, after);
    if (rank == 2) run.Send(2, 0, 1'000'000, {done});
  };
  forward(0, 0);
  for (int i = 0; i < microbatches; ++i) {
    if (i + 1 < microbatches) forward(0, i + 1);
    backward(0, i);
    forward(2, i);
    backward(2, i);
  }
  return run;
}

TEST(LowerBound, MoreMicrobatchesAddTheirPasses) {
  for (const int microbatches : {3, 4, 6}) {
    EXPECT_DOUBLE_EQ(Pipeline(microbatches).Milliseconds(10),
                     Pipeline(microbatches + 10).Milliseconds());
  }
}

double LeastMilliseconds(CollectiveType type, const std::vector<int>& ranks) {
  const Topology topology = Hosts(3);
  CommCall call;
  call.collective = type;
  call.type = DataType::kUint8;
  call.count = 120'000'000;
  return LeastTime(call, ranks, topology, Placement(topology)).seconds() * 1e3;
}

TEST(LeastTime, DependsOnWhoTakesWhatFromWhom) {
  // Two GPUs of a host: half of the bytes, at 100 GB/s.
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kAllGather, {0, 1}), 0.6);
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kAllReduce, {0, 1}), 0.6);
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kReduceScatter, {0, 1}), 0.6);
  // Six members on three hosts: a host takes in the parts of four.
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kAllGather, {0, 1, 2, 3, 4, 5}), 8);
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kAllReduce, {0, 1, 2, 3, 4, 5}), 12);
  // Its two members keep a third of the sum; every element of it depends on the others.
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kReduceScatter, {0, 1, 2, 3, 4, 5}), 4);
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kAllToAll, {0, 1, 2, 3, 4, 5}), 16);
  EXPECT_DOUBLE_EQ(LeastMilliseconds(CollectiveType::kAllGather, {0}), 0);
}

}  // namespace
}  // namespace drydock
