#include "exec-engine/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "exec-engine/accounting.h"
#include "exec-engine/testing.h"

namespace drydock {
namespace {

using ::testing::HasSubstr;
using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int64_t kMega = 1 << 20;

std::vector<int64_t> Picoseconds(const std::vector<Time>& times) {
  std::vector<int64_t> out;
  for (const Time time : times) out.push_back(time.ps());
  return out;
}

void ExpectSame(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.iteration, b.iteration);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (size_t rank = 0; rank < a.ranks.size(); ++rank) {
    EXPECT_EQ(Picoseconds(a.ranks[rank].start), Picoseconds(b.ranks[rank].start)) << rank;
    EXPECT_EQ(Picoseconds(a.ranks[rank].ready), Picoseconds(b.ranks[rank].ready)) << rank;
    EXPECT_EQ(Picoseconds(a.ranks[rank].end), Picoseconds(b.ranks[rank].end)) << rank;
  }
}

int64_t Counter(const Timeline& timeline, const std::string& name) {
  for (const auto& [key, value] : timeline.counters) {
    if (key == name) return value;
  }
  return -1;
}

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
  EXPECT_EQ(rank.start[3], Time::Us(14)) << "behind op 2 in its stream, though it waits for none";
  EXPECT_EQ(timeline->iteration, Time::Us(15));
}

// Ring all-reduce of S bytes over n members in one channel, each chunk whole: 2 (n - 1) hops of
// chunk / rate + latency, and the last chunk is copied out at the receive rate.
TEST(ReplayTest, RingAllReduceTakesItsClosedForm) {
  for (const int n : {2, 4, 8}) {
    WorkloadBuilder b(SmallCluster(1, n));
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
    const double expected = 2 * (n - 1) * (chunk + 1e-6) + chunk;
    EXPECT_NEAR(timeline->iteration.seconds(), expected, expected * 1e-6) << n;
  }
}

// Eight channels of 10 GB/s a GPU share a link of 40 GB/s: the link decides.
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

// LL carries a flag beside every word: twice the bytes on the link.
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

// A sender may fill the slots of a connection before its receiver has come; then it waits.
TEST(ReplayTest, SenderWaitsForRoomNotForTheReceiver) {
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

TEST(ReplayTest, MessageBetweenHostsTakesItsWay) {
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
  // Copied into the proxy's buffer and out of it at 10 GB/s, with 3 us for the proxy's flags each
  // time; taken up by the NIC in 200 ns; 16 packets of 4096 + 82 B at 200 Gbps, one stored in the
  // switch; two NICs of 500 ns, two cables of 50 ns, a switch of 300 ns.
  const double copy = 65536 / 10e9, wire = 16 * 4178 / 25e9, packet = 4178 / 25e9;
  const double proxies = 2 * 3e-6 + 0.2e-6;
  const double expected = 100e-6 + copy + wire + packet + 1.4e-6 + copy + proxies;
  EXPECT_NEAR(timeline->ranks[1].end[0].seconds(), expected, 1e-9);
  EXPECT_EQ(timeline->ranks[1].ready[0], Time::Us(100)) << "when the sender started";
}

// Two GPUs of a host between which NCCL saw nothing better than the network.
TEST(ReplayTest, MessageInsideAHostTakesItsNics) {
  const double copy = 65536 / 10e9, wire = 16 * 4178 / 25e9, packet = 4178 / 25e9;
  // Through two NICs and the switch, as between hosts; or round in one, without the packets'
  // headers.
  const std::vector<std::pair<int, double>> ways = {{1, copy + wire + packet + 1.4e-6 + copy},
                                                    {0, copy + 65536 / 25e9 + 2 * 500e-9 + copy}};
  for (const auto& [nic, expected] : ways) {
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

// More slices than slots, so that the sender has to be told of room, on a way that never leaves the
// host: as fast as the slowest part of it.
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

// The receiver's clear-to-send crosses the network: nothing leaves before it is there.
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

// Sends and receives find one another by tag, in whatever order either side issues them.
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

TEST(ReplayTest, DeadlockNamesWhoWaitsForWhom) {
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
      "the run cannot finish: 1 of 4 ops ended, 2 wait for ever\n"
      "  rank 0 in op 0 (receive of 1.049 MB over 'pp' (group 2)) waits for data from rank 2\n"
      "  rank 1 in op 0 (all-reduce of 1.049 MB over 'tp' (group 0)) waits for rank 0, which "
      "never started it");
}

// Either host waits for its own send before it issues the receive that the other's send needs.
TEST(ReplayTest, HostsThatWaitForOneAnotherAreToldOf) {
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
  for (Program& program : b.workload.programs) program.ops[1].host_waits = HostWait::kAll;
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

// As many times with one tag that the numbers of calls run out.
TEST(ReplayTest, MoreCallsThanAMessageCanNameAreAnError) {
  WorkloadBuilder b(SmallCluster(1, 2));
  const int stream = b.Stream("compute");
  const int role = b.Role("pair", Dimension::kPipeline, {{0, 1}});
  for (int32_t tag = 0; tag < 80000; ++tag) b.Transfer(0, stream, role, true, 0, kMega, tag);
  for (int i = 0; i < 27000; ++i) b.Transfer(0, stream, role, true, 0, kMega, 0);
  b.PlanAll();
  const Result<Timeline> timeline = ReplayAll(b);
  ASSERT_FALSE(timeline.ok());
  EXPECT_THAT(timeline.error().message(),
              HasSubstr("(role 'pair'): more calls in one group than can be told apart"));
}

// A host of four GPUs, tensor groups of two or four, data groups across them on a stream of their
// own, pipeline messages to a second host: calls meet on the same GPUs' links in every way.
WorkloadBuilder RandomWorkload(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(n));
  };
  Topology topology = SmallCluster(2, 4);
  for (CollectiveCosts::Protocol* p :
       {&topology.gpus[0].collectives.simple, &topology.gpus[0].collectives.p2p_simple}) {
    p->base = Time::Us(5);
    p->step = Time::Ns(700);
    p->proxy = Time::Ns(900);
    p->receive = Bandwidth::FromBytesPerSecond(17e9);
  }
  if (seed % 2 == 0) topology.host_kinds[0].scale_up.bandwidth = Bandwidth::FromBytesPerSecond(9e9);
  if (seed % 5 == 0) {  // the NICs' DMA and the calls inside the host share PCIe
    topology.host_kinds[0].scale_up.kind = ScaleUpKind::kPcie;
    topology.host_kinds[0].scale_up.bandwidth = Bandwidth::FromBytesPerSecond(9e9);
  }
  WorkloadBuilder b(topology);
  const int compute = b.Stream("compute"), tensor = b.Stream("tp"), data = b.Stream("dp"),
            pipe = b.Stream("pp"), side = b.Stream("side");
  const bool wide = seed % 3 == 0;
  const int tp = wide ? b.Role("tp", Dimension::kTensor, {{0, 1, 2, 3}, {4, 5, 6, 7}})
                      : b.Role("tp", Dimension::kTensor, {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  const int dp = b.Role("dp", Dimension::kData, {{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  const int world = b.Role("world", Dimension::kWorld, {{0, 1, 2, 3, 4, 5, 6, 7}});
  const int pp = b.Role("pp", Dimension::kPipeline, {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  for (int layer = 0; layer < 12; ++layer) {
    const int64_t tp_bytes = (1 + pick(3)) << 18, dp_bytes = (1 + pick(4)) << 18;
    const bool gather = pick(2) == 0, with_dp = pick(2) == 0, dp_early = pick(2) == 0;
    const Time dp_delay = Time::Us(pick(100));
    for (int rank = 0; rank < 8; ++rank) {
      std::vector<uint32_t> before;
      if (rank >= 4) before = {b.Transfer(rank, pipe, pp, false, 0, kMega, layer)};
      const uint32_t work = b.Compute(rank, compute, Time::Us(pick(300)), before);
      const uint32_t reduce = b.Collective(
          rank, tensor, tp, gather ? CollectiveType::kAllGather : CollectiveType::kAllReduce,
          tp_bytes, {work});
      const uint32_t after = b.Compute(rank, compute, Time::Us(pick(40)), {reduce});
      if (with_dp) {
        b.Collective(rank, data, dp, CollectiveType::kAllReduce, dp_bytes,
                     {dp_early ? work : b.Compute(rank, side, dp_delay, {work})});
      }
      if (rank < 4) b.Transfer(rank, pipe, pp, true, 0, kMega, layer, {after});
    }
  }
  for (int rank = 0; rank < 8; ++rank) {
    b.Collective(rank, data, world, CollectiveType::kAllReduce, 4 * kMega);
  }
  b.PlanAll();
  return b;
}

// Hosts of any speed, queues of any length, that wait anywhere; some ops are in graphs.
WorkloadBuilder RandomLaunches(uint32_t seed) {
  WorkloadBuilder b = RandomWorkload(seed);
  std::mt19937 random(seed);
  const auto us = [&random](uint32_t most) { return Time::Us(random() % (most + 1)); };
  b.workload.launch = {"random", us(40), us(90), us(60), us(30), us(20), us(8), 1 + random() % 40};
  for (Program& program : b.workload.programs) {
    for (Op& op : program.ops) {
      op.host_waits = static_cast<HostWait>(std::max<int>(0, static_cast<int>(random() % 12) - 9));
      op.graph = static_cast<GraphPart>(std::max<int>(0, static_cast<int>(random() % 6) - 3));
    }
  }
  return b;
}

TEST(ReplayTest, CallsPlayedAloneGiveTheSameTimesAsTogether) {
  int64_t alone = 0, moved = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const WorkloadBuilder b = RandomWorkload(seed);
    const Result<Timeline> fast = ReplayAll(b, /*shortcut=*/true),
                           slow = ReplayAll(b, /*shortcut=*/false);
    ASSERT_TRUE(fast.ok() && slow.ok());
    ExpectSame(*fast, *slow);
    EXPECT_EQ(Counter(*slow, "calls played alone"), 0);
    alone += Counter(*fast, "calls played alone") + Counter(*fast, "calls looked up");
    moved += Counter(*fast, "calls played alone") + Counter(*fast, "calls looked up") +
             Counter(*fast, "calls played together") - Counter(*slow, "calls played together");
  }
  EXPECT_GT(alone, 2000);
  EXPECT_GT(moved, 100) << "calls that were played alone and then had to share their links";
}

TEST(ReplayTest, LateLaunchesDoNotChangeThat) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const WorkloadBuilder b = RandomLaunches(seed);
    const Result<Timeline> fast = ReplayAll(b, /*shortcut=*/true),
                           slow = ReplayAll(b, /*shortcut=*/false);
    ASSERT_TRUE(fast.ok()) << fast.error().ToString();
    ASSERT_TRUE(slow.ok());
    ExpectSame(*fast, *slow);
  }
}

TEST(ReplayTest, TwoRunsGiveTheSame) {
  const WorkloadBuilder b = RandomWorkload(5);
  ExpectSame(*ReplayAll(b), *ReplayAll(b));
}

TEST(ReplayTest, AccountsAddUpToTheIterationOnEveryRank) {
  int64_t late = 0;
  for (uint32_t seed = 0; seed < 80; ++seed) {
    const bool launches = seed % 2 == 1;
    const Result<Timeline> timeline =
        ReplayAll(launches ? RandomLaunches(seed) : RandomWorkload(seed));
    ASSERT_TRUE(timeline.ok());
    for (const TimeAccount& account : timeline->accounts) {
      EXPECT_EQ(Total(account), timeline->iteration);
      EXPECT_GE(account.host, Time());
      late += launches && account.host > Time() ? 1 : 0;
      EXPECT_TRUE(launches || account.host == Time());
      EXPECT_GE(account.bubble, Time());
      EXPECT_GE(account.idle, Time());
      for (const Time exposed : account.exposed) EXPECT_GE(exposed, Time());
    }
  }
  EXPECT_GT(late, 200) << "hosts of the 320 ranks that launch that held up something";
}

}  // namespace
}  // namespace drydock
