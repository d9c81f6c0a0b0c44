#include "core/containers/partition_refinement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace drydock {
namespace {

// All signatures collide.
struct ConstantHash {
  size_t operator()(const Signature&) const { return 7; }
};

// Signatures with equal sums collide, as if a multiset were hashed by adding up its elements.
struct SumHash {
  size_t operator()(const Signature& signature) const {
    int64_t sum = 0;
    for (const int64_t number : signature) sum += number;
    return static_cast<size_t>(sum);
  }
};

using Neighbors = std::vector<std::vector<int>>;

// Color refinement: vertices of one class have the same number of neighbors in each class.
template <typename Hash>
std::vector<int> ColorsOf(const Neighbors& neighbors) {
  PartitionRefinement<Hash> partition(std::vector<int>(neighbors.size(), 0));
  const auto append = [&](size_t vertex, Signature* signature) {
    for (const int other : neighbors[vertex]) {
      signature->push_back(partition.class_of()[static_cast<size_t>(other)]);
    }
    std::sort(signature->begin() + 1, signature->end());
  };
  while (partition.Split(append)) {
  }
  return partition.class_of();
}

// A path of five vertices: its ends, their neighbors, and its middle.
TEST(PartitionRefinementTest, ReachesTheCoarsestStablePartition) {
  const Neighbors path = {{1}, {0, 2}, {1, 3}, {2, 4}, {3}};
  EXPECT_EQ(ColorsOf<RangeHash>(path), (std::vector<int>{0, 1, 2, 1, 0}));
}

TEST(PartitionRefinementTest, NumbersClassesByTheirFirstElements) {
  PartitionRefinement<> partition({9, 4, 9, 4});
  EXPECT_EQ(partition.count(), 2);
  EXPECT_FALSE(partition.Split([](size_t, Signature*) {}));
  EXPECT_EQ(partition.class_of(), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_TRUE(partition.Split([](size_t i, Signature* s) { s->push_back(i == 3 ? 1 : 0); }));
  EXPECT_EQ(partition.class_of(), (std::vector<int>{0, 1, 0, 2}));
  EXPECT_EQ(partition.count(), 3);
}

TEST(PartitionRefinementTest, ElementsWithCollidingHashesAreSplit) {
  const std::vector<Signature> signatures = {{1, 4}, {2, 3}, {5}, {1, 4}, {3, 2}};
  const auto append = [&](size_t element, Signature* signature) {
    signature->insert(signature->end(), signatures[element].begin(), signatures[element].end());
  };
  const std::vector<int> expected = {0, 1, 2, 0, 3};
  PartitionRefinement<ConstantHash> constant(std::vector<int>(5, 0));
  EXPECT_TRUE(constant.Split(append));
  EXPECT_EQ(constant.class_of(), expected);
  PartitionRefinement<SumHash> sum(std::vector<int>(5, 0));
  EXPECT_TRUE(sum.Split(append));
  EXPECT_EQ(sum.class_of(), expected);
}

TEST(PartitionRefinementTest, TheHashDoesNotChangeTheClasses) {
  std::mt19937 random(5);
  for (int graph = 0; graph < 50; ++graph) {
    Neighbors neighbors(30);
    for (int edge = 0; edge < 35; ++edge) {
      const int a = static_cast<int>(random() % 30), b = static_cast<int>(random() % 30);
      neighbors[static_cast<size_t>(a)].push_back(b);
      neighbors[static_cast<size_t>(b)].push_back(a);
    }
    const std::vector<int> colors = ColorsOf<RangeHash>(neighbors);
    EXPECT_EQ(ColorsOf<ConstantHash>(neighbors), colors);
    EXPECT_EQ(ColorsOf<SumHash>(neighbors), colors);
  }
}

TEST(SignatureNumbersTest, NumbersAreExact) {
  SignatureNumbers<ConstantHash> numbers;
  EXPECT_EQ(numbers.Of({1, 2}), 0);
  EXPECT_EQ(numbers.Of({2, 1}), 1);
  EXPECT_EQ(numbers.Of({1, 2}), 0);
  EXPECT_EQ(numbers.Of({}), 2);
  EXPECT_EQ(numbers.Of({InOneNumber(-1, 2)}), 3);
  EXPECT_EQ(numbers.Of({InOneNumber(0, 2)}), 4);
  EXPECT_EQ(numbers.count(), 5);
}

}  // namespace
}  // namespace drydock
