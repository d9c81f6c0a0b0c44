// Which groups share entries, and the shortcut "only the last arrival matters" (known_times.h) with
// arrivals that are chosen to refute it.
#include "exec-engine/index/known_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "exec-engine/index/replay_index.h"
#include "exec-engine/replay/replay.h"
#include "exec-engine/testing/replay_testing.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {
namespace {

using testing::Counter;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int kCalls = 120;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return values.begin()[Below(static_cast<int64_t>(values.size()))];
  }
  // From 1 to `max`, uniform on a logarithmic scale.
  int64_t OfAnySize(int64_t max) {
    const double part = static_cast<double>(Below(1 << 20)) / (1 << 20);
    return static_cast<int64_t>(std::exp(part * std::log(static_cast<double>(max))));
  }

 private:
  std::mt19937_64 engine_;
};

// A host with random speeds of links and thread blocks, so that different ones are the bottleneck
// in different hosts.
Topology AnyHost(int gpus, Random* random) {
  Topology topology = SmallCluster(1, gpus);
  ScaleUp& links = topology.host_kinds[0].scale_up;
  links.latency = Time::Ps(random->Of<int64_t>({0, 0, 0, 1, 1'000, 100'000, 1'000'000}));
  links.bandwidth = Bandwidth::FromBytesPerSecond(random->Of({5e9, 11e9, 17e9, 40e9, 400e9}));
  if (random->Below(4) == 0) links.kind = ScaleUpKind::kPcie;
  CollectiveCosts::Protocol& costs = topology.gpus[0].collectives.simple;
  costs.base = Time::Ns(random->Of<int64_t>({0, 700, 9'000}));
  costs.step = Time::Ns(random->Of<int64_t>({0, 0, 300, 4'000}));
  costs.receive = Bandwidth::FromBytesPerSecond(random->Of({6e9, 10e9, 31e9}));
  costs.send = Bandwidth::FromBytesPerSecond(random->Of({7e9, 10e9, 23e9}));
  return topology;
}

// The arrivals of the members of a call: some together, some a little or much earlier, in steps.
std::vector<Time> Arrivals(int members, int64_t whole, Random* random) {
  std::vector<Time> out;
  const int64_t kind = random->Below(4), gap = random->OfAnySize(4 * whole);
  for (int m = 0; m < members; ++m) {
    int64_t at = 0;
    if (kind == 0) at = random->Below(2) * gap;
    if (kind == 1) at = random->Below(2) * random->OfAnySize(4 * whole);
    if (kind == 2) at = random->OfAnySize(4 * whole);
    if (kind == 3) at = random->Below(4) * gap;
    out.push_back(Time::Ps(at));
  }
  return out;
}

WorkloadBuilder ManyCalls(uint32_t seed) {
  Random random(seed);
  const int members = 2 + static_cast<int>(random.Below(5));
  WorkloadBuilder b(AnyHost(members, &random));
  const int stream = b.Stream("compute");
  std::vector<int> all;
  for (int rank = 0; rank < members; ++rank) all.push_back(rank);
  const int tp = b.Role("tp", Dimension::kTensor, {all});
  const auto type = random.Of({CollectiveType::kAllReduce, CollectiveType::kAllGather});
  const int64_t channels = random.Of<int64_t>({1, 1, 2, 3, 8});
  // From less than a slice of 64 KiB to four slices, which are half of what a connection holds.
  const int64_t chunk = random.Of<int64_t>({5'000, 64 << 10, 100'000, 256 << 10});
  const int64_t bytes = members * channels * chunk;
  for (int call = 0; call < kCalls; ++call) {
    const std::vector<Time> after = Arrivals(members, 100'000'000, &random);
    for (int rank = 0; rank < members; ++rank) {
      b.Compute(rank, stream, after[static_cast<size_t>(rank)]);
      b.Collective(rank, stream, tp, type, bytes);
    }
  }
  b.PlanAll(static_cast<int>(channels));
  return b;
}

TEST(KnownTimesTest, TheShortcutHoldsForArrivalsChosenToRefuteIt) {
  int taken = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const WorkloadBuilder b = ManyCalls(seed);
    const Result<Timeline> fast = testing::ReplayAll(b, /*shortcut=*/true),
                           slow = testing::ReplayAll(b, /*shortcut=*/false);
    ASSERT_TRUE(fast.ok() && slow.ok());
    taken += Counter(*fast, "calls played alone") < kCalls / 2 ? 1 : 0;
    for (size_t rank = 0; rank < fast->ranks.size(); ++rank) {
      EXPECT_TRUE(fast->ranks[rank].end == slow->ranks[rank].end) << "seed " << seed;
      EXPECT_TRUE(fast->ranks[rank].ready == slow->ranks[rank].ready) << "seed " << seed;
    }
  }
  EXPECT_GT(taken, 40) << "plans for which the shortcut is taken";
}

// The ways of the pairs (0, 1) and (2, 3) of a host of four GPUs.
std::vector<std::vector<int64_t>> WaysOfPairs(const Topology& topology) {
  WorkloadBuilder b(topology);
  const int stream = b.Stream("compute");
  const int tp = b.Role("tp", Dimension::kTensor, {{0, 1}, {2, 3}});
  for (int rank = 0; rank < 4; ++rank) {
    b.Collective(rank, stream, tp, CollectiveType::kAllReduce, 1 << 20);
  }
  b.PlanAll();
  const Result<ReplayIndex> index = ReplayIndex::Create(b.workload, b.plan, b.times);
  EXPECT_TRUE(index.ok());
  const Plan* plan = index->PlanFor(0, 0);
  EXPECT_EQ(plan, index->PlanFor(0, 1)) << "equal plans are one object";
  const PortMap ports(topology.host_kinds[0], topology.gpus[0]);
  std::vector<std::vector<int64_t>> out;
  for (const std::vector<int>& gpus : {std::vector<int>{0, 1}, std::vector<int>{2, 3}}) {
    const std::vector<int> hosts = {0, 0};
    out.push_back(WaysOf(MakeLocalPlan(*plan, topology.gpus[0], ports, 0, 0, hosts, gpus), ports));
  }
  return out;
}

TEST(KnownTimesTest, GroupsOnOtherGpusHaveTheSameWays) {
  const auto ways = WaysOfPairs(SmallCluster(1, 4));
  EXPECT_EQ(ways[0], ways[1]);
}

TEST(KnownTimesTest, GroupsOverOtherRatesHaveOtherWays) {
  Topology mesh = SmallCluster(1, 4);
  ScaleUp& links = mesh.host_kinds[0].scale_up;
  links.kind = ScaleUpKind::kNvLinkMesh;
  links.mesh = {{0, 1, 1}, {2, 3, 2}};
  const auto ways = WaysOfPairs(mesh);
  EXPECT_NE(ways[0], ways[1]);
}

}  // namespace
}  // namespace drydock
