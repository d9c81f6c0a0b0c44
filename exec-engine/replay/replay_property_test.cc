// Properties of the replay of any program: shortcuts and repetition change no time, and the
// accounts of all ranks are complete.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/network/forgetful_network.h"
#include "exec-engine/networks/analytical_network.h"
#include "exec-engine/networks/fluid/fluid_network.h"
#include "exec-engine/replay/accounting.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using testing::Counter;
using testing::ReplayAll;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int64_t kMega = 1 << 20;

std::vector<int64_t> Picoseconds(const SharedTimes& times) {
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

// Hosts of four GPUs, tensor groups of two or four, data groups across them on a separate stream,
// pipeline messages to a second host: calls share the links of GPUs in all combinations.
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

// Hosts of random speed, queues of random length and waits at random places. Some ops are in
// graphs.
WorkloadBuilder RandomLaunches(uint32_t seed) {
  WorkloadBuilder b = RandomWorkload(seed);
  std::mt19937 random(seed);
  const auto us = [&random](uint32_t most) { return Time::Us(random() % (most + 1)); };
  b.workload.launch = {"random", us(40), us(90), us(60),
                       us(30),   us(20), us(8),  1 + static_cast<int64_t>(random() % 40)};
  for (Program& program : b.workload.programs) {
    for (Op& op : program.ops) {
      op.host_waits = static_cast<HostWait>(std::max<int>(0, static_cast<int>(random() % 12) - 9));
      op.graph = static_cast<GraphPart>(std::max<int>(0, static_cast<int>(random() % 6) - 3));
    }
  }
  return b;
}

TEST(ReplayPropertyTest, CallsPlayedAloneGiveTheSameTimesAsTogether) {
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
  EXPECT_GT(moved, 100) << "calls that began alone and then shared their links";
}

// Messages and calls inside one host. Senders and receivers start long before or after each other,
// and some messages fit into the slots of the receiver, so that senders end early.
WorkloadBuilder MessagesInside(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&random](uint32_t n) { return static_cast<int64_t>(random() % n); };
  Topology topology = SmallCluster(1, 4);
  for (CollectiveCosts::Protocol* p :
       {&topology.gpus[0].collectives.simple, &topology.gpus[0].collectives.p2p_simple}) {
    p->base = Time::Us(5);
    p->step = Time::Ns(700);
    p->hop = Time::Ns(random() % 800);
  }
  if (seed % 2 == 0) topology.host_kinds[0].scale_up.bandwidth = Bandwidth::FromBytesPerSecond(9e9);
  WorkloadBuilder b(topology);
  const int compute = b.Stream("compute"), tensor = b.Stream("tp"), down = b.Stream("down"),
            up = b.Stream("up"), wide = b.Stream("wide");
  const int tp = b.Role("tp", Dimension::kTensor, {{0, 1}, {2, 3}});
  const int pp = b.Role("pp", Dimension::kPipeline, {{0, 2}, {1, 3}});
  const int all = b.Role("all", Dimension::kWorld, {{0, 1, 2, 3}});
  constexpr CollectiveType kTypes[] = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                       CollectiveType::kAllToAllV};
  const bool prefetches = seed % 3 != 0;
  std::vector<std::vector<uint32_t>> last(4);  // by rank: the last op of its last layer
  for (int layer = 0; layer < 16; ++layer) {
    const int64_t bytes = kMega / 8 << pick(4), message = kMega / 16 << pick(7);
    const CollectiveType type = kTypes[pick(3)];
    const bool with_all = pick(3) == 0;
    for (int rank = 0; rank < 4; ++rank) {
      const bool first = rank < 2;  // stage
      std::vector<uint32_t>& before = last[static_cast<size_t>(rank)];
      const uint32_t in =
          b.Transfer(rank, first ? up : down, pp, false, first ? 1 : 0, message, 2 * layer + first,
                     prefetches ? std::vector<uint32_t>() : before);
      if (!first) before = {in};
      const uint32_t work = b.Compute(rank, compute, Time::Us(pick(300)), before);
      const uint32_t sum = b.Collective(rank, tensor, tp, type, bytes, {work});
      if (with_all) b.Collective(rank, wide, all, CollectiveType::kAllToAllV, kMega / 4, {work});
      const uint32_t done = b.Compute(rank, compute, Time::Us(pick(60)), {sum});
      b.Transfer(rank, first ? down : up, pp, true, first ? 0 : 1, message, 2 * layer + !first,
                 {done});
      before = {done};
    }
  }
  b.PlanAll();
  return b;
}

TEST(ReplayPropertyTest, CallsThatRestInTheEngineGiveTheSameTimes) {
  int64_t fewer = 0, together = 0, looked_up = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const WorkloadBuilder b = MessagesInside(seed);
    const Result<Timeline> fast = ReplayAll(b, /*shortcut=*/true),
                           slow = ReplayAll(b, /*shortcut=*/false);
    ASSERT_TRUE(fast.ok()) << fast.error().ToString();
    ASSERT_TRUE(slow.ok()) << slow.error().ToString();
    ExpectSame(*fast, *slow);
    EXPECT_FALSE(HasFailure()) << "seed " << seed;
    looked_up += Counter(*fast, "calls looked up");
    together += Counter(*slow, "calls played together");
    fewer += Counter(*slow, "calls played together") - Counter(*fast, "calls played together");
  }
  RecordProperty("together", std::to_string(together));
  RecordProperty("fewer", std::to_string(fewer));
  RecordProperty("looked_up", std::to_string(looked_up));
  EXPECT_GT(6 * fewer, together);
  EXPECT_GT(looked_up, 1000);
}

// Four GPUs with random arrivals at each of 80 sums of 512 KiB, one slice for each step.
WorkloadBuilder Staggered(uint32_t seed, Time latency) {
  std::mt19937 random(seed);
  Topology topology = SmallCluster(1, 4);
  topology.host_kinds[0].scale_up.latency = latency;
  WorkloadBuilder b(topology);
  const int stream = b.Stream("compute");
  const int tp = b.Role("tp", Dimension::kTensor, {{0, 1, 2, 3}});
  for (int layer = 0; layer < 80; ++layer) {
    const uint32_t span = 1 + random() % 400'000;  // ns; a sum takes about 40 us
    for (int rank = 0; rank < 4; ++rank) {
      b.Compute(rank, stream, Time::Ns(random() % span));
      b.Collective(rank, stream, tp, CollectiveType::kAllReduce, kMega / 2);
    }
  }
  b.PlanAll();
  return b;
}

// Without latency, no member of a ring gets ahead of the last arrival. With latency, slices in
// flight do.
TEST(ReplayPropertyTest, CallsThatDependOnTheLastArrivalGiveTheSameTimes) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    for (const Time latency : {Time(), Time::Us(1)}) {
      const WorkloadBuilder b = Staggered(seed, latency);
      const Result<Timeline> fast = ReplayAll(b, /*shortcut=*/true),
                             slow = ReplayAll(b, /*shortcut=*/false);
      ASSERT_TRUE(fast.ok() && slow.ok());
      ExpectSame(*fast, *slow);
      const int64_t played = Counter(*fast, "calls played alone");
      if (latency == Time()) {
        EXPECT_LE(played, 4);
      } else {
        EXPECT_GT(played, 40);
      }
    }
  }
}

TEST(ReplayPropertyTest, CallsWithLateLaunchesGiveTheSameTimes) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const WorkloadBuilder b = RandomLaunches(seed);
    const Result<Timeline> fast = ReplayAll(b, /*shortcut=*/true),
                           slow = ReplayAll(b, /*shortcut=*/false);
    ASSERT_TRUE(fast.ok()) << fast.error().ToString();
    ASSERT_TRUE(slow.ok());
    ExpectSame(*fast, *slow);
  }
}

// What a replay left out of the network.
struct LeftOut {
  int calls = 0, played_after_all = 0;
};
LeftOut left_out;

// The analytical network, which counts calls that are left out.
class CountingNetwork final : public Network, public ForgetfulNetwork {
 public:
  explicit CountingNetwork(std::unique_ptr<Network> network)
      : network_(std::move(network)), forgetful_(dynamic_cast<ForgetfulNetwork&>(*network_)) {}
  HostPort* port(HostId host) override { return network_->port(host); }
  Status Run(std::span<HostActor* const> actors) override { return network_->Run(actors); }
  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    return network_->Counters();
  }
  bool Forgets() const override { return forgetful_.Forgets(); }
  void Count(const Traffic& traffic) override {
    left_out.calls += traffic.messages > 0;
    forgetful_.Count(traffic);
  }
  Traffic traffic() const override { return forgetful_.traffic(); }
  void CatchUp(Time from, const std::function<void()>& begin) override {
    ++left_out.played_after_all;
    forgetful_.CatchUp(from, begin);
  }

 private:
  std::unique_ptr<Network> network_;
  ForgetfulNetwork& forgetful_;
};

// Three hosts of two GPUs. Layers exchange among all ranks, which arrive together or one of them a
// little late. Sums inside a host, sums across hosts, messages and stores on other streams begin
// meanwhile, at the end, or a little later.
WorkloadBuilder RandomLayers(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(n));
  };
  Topology topology = SmallCluster(3, 2);
  for (CollectiveCosts::Protocol* p :
       {&topology.gpus[0].collectives.simple, &topology.gpus[0].collectives.p2p_simple}) {
    p->base = Time::Us(5);
    p->step = Time::Ns(700);
    p->proxy = Time::Ns(900);
  }
  if (seed % 3 == 0) topology.host_kinds[0].scale_up.kind = ScaleUpKind::kPcie;
  WorkloadBuilder b(topology);
  const int compute = b.Stream("compute"), exchange = b.Stream("exchange"), side = b.Stream("side"),
            tensor = b.Stream("tp");
  const int world = b.Role("world", Dimension::kWorld, {{0, 1, 2, 3, 4, 5}});
  const int data = b.Role("dp", Dimension::kData, {{0, 2, 4}, {1, 3, 5}});
  const int tp = b.Role("tp", Dimension::kTensor, {{0, 1}, {2, 3}, {4, 5}});
  const int pp = b.Role("pp", Dimension::kPipeline, {{0, 2}, {1, 3}, {4, 5}});
  for (int layer = 0; layer < 40; ++layer) {
    const bool sum = pick(2) == 0;
    const int64_t what = seed % 4 == 0 ? 2 + 2 * pick(3) : pick(8), late = pick(12);
    const Time delay = pick(2) == 0 ? Time::Us(pick(300)) : Time::Ns(125'000 + pick(60'000));
    for (int rank = 0; rank < 6; ++rank) {
      // An exchange takes 130 to 210 us.
      uint32_t work = b.Compute(rank, compute, Time::Us(300));
      const uint32_t wait = b.Compute(rank, side, delay, {work});
      if (late == rank) work = b.Compute(rank, exchange, Time::Us(2), {work});
      b.Collective(rank, exchange, world,
                   sum ? CollectiveType::kAllReduce : CollectiveType::kAllGather, kMega, {work});
      if (what == 0 && rank < 4) {
        b.Transfer(rank, tensor, pp, rank < 2, 0, kMega / 4, layer, {wait});
      } else if (what == 3 && rank == 1) {
        b.Memory(rank, tensor, OpKind::kStore, MemoryTier::kHost, kMega, {wait});
      } else if (what == 1 || what == 2) {
        b.Collective(rank, tensor, what == 1 ? tp : data, CollectiveType::kAllReduce, kMega / 4,
                     {wait});
      }
    }
  }
  b.PlanAll();
  return b;
}

TEST(ReplayPropertyTest, CallsThatSpanHostsAreLeftOutAndPlayedAfterAll) {
  const NetworkModel counting = {
      .name = "analytical",
      .make = [](const Topology& topology,
                 const NetworkOptions& options) -> Result<std::unique_ptr<Network>> {
        ASSIGN_OR_RETURN(std::unique_ptr<Network> network,
                         MakeAnalyticalNetwork(topology, options));
        return std::unique_ptr<Network>(std::make_unique<CountingNetwork>(std::move(network)));
      },
      .merging = Merging::kNone};
  left_out = {};
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const WorkloadBuilder b = RandomLayers(seed);
    const Result<Timeline> fast = Replay(b.workload, b.plan, b.times, counting, {});
    const LeftOut before = left_out;
    ReplayOptions whole;
    whole.shortcut = false;
    const Result<Timeline> slow = Replay(b.workload, b.plan, b.times, counting, whole);
    ASSERT_TRUE(fast.ok()) << fast.error().ToString();
    ASSERT_TRUE(slow.ok()) << slow.error().ToString();
    ExpectSame(*fast, *slow);
    if (seed % 4 == 0) EXPECT_EQ(fast->counters, slow->counters) << "all calls span hosts";
    for (const char* counter : {"ops", "communication ops", "messages", "message bytes"}) {
      EXPECT_EQ(Counter(*fast, counter), Counter(*slow, counter)) << counter;
    }
    EXPECT_EQ(left_out.calls, before.calls) << "with the shortcut off, every call is played";
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(left_out.calls, 1200) << "of 2400";
  EXPECT_GT(left_out.played_after_all, 100);
  EXPECT_LT(2 * left_out.played_after_all, left_out.calls);
}

// A network that drops the fields of messages that exist for speed only.
class NetworkWithoutHints final : public Network {
 public:
  explicit NetworkWithoutHints(std::unique_ptr<Network> network, int hosts)
      : network_(std::move(network)) {
    for (HostId host = 0; host < hosts; ++host) ports_.emplace_back(network_->port(host));
  }
  HostPort* port(HostId host) override { return &ports_[static_cast<size_t>(host)]; }
  Status Run(std::span<HostActor* const> actors) override { return network_->Run(actors); }
  std::vector<std::pair<std::string, int64_t>> Counters() const override {
    return network_->Counters();
  }

 private:
  class Port final : public HostPort {
   public:
    explicit Port(HostPort* port) : port_(port) {}
    Time Now() const override { return port_->Now(); }
    void At(Time when, TimerId id) override { port_->At(when, id); }
    void Send(const Message& message) override {
      Message plain = message;
      plain.source_place = plain.destination_place = plain.route = 0;
      port_->Send(plain);
    }

   private:
    HostPort* port_;
  };
  std::unique_ptr<Network> network_;
  std::vector<Port> ports_;
};

TEST(ReplayPropertyTest, HintsInMessagesChangeNothing) {
  const NetworkModel fluid = {.name = "fluid", .make = MakeFluidNetwork};
  const NetworkModel forgetful = {
      "forgetful",
      [](const Topology& topology,
         const NetworkOptions& options) -> Result<std::unique_ptr<Network>> {
        ASSIGN_OR_RETURN(std::unique_ptr<Network> network, MakeFluidNetwork(topology, options));
        return std::unique_ptr<Network>(
            std::make_unique<NetworkWithoutHints>(std::move(network), topology.host_count()));
      }};
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const WorkloadBuilder b = RandomWorkload(seed);
    const Result<Timeline> with = Replay(b.workload, b.plan, b.times, fluid, {}),
                           without = Replay(b.workload, b.plan, b.times, forgetful, {});
    ASSERT_TRUE(with.ok() && without.ok());
    ExpectSame(*with, *without);
    EXPECT_EQ(with->counters, without->counters);
    EXPECT_GT(Counter(*with, "messages"), 500);
  }
}

TEST(ReplayPropertyTest, TwoRunsGiveTheSameTimes) {
  const WorkloadBuilder b = RandomWorkload(5);
  ExpectSame(*ReplayAll(b), *ReplayAll(b));
}

TEST(ReplayPropertyTest, AccountsAddUpToTheIterationOnEveryRank) {
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
  EXPECT_GT(late, 200) << "ranks that waited for their host, of 320 with launches";
}

// Calls that slow down compute, GPUs that are slow for some time, jitter, several iterations,
// stopped runs: the shortcut changes no time, and accounts are complete.
TEST(ReplayPropertyTest, SharedGpusStragglersAndJitterGiveTheSameTimes) {
  Time waited;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    WorkloadBuilder b = seed % 2 == 1 ? RandomLaunches(seed) : RandomWorkload(seed);
    b.workload.topology.gpus[0].sms = 16;
    b.workload.topology.gpus[0].memory_bandwidth = Bandwidth::FromBytesPerSecond(60e9);
    bool tensor = false;
    for (SubmoduleTime& times : b.times.gpus[0].submodules) {
      KernelTime& kernel = times.kernels.emplace_back();
      kernel.time = times.total;
      kernel.bound = (tensor = !tensor) ? KernelBound::kTensorCores : KernelBound::kMemory;
    }
    ReplayOptions options;
    options.sharing = {{1, 1, "a test"}};
    options.variation = {
        {{Time::Us(100), 0, 1, 1.5}, {Time::Us(900), 0, 1, 1}, {Time(), 1, -1, 1.1}},
        {0.1, Time::Us(seed % 3), seed}};
    options.iterations = seed % 4 == 0 ? 2 : 1;
    if (seed % 4 == 1) options.until = Time::Us(1500);
    const Result<Timeline> fast =
        Replay(b.workload, b.plan, b.times, testing::Analytical(), options);
    options.shortcut = false;
    const Result<Timeline> slow =
        Replay(b.workload, b.plan, b.times, testing::Analytical(), options);
    ASSERT_TRUE(fast.ok() && slow.ok()) << seed;
    ExpectSame(*fast, *slow);
    for (const TimeAccount& account : fast->accounts) {
      EXPECT_EQ(Total(account), fast->iteration) << seed;
      for (const Time part :
           {account.compute, account.host, account.straggler, account.bubble, account.idle}) {
        EXPECT_GE(part, Time());
      }
      for (const Time exposed : account.exposed) EXPECT_GE(exposed, Time());
      waited += account.straggler;
    }
  }
  EXPECT_GT(waited, Time::Us(10000)) << "straggler wait of 480 ranks";
}

}  // namespace
}  // namespace drydock
