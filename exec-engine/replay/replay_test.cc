#include "exec-engine/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::Counter;
using ::testing::HasSubstr;
using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int64_t kMega = 1 << 20;

TEST(ReplayTest, OpsOfAStreamRunInOrderAndStreamsSideBySide) {
  WorkloadBuilder b(SmallCluster(1, 1));
  const int first = b.Stream("compute"), second = b.Stream("other");
  const uint32_t a = b.Compute(0, first, Time::Us(10));
  b.Compute(0, first, Time::Us(5));
  b.Compute(0, second, Time::Us(4), {a});
  b.Compute(0, second, Time::Us(1));
  b.PlanAll();
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  const RankTimeline& rank = timeline->ranks[0];
  EXPECT_EQ(rank.start[1], Time::Us(10));
  EXPECT_EQ(rank.start[2], Time::Us(10));
  EXPECT_EQ(rank.start[3], Time::Us(14)) << "behind op 2 in its stream, without a dependency";
  EXPECT_EQ(timeline->iteration, Time::Us(15));
}

// Ring all-reduce of S bytes over n members in one channel, each chunk in one slice: 2 (n - 1)
// steps of chunk / rate + latency + hop, and the last chunk is copied out at the receive rate.
void ExpectRingAllReduce(int n, Time hop) {
  Topology topology = SmallCluster(1, n);
  topology.gpus[0].collectives.simple.hop = hop;
  WorkloadBuilder b(topology);
  const int stream = b.Stream("compute");
  std::vector<int> all;
  for (int rank = 0; rank < n; ++rank) all.push_back(rank);
  const int role = b.Role("tp", Dimension::kTensor, {all});
  for (int rank = 0; rank < n; ++rank) {
    b.Collective(rank, stream, role, CollectiveType::kAllReduce, 8 * kMega);
  }
  b.PlanAll();
  b.SetPlan(8 * kMega, testing::RingAllReduce({.members = n, .bytes = 8 * kMega}));
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  const double chunk = 8.0 * kMega / n / 10e9;
  const double expected = 2 * (n - 1) * (chunk + 1e-6 + hop.seconds()) + chunk;
  EXPECT_NEAR(timeline->iteration.seconds(), expected, expected * 1e-6) << n;
}

TEST(ReplayTest, RingAllReduceTakesItsClosedForm) {
  for (const int n : {2, 4, 8}) {
    ExpectRingAllReduce(n, Time());
    ExpectRingAllReduce(n, Time::Us(9));
  }
}

// A second slice travels while the first becomes visible: n - 1 steps of two slices each take
// max(two slices, a slice + latency + hop), and what remains of the last step.
TEST(ReplayTest, AHopIsHiddenBehindTheNextSlice) {
  const auto time = [](Time hop) {
    Topology topology = SmallCluster(1, 2);
    topology.gpus[0].collectives.p2p_simple.hop = hop;
    WorkloadBuilder b(topology);
    const int stream = b.Stream("compute");
    const int role = b.Role("pair", Dimension::kWorld, {{0, 1}});
    b.Transfer(0, stream, role, true, 0, 64 * kMega, 0);
    b.Transfer(1, stream, role, false, 0, 64 * kMega, 0);
    b.PlanAll(/*channels=*/1);
    const Result<Timeline> timeline = ReplayAll(b);
    return timeline.ok() ? timeline->iteration : Time();
  };
  EXPECT_EQ(time(Time::Us(5)), time(Time()) + Time::Us(5)) << "of many slices, only one hop shows";
}

// Eight channels of 10 GB/s on each GPU share a link of 40 GB/s, which is the bottleneck.
TEST(ReplayTest, ChannelsShareTheGpusLink) {
  for (const ScaleUpKind kind : {ScaleUpKind::kNvSwitch, ScaleUpKind::kPcie}) {
    Topology topology = SmallCluster(1, 2);
    topology.host_kinds[0].scale_up.kind = kind;
    topology.host_kinds[0].scale_up.bandwidth = Bandwidth::FromBytesPerSecond(40e9);
    WorkloadBuilder b(topology);
    const int stream = b.Stream("compute");
    const int role = b.Role("pair", Dimension::kWorld, {{0, 1}});
    b.Transfer(0, stream, role, /*send=*/true, 0, 64 * kMega, 0);
    b.Transfer(1, stream, role, /*send=*/false, 0, 64 * kMega, 0);
    b.PlanAll(/*channels=*/8);
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok());
    const double link = 64.0 * kMega / 40e9;
    EXPECT_NEAR(timeline->iteration.seconds(), link, link * 0.02);
  }
}

// LL sends a flag with every word: twice the bytes on the link.
TEST(ReplayTest, LowLatencyProtocolDoublesTheBytesOnTheLink) {
  Topology topology = SmallCluster(1, 2);
  topology.host_kinds[0].scale_up.bandwidth = Bandwidth::FromBytesPerSecond(10e9);
  WorkloadBuilder b(topology);
  const int stream = b.Stream("compute");
  const int role = b.Role("pair", Dimension::kWorld, {{0, 1}});
  b.Transfer(0, stream, role, true, 0, 64 * kMega, 0);
  b.Transfer(1, stream, role, false, 0, 64 * kMega, 0);
  b.PlanAll();
  b.SetPlan(64 * kMega,
            testing::SendReceive(
                {.bytes = 64 * kMega, .slice_bytes = 64 << 10, .protocol = Protocol::kLl}));
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  EXPECT_NEAR(timeline->iteration.seconds(), 2 * 64.0 * kMega / 10e9, 1e-4);
}

// A sender may fill the slots of a connection before its receiver starts; then it waits.
TEST(ReplayTest, SenderWaitsForFreeSlotsNotForTheReceiver) {
  for (const int64_t bytes : {int64_t{256} << 10, int64_t{2} << 20}) {
    WorkloadBuilder b(SmallCluster(1, 2));
    const int stream = b.Stream("compute");
    const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
    b.Transfer(0, stream, role, true, 0, bytes, 0);
    const uint32_t late = b.Compute(1, stream, Time::Us(5000));
    b.Transfer(1, stream, role, false, 0, bytes, 0, {late});
    b.PlanAll(/*channels=*/1);  // 8 slots of 64 KiB
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok());
    const bool fits = bytes <= 8 * (64 << 10);
    EXPECT_EQ(timeline->ranks[0].end[0] < Time::Us(5000), fits) << bytes;
  }
}

TEST(ReplayTest, MessageBetweenHostsTakesItsClosedForm) {
  Topology topology = SmallCluster(2, 1);
  topology.host_kinds[0].nics.message = Time::Ns(200);
  topology.gpus[0].collectives.p2p_simple.net_slice = Time::Us(3);
  WorkloadBuilder b(topology);
  const int stream = b.Stream("compute");
  const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
  const uint32_t work = b.Compute(0, stream, Time::Us(100));
  b.Transfer(0, stream, role, true, 0, 64 << 10, 0, {work});
  b.Transfer(1, stream, role, false, 0, 64 << 10, 0);
  b.PlanAll(/*channels=*/1);
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  // A copy into the proxy's buffer and one out of it at 10 GB/s, each with 3 us for the proxy's
  // flags; 200 ns of the NIC for the message; 16 packets of 4096 + 82 B at 200 Gbps, one of them
  // stored in the switch; two NICs of 500 ns, two cables of 50 ns, a switch of 300 ns.
  const double copy = 65536 / 10e9, wire = 16 * 4178 / 25e9, packet = 4178 / 25e9;
  const double proxies = 2 * 3e-6 + 0.2e-6;
  const double expected = 100e-6 + copy + wire + packet + 1.4e-6 + copy + proxies;
  EXPECT_NEAR(timeline->ranks[1].end[0].seconds(), expected, 1e-9);
  EXPECT_EQ(timeline->ranks[1].ready[0], Time::Us(100)) << "when the sender started";
}

// Two GPUs of a host that NCCL connects through the network.
TEST(ReplayTest, MessageInsideAHostTakesItsNics) {
  const double copy = 65536 / 10e9, wire = 16 * 4178 / 25e9, packet = 4178 / 25e9;
  // Through two NICs and the switch, as between hosts, or inside one NIC without packet headers.
  const std::vector<std::pair<int, double>> cases = {{1, copy + wire + packet + 1.4e-6 + copy},
                                                     {0, copy + 65536 / 25e9 + 2 * 500e-9 + copy}};
  for (const auto& [nic, expected] : cases) {
    WorkloadBuilder b(SmallCluster(1, 2));
    const int stream = b.Stream("compute");
    const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
    const uint32_t work = b.Compute(0, stream, Time::Us(100));
    b.Transfer(0, stream, role, true, 0, 64 << 10, 0, {work});
    b.Transfer(1, stream, role, false, 0, 64 << 10, 0);
    b.PlanAll(/*channels=*/1);
    Plan plan = testing::SendReceive({.gpus_per_host = 1, .bytes = 64 << 10});
    plan.connections[0].send_nic = 0;
    plan.connections[0].recv_nic = static_cast<int16_t>(nic);
    b.SetPlan(64 << 10, plan);
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
    EXPECT_NEAR(timeline->ranks[1].end[0].seconds(), 100e-6 + expected, 1e-9) << nic;
    EXPECT_EQ(timeline->ranks[1].ready[0], Time::Us(100)) << "when the sender started";
    EXPECT_EQ(Counter(*timeline, "messages") > 0, nic == 1) << "a loop stays inside the NIC";
  }
}

// A message inside a host with more slices than slots, so the sender needs clear-to-sends: its rate
// is that of its bottleneck.
TEST(ReplayTest, LongMessageInsideAHostIsAsFastAsItsNics) {
  constexpr int64_t kBytes = 64 * kMega;
  for (const int nic : {0, 1}) {
    WorkloadBuilder b(SmallCluster(1, 2));
    const int stream = b.Stream("compute");
    const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
    b.Transfer(0, stream, role, true, 0, kBytes, 0);
    b.Transfer(1, stream, role, false, 0, kBytes, 0);
    b.PlanAll(/*channels=*/4);
    Plan plan = testing::SendReceive(
        {.gpus_per_host = 1, .channels = 4, .bytes = kBytes, .slice_bytes = 128 << 10});
    for (Connection& connection : plan.connections) {
      connection.send_nic = 0;
      connection.recv_nic = static_cast<int16_t>(nic);
    }
    b.SetPlan(kBytes, plan);
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
    const double header = nic == 0 ? 1 : 4178.0 / 4096;
    const double expected = static_cast<double>(kBytes) * header / 25e9;
    EXPECT_NEAR(timeline->ranks[1].end[0].seconds() / expected, 1, 0.03) << nic;
  }
}

// No data leaves before the receiver's clear-to-send has crossed the network.
TEST(ReplayTest, DataWaitsForTheReceiverAcrossHosts) {
  WorkloadBuilder b(SmallCluster(2, 1));
  const int stream = b.Stream("compute");
  const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
  b.Transfer(0, stream, role, true, 0, 64 << 10, 0);
  const uint32_t late = b.Compute(1, stream, Time::Us(100));
  b.Transfer(1, stream, role, false, 0, 64 << 10, 0, {late});
  b.PlanAll(/*channels=*/1);
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  EXPECT_GT(timeline->ranks[1].end[1], Time::Us(105)) << "a round trip and the data";
  EXPECT_LT(timeline->ranks[0].end[0], Time::Us(10)) << "the sender's kernel only fills its buffer";
}

// Sends and receives match by tag, in any order of issue.
TEST(ReplayTest, TagsMatchSendsToReceives) {
  WorkloadBuilder b(SmallCluster(2, 1));
  const int out = b.Stream("send"), out2 = b.Stream("send2"), in = b.Stream("recv"),
            in2 = b.Stream("recv2");
  const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
  b.Transfer(0, out, role, true, 0, kMega, 7);
  const uint32_t late = b.Compute(0, out2, Time::Us(1000));
  b.Transfer(0, out2, role, true, 0, kMega, 3, {late});
  b.Transfer(1, in, role, false, 0, kMega, 3);
  b.Transfer(1, in2, role, false, 0, kMega, 7);
  b.PlanAll();
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_TRUE(timeline.ok());
  EXPECT_GT(timeline->ranks[1].end[0], Time::Us(1000));
  EXPECT_LT(timeline->ranks[1].end[1], Time::Us(1000));
}

TEST(ReplayTest, DeadlockNamesTheRanksThatWait) {
  WorkloadBuilder b(SmallCluster(2, 2));
  const int stream = b.Stream("compute");
  const int tp = b.Role("tp", Dimension::kTensor, {{0, 1}, {2, 3}});
  const int pp = b.Role("pp", Dimension::kPipeline, {{0, 2}, {1, 3}});
  b.Transfer(0, stream, pp, false, 1, kMega, 0);  // from rank 2, which never sends
  b.Collective(0, stream, tp, CollectiveType::kAllReduce, kMega);
  b.Collective(1, stream, tp, CollectiveType::kAllReduce, kMega);
  b.Compute(2, stream, Time::Us(1));
  b.PlanAll();
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_FALSE(timeline.ok());
  EXPECT_EQ(
      timeline.error().message(),
      "the run cannot finish: 1 of 4 ops ended, 2 wait forever\n"
      "  rank 0 in op 0 (receive of 1.049 MB over 'pp' (group 2)) waits for data from rank 2\n"
      "  rank 1 in op 0 (all-reduce of 1.049 MB over 'tp' (group 0)) waits for rank 0, which "
      "never started it\n"
      "  in a chain: rank 1 in op 0 waits for rank 0, which in op 0 waits for rank 2, which "
      "has ended its program");
}

// Two ranks start two collectives in opposite order.
WorkloadBuilder Crossed() {
  WorkloadBuilder b(SmallCluster(2, 1));
  const int stream = b.Stream("compute");
  const int tp = b.Role("tp", Dimension::kTensor, {{0, 1}});
  const int dp = b.Role("dp", Dimension::kData, {{0, 1}});
  for (const int rank : {0, 1}) {
    b.Compute(rank, stream, Time::Us(1));
    b.Collective(rank, stream, rank == 0 ? tp : dp, CollectiveType::kAllReduce, kMega);
    b.Collective(rank, stream, rank == 0 ? dp : tp, CollectiveType::kAllReduce, kMega);
  }
  b.PlanAll();
  return b;
}

TEST(ReplayTest, DeadlockNamesItsCycle) {
  const Result<Timeline> timeline = ReplayAll(Crossed());
  ASSERT_FALSE(timeline.ok());
  EXPECT_EQ(timeline.error().message(),
            "the run cannot finish: 2 of 6 ops ended, 2 wait forever\n"
            "  rank 0 in op 1 (all-reduce of 1.049 MB over 'tp' (group 0)) waits for data from "
            "rank 1\n"
            "  rank 1 in op 1 (all-reduce of 1.049 MB over 'dp' (group 1)) waits for data from "
            "rank 0\n"
            "  in a cycle: rank 0 in op 1 waits for rank 1, which in op 1 waits for rank 0");
}

// Each host waits for its own send before it issues the receive that the other send needs.
TEST(ReplayTest, DeadlockNamesHostsThatWait) {
  WorkloadBuilder b(SmallCluster(1, 2));
  const int out = b.Stream("out"), in = b.Stream("in");
  const int pair = b.Role("pair", Dimension::kPipeline, {{0, 1}});
  for (const int rank : {0, 1}) {
    b.Transfer(rank, out, pair, /*send=*/true, rank, 64 * kMega, 0);
    b.Transfer(rank, in, pair, /*send=*/false, 1 - rank, 64 * kMega, 0);
  }
  b.PlanAll();
  EXPECT_TRUE(ReplayAll(b).ok());
  b.workload.launch = {"test",      Time::Us(1), Time::Us(1), Time::Us(1),
                       Time::Us(1), Time(),      Time(),      8};
  EXPECT_TRUE(ReplayAll(b).ok()) << "two streams, and hosts that do not wait";
  for (Program& program : b.workload.programs) program.ops[1].host_waits = HostWait::kDeviceSync;
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(timeline.error().message(), HasSubstr("the run cannot finish: 0 of 4 ops ended"));
  EXPECT_THAT(timeline.error().message(),
              HasSubstr("rank 1 in op 0 (send of 67.11 MB over 'pair' (group 0)) waits for"));
  EXPECT_THAT(timeline.error().message(), HasSubstr("; its host waits before it issues op 1"));
}

TEST(ReplayTest, AGpuWithoutCostsIsAnError) {
  WorkloadBuilder b(SmallCluster(1, 1));
  b.Compute(0, b.Stream("compute"), Time::Us(1));
  b.workload.topology.gpus[0].has_collective_costs = false;
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(timeline.error().message(), HasSubstr("plain has no 'collectives:' section"));
}

// More messages with one tag than the message numbers can count.
TEST(ReplayTest, MoreCallsThanAMessageCanNameAreAnError) {
  WorkloadBuilder b(SmallCluster(1, 2));
  const int stream = b.Stream("compute");
  const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
  for (int32_t tag = 0; tag < 80000; ++tag) b.Transfer(0, stream, role, true, 0, kMega, tag);
  for (int i = 0; i < 27000; ++i) b.Transfer(0, stream, role, true, 0, kMega, 0);
  b.PlanAll();
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(
      timeline.error().message(),
      HasSubstr("(role 'pair'): the group has too many calls: their numbers exceed 32 bits"));
}

}  // namespace
}  // namespace drydock
