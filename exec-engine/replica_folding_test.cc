// What a folded replay says is what the whole one says: to the picosecond where hosts are alike,
// within a bound where they nearly are.
#include "exec-engine/replica_folding.h"

#include <gtest/gtest.h>

#include <random>

#include "exec-engine/fluid_network.h"
#include "exec-engine/replay.h"
#include "exec-engine/testing.h"

namespace drydock {
namespace {

using testing::Analytical;
using testing::SmallCluster;
using testing::WorkloadBuilder;

constexpr int kGpus = 4;  // of a host
constexpr int64_t kMega = 1 << 20;

int64_t Counter(const Timeline& timeline, const std::string& name) {
  for (const auto& [key, value] : timeline.counters) {
    if (key == name) return value;
  }
  return -1;
}

void ExpectSameRanks(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.iteration, b.iteration);
  EXPECT_EQ(a.stopped, b.stopped);
  EXPECT_EQ(a.ops_ended, b.ops_ended);
  EXPECT_EQ(a.iterations, b.iterations);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (size_t rank = 0; rank < a.ranks.size(); ++rank) {
    EXPECT_TRUE(a.ranks[rank].start == b.ranks[rank].start) << rank;
    EXPECT_TRUE(a.ranks[rank].ready == b.ranks[rank].ready) << rank;
    EXPECT_TRUE(a.ranks[rank].end == b.ranks[rank].end) << rank;
    EXPECT_EQ(a.accounts[rank].compute, b.accounts[rank].compute);
    EXPECT_EQ(a.accounts[rank].idle, b.accounts[rank].idle);
  }
}

// Ranks counted by tensor, then data, then pipeline, as Megatron has them.
struct Layout {
  int tensor = 4, data = 4, stages = 2;
  int ranks() const { return tensor * data * stages; }
  int stage_of(int rank) const { return rank / (tensor * data); }
  std::vector<std::vector<int>> TensorGroups() const {
    std::vector<std::vector<int>> out;
    for (int first = 0; first < ranks(); first += tensor) {
      for (out.emplace_back(); static_cast<int>(out.back().size()) < tensor;) {
        out.back().push_back(first + static_cast<int>(out.back().size()));
      }
    }
    return out;
  }
  std::vector<std::vector<int>> DataGroups() const {
    std::vector<std::vector<int>> out;
    for (int stage = 0; stage < stages; ++stage) {
      for (int t = 0; t < tensor; ++t) {
        out.emplace_back();
        for (int d = 0; d < data; ++d) out.back().push_back((stage * data + d) * tensor + t);
      }
    }
    return out;
  }
  // From each stage to the next.
  std::vector<std::vector<int>> Pairs(int first_stage) const {
    std::vector<std::vector<int>> out;
    for (int rank = 0; rank < ranks(); ++rank) {
      const bool has_next = stage_of(rank) + 1 < stages;
      if (has_next && stage_of(rank) % 2 == first_stage) {
        out.push_back({rank, rank + tensor * data});
      }
    }
    return out;
  }
};

// Ranks of a stage are of one class: the programs of its first rank.
void MergeClasses(const Layout& layout, WorkloadBuilder* b) {
  std::vector<Program> programs;
  for (int stage = 0; stage < layout.stages; ++stage) {
    const int first = stage * layout.tensor * layout.data;
    programs.push_back(b->workload.programs[static_cast<size_t>(first)]);
  }
  b->workload.programs = std::move(programs);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    b->workload.class_of_rank[static_cast<size_t>(rank)] = layout.stage_of(rank);
  }
  b->workload.class_count = layout.stages;
}

Layout RandomLayout(std::mt19937* random) {
  Layout layout;
  layout.tensor = (*random)() % 2 == 0 ? 2 : 4;
  layout.stages = 1 + static_cast<int>((*random)() % 3);
  layout.data = 4 << (*random)() % 2;
  return layout;
}

// Micro-batches through the stages, sums of gradients beside them, and a sum at the end.
WorkloadBuilder RandomTraining(const Layout& layout, uint32_t seed, Topology topology) {
  std::mt19937 random(seed);
  const auto pick = [&random](uint32_t n) { return static_cast<int64_t>(random() % n); };
  for (CollectiveCosts::Protocol* p :
       {&topology.gpus[0].collectives.simple, &topology.gpus[0].collectives.p2p_simple}) {
    p->base = Time::Us(5);
    p->step = Time::Ns(700);
    p->proxy = Time::Ns(900);
  }
  WorkloadBuilder b(std::move(topology));
  const int compute = b.Stream("compute"), tensor = b.Stream("tp"), data = b.Stream("dp"),
            send = b.Stream("send"), receive = b.Stream("receive");
  const int tp = b.Role("tp", Dimension::kTensor, layout.TensorGroups());
  const int dp = b.Role("dp", Dimension::kData, layout.DataGroups());
  const int pairs[2] = {b.Role("pp-even", Dimension::kPipeline, layout.Pairs(0)),
                        b.Role("pp-odd", Dimension::kPipeline, layout.Pairs(1))};
  for (int batch = 0; batch < 6; ++batch) {
    const int64_t tp_bytes = (1 + pick(3)) << 18, dp_bytes = (1 + pick(4)) << 19;
    const int64_t pp_bytes = (1 + pick(4)) << 18;
    const Time work[3] = {Time::Us(50 + pick(200)), Time::Us(50 + pick(200)),
                          Time::Us(50 + pick(200))};
    const bool with_dp = pick(3) > 0;
    for (int rank = 0; rank < layout.ranks(); ++rank) {
      const int stage = layout.stage_of(rank);
      std::vector<uint32_t> before;
      if (stage > 0) {
        before = {b.Transfer(rank, receive, pairs[(stage - 1) % 2], false, 0, pp_bytes, batch)};
      }
      const uint32_t forward = b.Compute(rank, compute, work[stage], before);
      const uint32_t sum =
          b.Collective(rank, tensor, tp, CollectiveType::kAllReduce, tp_bytes, {forward});
      const uint32_t after = b.Compute(rank, compute, Time::Us(20), {sum});
      if (with_dp) b.Collective(rank, data, dp, CollectiveType::kAllReduce, dp_bytes, {forward});
      if (stage + 1 < layout.stages) {
        b.Transfer(rank, send, pairs[stage % 2], true, 0, pp_bytes, batch, {after});
      }
    }
  }
  return b;
}

int HostsOf(const Layout& layout) { return layout.ranks() / kGpus; }

Result<Timeline> Folded(const WorkloadBuilder& b, Fold fold, ReplayOptions options = {}) {
  options.fold = fold;
  return Replay(b.workload, b.plan, b.times, Analytical(), options);
}

TEST(ReplicaFoldingTest, HostsThatAreAlikeTakeTheSameTimesToThePicosecond) {
  int64_t replayed = 0, hosts = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    WorkloadBuilder b = RandomTraining(layout, seed, SmallCluster(HostsOf(layout), kGpus));
    MergeClasses(layout, &b);
    b.PlanAll();
    ReplayOptions options;
    options.iterations = seed % 4 == 0 ? 2 : 1;
    if (seed % 4 == 1) options.until = Time::Us(900);
    if (seed % 3 == 0) options.variation.slow_gpus = {{Time::Us(100), 1, 0, 1.5}};
    const Result<Timeline> whole = Folded(b, Fold::kOff, options),
                           folded = Folded(b, Fold::kExact, options);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    ExpectSameRanks(*whole, *folded);
    for (const auto& [name, value] : whole->counters) {
      EXPECT_EQ(value, Counter(*folded, name)) << name << " of " << seed;
    }
    if (seed % 3 != 0) {
      EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages) << seed;
    }
    replayed += std::max<int64_t>(Counter(*folded, "hosts replayed"), 0);
    hosts += HostsOf(layout);
  }
  EXPECT_LT(replayed, hosts / 2);
}

// Two hosts on a leaf, leaves on a spine: messages of a ring go a short way and a long one in turn,
// or, where a group begins in the middle of a leaf, in no order.
Topology TwoTiers(int hosts, int first_leaf) {
  Topology t = SmallCluster(hosts, kGpus);
  const FabricLink cable = t.fabric.links.front();
  t.fabric = {};
  t.fabric.kind = "leaf-spine";
  t.fabric.switches.push_back({"spine", 1, Time::Us(2), Bytes(1 << 24)});
  for (int host = 0; host < hosts; ++host) {
    const int leaf = 1 + (host + 2 - first_leaf) / 2;
    while (static_cast<int>(t.fabric.switches.size()) <= leaf) {
      const auto number = static_cast<int>(t.fabric.switches.size());
      t.fabric.switches.push_back(
          {"leaf" + std::to_string(number), 0, Time::Ns(300), Bytes(1 << 24)});
      for (int i = 0; i < 2 * kGpus; ++i) {
        t.fabric.links.push_back({{true, number, 0}, {true, 0, 0}, cable.rate, cable.delay});
      }
    }
    for (int nic = 0; nic < kGpus; ++nic) {
      t.fabric.links.push_back({{false, host, nic}, {true, leaf, 0}, cable.rate, cable.delay});
    }
  }
  return t;
}

// Up a chain of all members to the first, and down again.
Plan Chain(const std::vector<int>& ranks, int64_t bytes) {
  Plan plan;
  plan.name = "chain";
  plan.works[0] = {Algorithm::kTree, Protocol::kSimple, 1, 16, bytes};
  plan.members.resize(ranks.size());
  const auto n = static_cast<uint16_t>(ranks.size());
  for (uint16_t m = 0; m + 1 < n; ++m) {
    for (const bool up : {true, false}) {
      Connection c;
      c.from = up ? m + 1 : m;
      c.to = up ? m : m + 1;
      const bool inside = ranks[m] / kGpus == ranks[m + 1u] / kGpus;
      c.link = inside ? LinkKind::kPeerWrite : LinkKind::kNet;
      if (!inside) {
        c.send_nic = static_cast<int16_t>(ranks[c.from] % kGpus);
        c.recv_nic = static_cast<int16_t>(ranks[c.to] % kGpus);
      }
      plan.connections.push_back(c);
    }
  }
  for (uint16_t m = 0; m < n; ++m) {
    const bool top = m == 0, bottom = m + 1 == n;
    Pattern pattern;
    pattern.operands = (top ? 0 : 2) + (bottom ? 0 : 2);
    // Operands: to and from the one above, then from and to the one below.
    const uint32_t below = top ? 0 : 2;
    Step up, down;
    up.bytes = down.bytes = bytes;
    if (!bottom) up.receive = {below, 1};
    up.reduce = !bottom && !top;
    if (!top) up.send = {0, 1};
    if (!top) down.receive = {1, 1};
    if (!bottom) down.send = {below + 1, 1};
    pattern.steps = {up, down};
    pattern.loops = {{1, 0, 2}};
    plan.members[m].push_back({.pattern = static_cast<uint32_t>(plan.patterns.size()),
                               .operand_begin = static_cast<uint32_t>(plan.operands.size())});
    plan.patterns.push_back(pattern);
    if (!top) plan.operands.insert(plan.operands.end(), {2u * m - 2, 2u * m - 1});
    if (!bottom) plan.operands.insert(plan.operands.end(), {2u * m, 2u * m + 1});
  }
  return plan;
}

// A sum round a ring whose last chunk is a little shorter than the others.
void MakeRagged(Plan* plan) {
  const auto n = static_cast<uint32_t>(plan->members.size());
  for (Pattern& pattern : plan->patterns) {
    uint32_t before = 0;  // primitives
    for (Step& step : pattern.steps) {
      step.first = (2 * n - 1 - before % n) % n;
      before += step.count;
      step.whole_chunks = n - 1;
      step.last_bytes = step.bytes * 15 / 16;
    }
  }
  for (uint32_t m = 0; m < n; ++m) {
    for (ChannelProgram& program : plan->members[m]) program.position = static_cast<uint16_t>(m);
  }
}

// As RandomTraining, with short sums over a chain of all ranks at the end.
WorkloadBuilder UnevenTraining(const Layout& layout, uint32_t seed, int first_leaf) {
  constexpr int64_t kShort = 24;
  WorkloadBuilder b = RandomTraining(layout, seed, TwoTiers(HostsOf(layout), first_leaf));
  std::vector<int> all;
  for (int rank = 0; rank < layout.ranks(); ++rank) all.push_back(rank);
  const int world = b.Role("world", Dimension::kWorld, {all});
  const int stream = b.Stream("world");
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    b.Collective(rank, stream, world, CollectiveType::kAllReduce, kShort);
    b.Compute(rank, stream, Time::Us(30));
    b.Collective(rank, stream, world, CollectiveType::kAllReduce, kShort);
  }
  MergeClasses(layout, &b);
  b.PlanAll();
  for (const FlowPlan::Assignment& a : b.plan.assignments) {
    const int first = b.workload.groups[a.group].ranks.front();
    const bool sums = b.workload.calls[a.call].collective == CollectiveType::kAllReduce;
    if (sums &&
        b.workload.group_of_rank[1][static_cast<size_t>(first)] == static_cast<int>(a.group)) {
      MakeRagged(&b.plan.plans[a.plan]);
    }
  }
  b.SetPlan(kShort, Chain(all, kShort));
  return b;
}

TEST(ReplicaFoldingTest, HostsThatAreNearlyAlikeTakeNearlyTheSameTimes) {
  constexpr double kMost = 0.005;  // of iterations of one or two milliseconds
  double worst = 0;
  int64_t uneven = 0, mean = 0, spread = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    const WorkloadBuilder b = UnevenTraining(layout, seed, static_cast<int>(seed % 2));
    const Result<Timeline> whole = Folded(b, Fold::kOff), exact = Folded(b, Fold::kExact),
                           folded = Folded(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(exact.ok() && folded.ok());
    ExpectSameRanks(*whole, *exact);
    EXPECT_EQ(Counter(*exact, "hosts replayed"), -1) << "all are different";
    EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages);
    EXPECT_EQ(Counter(*folded, "messages"), Counter(*whole, "messages"));
    EXPECT_NEAR(static_cast<double>(Counter(*folded, "message bytes")),
                static_cast<double>(Counter(*whole, "message bytes")), 1e5);
    const double off = folded->iteration.seconds() / whole->iteration.seconds() - 1;
    EXPECT_LT(std::abs(off), kMost) << seed;
    worst = std::max(worst, std::abs(off));
    uneven += Counter(*folded, "uneven calls");
    spread += Counter(*folded, "calls spread");
    mean += Counter(*folded, "ways taken as their mean");
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(worst, 0);
  EXPECT_EQ(uneven, 40);
  EXPECT_GT(spread, 100);
  EXPECT_GT(mean, 100);
}

// All hosts of a stage run the same.
WorkloadBuilder Alike(const Layout& layout) {
  WorkloadBuilder b = RandomTraining(layout, 1, SmallCluster(HostsOf(layout), kGpus));
  MergeClasses(layout, &b);
  b.PlanAll();
  return b;
}

Result<Timeline> OverFluid(const WorkloadBuilder& b, Fold fold) {
  ReplayOptions options;
  options.fold = fold;
  return Replay(b.workload, b.plan, b.times,
                {"fluid", "", MakeFluidNetwork, Folds::kNearly, /*merges=*/true}, options);
}

// Nobody shares a link but NICs', and replicas fare alike.
TEST(ReplicaFoldingTest, FlowsThatMeetAtNicsAloneTakeTheSameTimes) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    WorkloadBuilder b = RandomTraining(layout, seed, SmallCluster(HostsOf(layout), kGpus));
    MergeClasses(layout, &b);
    b.PlanAll();
    const Result<Timeline> whole = OverFluid(b, Fold::kOff), folded = OverFluid(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages);
    EXPECT_NEAR(folded->iteration.seconds() / whole->iteration.seconds(), 1, 1e-4) << seed;
    for (const char* counter : {"messages", "message bytes", "slices merged"}) {
      EXPECT_EQ(Counter(*folded, counter), Counter(*whole, counter)) << seed;
    }
  }
}

// Where their ways through the fabric differ, all are held up by the slowest.
TEST(ReplicaFoldingTest, FlowsOfReplicasGoAtTheRateOfTheSlowest) {
  double sum = 0, least = 1, most = -1;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const Layout layout = RandomLayout(&random);
    const WorkloadBuilder b = UnevenTraining(layout, seed, static_cast<int>(seed % 2));
    const Result<Timeline> whole = OverFluid(b, Fold::kOff), folded = OverFluid(b, Fold::kRelaxed);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    ASSERT_TRUE(folded.ok()) << folded.error().ToString();
    EXPECT_EQ(Counter(*folded, "hosts replayed"), layout.stages);
    const double off = folded->iteration.seconds() / whole->iteration.seconds() - 1;
    least = std::min(least, off);
    most = std::max(most, off);
    sum += off;
  }
  EXPECT_GT(least, -0.01);
  EXPECT_LT(most, 0.07);
  EXPECT_LT(sum / 40, 0.015);
  EXPECT_GT(sum / 40, 0.001) << "nobody met anybody";
}

TEST(ReplicaFoldingTest, FewRanksOverFlowsAreReplayedOneByOneUnlessAsked) {
  const Result<Timeline> timeline = OverFluid(Alike(Layout()), Fold::kAuto);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

TEST(ReplicaFoldingTest, AFaultMakesAHostAnother) {
  WorkloadBuilder b = Alike(Layout());
  Fault fault;
  fault.at = Time::Us(10);
  fault.links = {0};
  fault.kind = Fault::Kind::kRate;
  fault.rate = Bandwidth::BitsPerSecond(1'000'000'000);
  b.workload.topology.faults = {fault};
  const Result<Timeline> timeline = OverFluid(b, Fold::kRelaxed);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

TEST(ReplicaFoldingTest, ChanceMakesAllHostsDifferent) {
  WorkloadBuilder b = Alike(Layout());
  ReplayOptions options;
  options.variation.jitter.compute = 0.1;
  const Result<Timeline> timeline = Folded(b, Fold::kRelaxed, options);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

TEST(ReplicaFoldingTest, ANetworkThatDoesNotFoldReplaysAll) {
  WorkloadBuilder b = Alike(Layout());
  ReplayOptions options;
  options.fold = Fold::kRelaxed;
  const Result<Timeline> timeline =
      Replay(b.workload, b.plan, b.times, {"fluid", "", MakeFluidNetwork}, options);
  ASSERT_TRUE(timeline.ok());
  EXPECT_EQ(Counter(*timeline, "hosts replayed"), -1);
}

// A first stage that sends one message less than the second waits for.
TEST(ReplicaFoldingTest, WhoIsStuckIsToldOfAllHosts) {
  WorkloadBuilder b = Alike(Layout());
  Program& first = b.workload.programs[0];
  while (first.ops.back().kind != OpKind::kSend) first.ops.pop_back();
  first.ops.pop_back();
  first.dependency_begin.resize(first.ops.size() + 1);
  first.dependency.resize(first.dependency_begin.back());
  const Result<Timeline> whole = Folded(b, Fold::kOff), folded = Folded(b, Fold::kExact);
  ASSERT_FALSE(whole.ok());
  ASSERT_FALSE(folded.ok());
  EXPECT_EQ(whole.error().ToString(), folded.error().ToString());
}

}  // namespace
}  // namespace drydock
