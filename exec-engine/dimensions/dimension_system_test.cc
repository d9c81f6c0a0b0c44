#include "exec-engine/dimensions/dimension_system.h"

#include <gtest/gtest.h>

#include <random>

namespace drydock {
namespace {

constexpr int64_t kMega = 1 << 20;
constexpr double kGib = 1 << 30;

NetworkDimension Dimension(DimensionShape shape, int npus, double gib = 50, int64_t ns = 500) {
  return {shape, npus, Bandwidth::FromBytesPerSecond(gib * kGib), Time::Ns(ns)};
}

// The system that ASTRA-sim's examples ship.
CollectiveSystem System(const std::vector<DimensionRule>& rules, int splits = 4) {
  CollectiveSystem system;
  system.all_reduce = system.all_gather = system.reduce_scatter = system.all_to_all = rules;
  system.splits = splits;
  system.endpoint_delay = Time::Ns(10);
  system.memory = Bandwidth::FromBytesPerSecond(1600e9);
  return system;
}

int64_t Ns(Time time) {
  EXPECT_EQ(time.ps() % 1000, 0);
  return time.ps() / 1000;
}

TEST(DimensionSystemTest, AstraSimsPublishedAnswers) {
  using enum CollectiveType;
  struct Answer {
    CollectiveType type;
    int64_t ns[3];
  };
  // 1 MB over 4, 8 and 16 NPUs of one ring.
  const Answer answers[] = {{kAllReduce, {43'000, 64'440, 99'640}},
                            {kAllGather, {64'744, 151'016, 323'560}},
                            {kReduceScatter, {22'240, 33'080, 50'740}},
                            {kAllToAll, {41'560, 125'480, 391'240}}};
  for (const Answer& answer : answers) {
    for (int i = 0; i < 3; ++i) {
      const DimensionNetwork network({Dimension(DimensionShape::kRing, 4 << i)});
      const CollectiveSystem system = System({{}});
      for (const bool fold : {true, false}) {
        EXPECT_EQ(Ns(TimeOfCollective(network, system, answer.type, kMega, fold)), answer.ns[i])
            << static_cast<int>(answer.type) << " over " << (4 << i);
      }
    }
  }
}

// A chunk's hop in ns: latency and bytes at 50 GiB/s.
int64_t Hop(int64_t bytes, int hops = 1) {
  return 500 * hops + bytes * 1'000'000'000 / (50LL << 30);
}
int64_t Sum(int64_t bytes) { return bytes / 1600 * 3; }

// A reduce-scatter along the first ring, an all-reduce along the second, an all-gather along the
// first.
TEST(DimensionSystemTest, AnAllReduceOnATorusIsHierarchical) {
  const DimensionNetwork torus(
      {Dimension(DimensionShape::kRing, 4), Dimension(DimensionShape::kRing, 8)});
  CollectiveSystem system = System({{}, {}}, 1);
  const int64_t quarter = kMega / 4, part = quarter / 8;
  const int64_t scatter = 3 * (Hop(quarter) + 10 + Sum(quarter)) + 10;
  const int64_t reduce = 14 * (Hop(part) + 10) + 7 * Sum(part) + 10;
  const int64_t gather = 3 * (Hop(quarter) + 10) + 10;
  EXPECT_EQ(Ns(TimeOfCollective(torus, system, CollectiveType::kAllReduce, kMega)),
            scatter + reduce + gather);
  system.hierarchical = false;  // the whole buffer in each dimension
  const int64_t eighth = kMega / 8;
  const int64_t first = 6 * (Hop(quarter) + 10) + 3 * Sum(quarter) + 10;
  const int64_t second = 14 * (Hop(eighth) + 10) + 7 * Sum(eighth) + 10;
  EXPECT_EQ(Ns(TimeOfCollective(torus, system, CollectiveType::kAllReduce, kMega)), first + second);
}

// While one chunk is in the second dimension, the next is in the first.
TEST(DimensionSystemTest, ChunksFollowEachOtherThroughTheDimensions) {
  const DimensionNetwork torus(
      {Dimension(DimensionShape::kRing, 4), Dimension(DimensionShape::kRing, 4)});
  const int64_t quarter = kMega / 4, part = quarter / 4;
  const int64_t first = 3 * (Hop(quarter) + 10 + Sum(quarter)) + 10;
  const int64_t second = 3 * (Hop(part) + 10 + Sum(part)) + 10;
  const CollectiveSystem one = System({{}, {}}, 1), three = System({{}, {}}, 3);
  EXPECT_EQ(Ns(TimeOfCollective(torus, one, CollectiveType::kReduceScatter, kMega)),
            first + second);
  EXPECT_EQ(Ns(TimeOfCollective(torus, three, CollectiveType::kReduceScatter, 3 * kMega)),
            3 * first + second);
}

TEST(DimensionSystemTest, SwitchesTakeTwoHopsAndFullMeshesOne) {
  const CollectiveSystem system = System({{DimensionAlgorithm::kDirect, 0, false}}, 1);
  const int64_t part = kMega / 8;
  for (const auto& [shape, hops] :
       {std::pair(DimensionShape::kSwitch, 2), std::pair(DimensionShape::kFullyConnected, 1)}) {
    const DimensionNetwork network({Dimension(shape, 8)});
    // All at once, without contention.
    EXPECT_EQ(Ns(TimeOfCollective(network, system, CollectiveType::kAllToAll, kMega)),
              Hop(part, hops) + 20);
    EXPECT_EQ(Ns(TimeOfCollective(network, system, CollectiveType::kAllReduce, kMega)),
              2 * Hop(part, hops) + Sum(part) + 30);
  }
  // On a ring, the farthest NPU is at half the circumference.
  const DimensionNetwork ring({Dimension(DimensionShape::kRing, 8)});
  EXPECT_EQ(Ns(TimeOfCollective(ring, system, CollectiveType::kAllToAll, kMega)),
            Hop(part, 4) + 20);
}

TEST(DimensionSystemTest, HalvingDoublingTakesItsClosedForm) {
  const DimensionNetwork network({Dimension(DimensionShape::kFullyConnected, 8)});
  const CollectiveSystem system = System({{DimensionAlgorithm::kHalvingDoubling, 0, false}}, 1);
  int64_t sum = 10;
  for (const int64_t bytes : {kMega / 2, kMega / 4, kMega / 8}) sum += 2 * (Hop(bytes) + 10);
  // ASTRA-sim's rounds: it sums the second and third packet, at the size of the next packet.
  sum += Sum(kMega / 4) + Sum(kMega / 8);
  EXPECT_EQ(Ns(TimeOfCollective(network, system, CollectiveType::kAllReduce, kMega)), sum);
}

TEST(DimensionSystemTest, ATreeSumsUpwards) {
  const DimensionNetwork network({Dimension(DimensionShape::kFullyConnected, 4)});
  const CollectiveSystem system = System({{DimensionAlgorithm::kDoubleBinaryTree, 0, false}}, 1);
  EXPECT_FALSE(CanFold(network, system));
  // From two leaves to the node above them, to the root above that node, and back.
  EXPECT_EQ(Ns(TimeOfCollective(network, system, CollectiveType::kAllReduce, kMega)),
            4 * Hop(kMega) + 5 * 10 + 3 * Sum(kMega));
}

// Two calls at once. With LIFO, chunks of the second call overtake waiting chunks of the first.
TEST(DimensionSystemTest, ChunkOrderDecidesWhichCallComesFirst) {
  const DimensionNetwork network({Dimension(DimensionShape::kRing, 4)});
  CollectiveSystem system = System({{}});
  const int64_t chunk = 43'000 / 4;
  for (const ChunkOrder order : {ChunkOrder::kLifo, ChunkOrder::kFifo, ChunkOrder::kExplicit}) {
    system.order = order;
    std::vector<int64_t> ends(2);
    DimensionSystem run(network, system, true,
                        [&](int, uint64_t call) { ends[call] = Ns(run.now()); });
    run.Start(0, {0, CollectiveType::kAllReduce, kMega, nullptr, 0});
    run.Start(0, {1, CollectiveType::kAllReduce, kMega, nullptr, 1});
    while (!run.idle()) run.RunNext();
    const bool last_first = order != ChunkOrder::kFifo;
    EXPECT_EQ(ends[0], last_first ? 8 * chunk : 4 * chunk);
    EXPECT_EQ(ends[1], last_first ? 5 * chunk : 8 * chunk) << "one chunk was active";
  }
}

// The members of a group wait for the last member. Other NPUs do not.
TEST(DimensionSystemTest, AGroupIsARingOfItsMembers) {
  const DimensionNetwork network(
      {Dimension(DimensionShape::kSwitch, 4), Dimension(DimensionShape::kSwitch, 2)});
  const CollectiveSystem system = System({{}, {}}, 1);
  const std::vector<int> members = {6, 1, 3};
  std::vector<int64_t> ends(8, -1);
  DimensionSystem run(network, system, false,
                      [&](int npu, uint64_t) { ends[static_cast<size_t>(npu)] = Ns(run.now()); });
  const DimensionCall call = {0, CollectiveType::kAllGather, 3000, &members, 0};
  run.Start(6, call);
  run.Start(1, call);
  while (!run.idle()) run.RunNext();
  run.AdvanceTo(Time::Ns(5000));
  run.Start(3, call);
  while (!run.idle()) run.RunNext();
  const int64_t hop = Hop(3000, 2);
  // NPU 3 finds both parts in place; 6 has the parts of 3 after one hop, 1 has them after two.
  EXPECT_EQ(ends,
            (std::vector<int64_t>{-1, 5000 + 10 + hop + 10 + hop + 10, -1, 5000 + 10 + 10 + 10, -1,
                                  -1, 5000 + 10 + 10 + hop + 10, -1}));
}

DimensionRule RandomRule(std::mt19937* random, int npus, bool all_to_all) {
  const auto pick = [&](uint32_t n) { return static_cast<int>((*random)() % n); };
  const bool power = (npus & (npus - 1)) == 0;
  switch (pick(3)) {
    case 0:
      return {DimensionAlgorithm::kDirect, pick(4), false};
    case 1:
      if (power && !all_to_all) return {DimensionAlgorithm::kHalvingDoubling, 0, false};
      [[fallthrough]];
    default:
      return {};
  }
}

// One NPU that represents all others takes the same time as all NPUs.
TEST(DimensionSystemTest, FoldingChangesNoTime) {
  std::mt19937 random(1);
  const auto pick = [&](uint32_t n) { return static_cast<int>(random() % n); };
  const CollectiveType types[] = {CollectiveType::kAllReduce, CollectiveType::kAllGather,
                                  CollectiveType::kReduceScatter, CollectiveType::kAllToAll};
  for (int round = 0; round < 300; ++round) {
    std::vector<NetworkDimension> dimensions;
    CollectiveSystem system = System({}, 1 + pick(5));
    system.active_chunks = 1 + pick(3);
    system.hierarchical = pick(2) == 0;
    system.endpoint_delay = Time::Ns(pick(30));
    for (int d = 1 + pick(3); d > 0; --d) {
      const int npus = 2 + pick(6);
      dimensions.push_back(
          Dimension(static_cast<DimensionShape>(pick(3)), npus, 1 + pick(200), pick(2000)));
      for (auto* rules : {&system.all_reduce, &system.all_gather, &system.reduce_scatter}) {
        rules->push_back(RandomRule(&random, npus, false));
      }
      system.all_to_all.push_back(RandomRule(&random, npus, true));
    }
    const DimensionNetwork network(dimensions);
    const CollectiveType type = types[pick(4)];
    const int64_t bytes = 1 + pick(1 << 22);
    EXPECT_EQ(TimeOfCollective(network, system, type, bytes, true),
              TimeOfCollective(network, system, type, bytes, false))
        << "round " << round;
  }
}

}  // namespace
}  // namespace drydock
