// Loads, stores and host work take their closed forms and share links and memories.
#include "exec-engine/replay/memory_traffic.h"

#include <gtest/gtest.h>

#include <random>

#include "exec-engine/replay/accounting.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int64_t kBytes = 1'000'000'000;
constexpr auto kHost = MemoryTier::kHost;

Bandwidth Gigabytes(double rate) { return Bandwidth::FromBytesPerSecond(rate * 1e9); }

// PCIe of 40 GB/s, of which a copy reaches 20 GB/s, with `gpus_per_switch` GPUs behind one uplink.
Topology PcieHost(int gpus, int gpus_per_switch, int hosts = 1) {
  Topology topology = SmallCluster(hosts, gpus);
  topology.gpus[0].pcie = Gigabytes(40);
  topology.host_kinds[0].board.gpus_per_switch = gpus_per_switch;
  topology.host_kinds[0].board.sockets = 1;
  return topology;
}

Timeline Play(WorkloadBuilder* b) {
  b->PlanAll();
  Result<Timeline> timeline = ReplayAll(*b);
  EXPECT_TRUE(timeline.ok()) << timeline.error().ToString();
  return *std::move(timeline);
}

// The end of each rank's only op of `kind` in seconds. All start together.
std::vector<double> Ends(WorkloadBuilder* b, int ranks, OpKind kind, MemoryTier tier) {
  const int stream = b->Stream("memory");
  for (int rank = 0; rank < ranks; ++rank) b->Memory(rank, stream, kind, tier, kBytes);
  const Timeline timeline = Play(b);
  std::vector<double> ends;
  for (int rank = 0; rank < ranks; ++rank) {
    ends.push_back(timeline.ranks[static_cast<size_t>(rank)].end[0].seconds());
  }
  return ends;
}

// Pieces of 1 MiB take turns, so the first rank is ahead by one piece.
constexpr double kTurn = 1.1e-4;

TEST(MemoryTrafficTest, ACopyTakesItsLatencyAndItsBytesAtItsShareOfPcie) {
  for (const OpKind kind : {OpKind::kLoad, OpKind::kStore}) {
    WorkloadBuilder b(PcieHost(1, 1));
    EXPECT_NEAR(Ends(&b, 1, kind, kHost)[0], 2e-6 + 1.0 / 20, 1e-8);
  }
}

TEST(MemoryTrafficTest, CopiesBehindOneSwitchShareItsUplink) {
  WorkloadBuilder own(PcieHost(2, 1)), shared(PcieHost(2, 2));
  for (const double end : Ends(&own, 2, OpKind::kLoad, kHost)) EXPECT_NEAR(end, 1.0 / 20, kTurn);
  for (const double end : Ends(&shared, 2, OpKind::kLoad, kHost)) {
    EXPECT_NEAR(end, 2.0 / 20, kTurn);
  }
}

TEST(MemoryTrafficTest, DirectionsOfPcieAreIndependent) {
  WorkloadBuilder b(PcieHost(2, 2));
  const int stream = b.Stream("memory");
  b.Memory(0, stream, OpKind::kLoad, kHost, kBytes);
  b.Memory(1, stream, OpKind::kStore, kHost, kBytes);
  const Timeline timeline = Play(&b);
  EXPECT_NEAR(timeline.iteration.seconds(), 1.0 / 20, kTurn);
}

TEST(MemoryTrafficTest, EightCopiesShareTheMemoryOfTheirSocket) {
  Topology topology = PcieHost(8, 1);
  topology.host_kinds[0].board.sockets = 2;
  WorkloadBuilder b(topology);
  b.host_memory.bandwidth = Gigabytes(40);
  for (const double end : Ends(&b, 8, OpKind::kLoad, kHost)) EXPECT_NEAR(end, 4.0 / 40, 4 * kTurn);
}

// A copy to a memory that host work keeps busy gets its equal share of the memory.
TEST(MemoryTrafficTest, HostWorkSharesTheMemoryWithCopies) {
  WorkloadBuilder work(PcieHost(2, 1));
  for (const double end : Ends(&work, 2, OpKind::kHostWork, kHost)) {
    EXPECT_NEAR(end, 2 * 1.0 / (100 * 0.5), kTurn);
  }
  WorkloadBuilder b(PcieHost(2, 1));
  b.host_memory.bandwidth = Gigabytes(40);
  const int stream = b.Stream("memory");
  b.Memory(0, stream, OpKind::kLoad, kHost, kBytes);
  b.Memory(1, stream, OpKind::kHostWork, kHost, 4 * kBytes);
  // In turns: a piece of host work takes 1/20, a piece of the copy 1/40 during its 1/20 on PCIe.
  EXPECT_NEAR(Play(&b).ranks[0].end[0].seconds(), 1.0 / 20 + 1.0 / 40, 2 * kTurn);
}

// Host work of a stated time takes no memory from others, and follows the earlier work of its
// stream.
TEST(MemoryTrafficTest, HostWorkOfAStatedTimeSharesNothing) {
  WorkloadBuilder b(PcieHost(2, 1));
  const int stream = b.Stream("memory");
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 2; ++i) {
      const uint32_t op = b.Memory(rank, stream, OpKind::kHostWork, kHost, 0);
      const uint32_t work = b.workload.programs[static_cast<size_t>(rank)].ops[op].work;
      b.workload.transfers[work].time = Time::Us(7000);
    }
  }
  const Timeline timeline = Play(&b);
  for (const RankTimeline& rank : timeline.ranks) {
    EXPECT_EQ(rank.end[0], Time::Us(7000));
    EXPECT_EQ(rank.end[1], Time::Us(14000));
  }
}

TEST(MemoryTrafficTest, NvlinkC2cCarriesCopiesOfGrace) {
  Topology topology = PcieHost(2, 1);
  topology.host_kinds[0].board.c2c = Gigabytes(100);
  WorkloadBuilder b(topology);
  b.host_memory.bandwidth = Gigabytes(400);
  for (const double end : Ends(&b, 2, OpKind::kLoad, kHost)) EXPECT_NEAR(end, 1.0 / 50, kTurn);
}

TEST(MemoryTrafficTest, GpusDoNotShareTheirOwnMemory) {
  WorkloadBuilder b(PcieHost(2, 2));  // 2 TB/s each
  for (const double end : Ends(&b, 2, OpKind::kStore, MemoryTier::kGpu)) {
    EXPECT_NEAR(end, 1.0 / 2000, 1e-8);
  }
}

TEST(MemoryTrafficTest, RemoteMemoryIsSharedAsStated) {
  const auto last = [](RemoteSharing sharing) {
    WorkloadBuilder b(PcieHost(2, 1, 2));
    b.host_memory.remote = {sharing, Gigabytes(10), Time::Us(7)};
    return Ends(&b, 4, OpKind::kLoad, MemoryTier::kRemote);
  };
  for (const double end : last(RemoteSharing::kPerGpu)) EXPECT_NEAR(end, 7e-6 + 1.0 / 10, 1e-8);
  for (const double end : last(RemoteSharing::kPerHost)) EXPECT_NEAR(end, 2.0 / 10, 2 * kTurn);
  for (const double end : last(RemoteSharing::kPool)) EXPECT_NEAR(end, 4.0 / 10, 4 * kTurn);
}

// The NIC reads messages over the PCIe link that a store uses.
TEST(MemoryTrafficTest, MessagesAndCopiesShareAGpusLink) {
  const auto seconds = [](bool sends, bool stores) {
    Topology topology = PcieHost(1, 1, 2);
    topology.gpus[0].pcie = Gigabytes(24);  // as fast as the NIC, 200 Gb/s
    for (auto* costs : {&topology.gpus[0].collectives.p2p_simple}) costs->send = Gigabytes(100);
    WorkloadBuilder b(topology);
    b.host_memory.copy_efficiency = 1;
    const int memory = b.Stream("memory"), pipe = b.Stream("pp");
    const int role = b.Role("pp", Dimension::kPipeline, {{0, 1}});
    if (stores) b.Memory(0, memory, OpKind::kStore, kHost, kBytes / 10);
    for (int rank = 0; sends && rank < 2; ++rank) {
      b.Transfer(rank, pipe, role, rank == 0, 0, kBytes / 10, 0);
    }
    return Play(&b).ranks[0].end[0].seconds();
  };
  const double alone = seconds(false, true), shared = seconds(true, true);
  EXPECT_NEAR(alone, 0.1 / 24, 1e-5);
  EXPECT_GT(shared, 1.5 * alone);
  EXPECT_LT(shared, 2.05 * alone);
}

// PCIe between the GPUs, so calls inside a host, messages and copies share it.
WorkloadBuilder RandomTraffic(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](uint32_t n) { return static_cast<int64_t>(random() % n); };
  Topology topology = PcieHost(4, 1 + static_cast<int>(seed % 2), 2);
  topology.host_kinds[0].scale_up.kind = ScaleUpKind::kPcie;
  topology.host_kinds[0].scale_up.bandwidth = Gigabytes(9);
  WorkloadBuilder b(topology);
  b.host_memory.remote = {RemoteSharing::kPerHost, Gigabytes(5), Time::Us(1)};
  const int compute = b.Stream("compute"), tensor = b.Stream("tp"), data = b.Stream("dp"),
            load = b.Stream("load"), store = b.Stream("store"), host = b.Stream("host");
  const int tp = b.Role("tp", Dimension::kTensor, {{0, 1, 2, 3}, {4, 5, 6, 7}});
  const int dp = b.Role("dp", Dimension::kData, {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  for (int layer = 0; layer < 6; ++layer) {
    const int64_t bytes = (1 + pick(3)) << 18;
    for (int rank = 0; rank < 8; ++rank) {
      const MemoryTier tier = static_cast<MemoryTier>(pick(kMemoryTierCount));
      const uint32_t loaded = b.Memory(rank, load, OpKind::kLoad, tier, pick(3 << 20));
      const uint32_t work = b.Compute(rank, compute, Time::Us(pick(200)), {loaded});
      const uint32_t sum =
          b.Collective(rank, tensor, tp, CollectiveType::kAllReduce, bytes, {work});
      b.Compute(rank, compute, Time::Us(pick(40)), {sum});
      const uint32_t gradient =
          b.Collective(rank, data, dp, CollectiveType::kAllReduce, bytes, {work});
      const uint32_t stored =
          b.Memory(rank, store, OpKind::kStore, kHost, pick(4 << 20), {gradient});
      const uint32_t updated =
          b.Memory(rank, host, OpKind::kHostWork, kHost, pick(2 << 20), {stored});
      if (pick(2) == 0) b.Compute(rank, compute, Time::Us(pick(50)), {updated});
    }
  }
  b.PlanAll();
  return b;
}

TEST(MemoryTrafficTest, CallsPlayedAloneGiveTheSameTimesAsTogether) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const WorkloadBuilder b = RandomTraffic(seed);
    const Result<Timeline> fast = ReplayAll(b, true), slow = ReplayAll(b, false);
    ASSERT_TRUE(fast.ok() && slow.ok());
    for (size_t rank = 0; rank < fast->ranks.size(); ++rank) {
      EXPECT_EQ(fast->ranks[rank].start, slow->ranks[rank].start) << seed;
      EXPECT_EQ(fast->ranks[rank].ready, slow->ranks[rank].ready) << seed;
      EXPECT_EQ(fast->ranks[rank].end, slow->ranks[rank].end) << seed;
    }
  }
}

TEST(MemoryTrafficTest, AccountsAddUpToTheIterationOnEveryRank) {
  int memory = 0, host = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    WorkloadBuilder b = RandomTraffic(seed);
    if (seed % 2 == 1) {
      b.workload.launch = {"some",       Time::Us(9), Time::Us(30), Time::Us(20),
                           Time::Us(10), Time::Us(8), Time::Us(4),  40};
    }
    const Result<Timeline> timeline = ReplayAll(b);
    ASSERT_TRUE(timeline.ok());
    for (const TimeAccount& account : timeline->accounts) {
      EXPECT_EQ(Total(account), timeline->iteration);
      EXPECT_GE(account.memory, Time());
      EXPECT_GE(account.host, Time());
      memory += account.memory > Time() ? 1 : 0;
      host += account.host > Time() ? 1 : 0;
    }
  }
  EXPECT_GT(memory, 300) << "of 480 ranks";
  EXPECT_GT(host, 300);
}

}  // namespace
}  // namespace drydock
