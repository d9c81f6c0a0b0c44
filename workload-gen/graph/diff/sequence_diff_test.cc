// "Is the match a longest common subsequence?"
#include "workload-gen/graph/diff/sequence_diff.h"

#include <gtest/gtest.h>

#include <random>

namespace drydock {
namespace {

using Numbers = std::vector<uint32_t>;

// Returns the length of the longest common subsequence by dynamic programming.
size_t Longest(const Numbers& a, const Numbers& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      best[i + 1][j + 1] = a[i] == b[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
    }
  }
  return best[a.size()][b.size()];
}

void ExpectMatch(const Numbers& a, const Numbers& b, size_t length, size_t max_edits = 2000) {
  const auto pairs = MatchSequences(a, b, max_edits);
  EXPECT_EQ(pairs.size(), length);
  for (size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_LT(pairs[i].first, a.size());
    ASSERT_LT(pairs[i].second, b.size());
    EXPECT_EQ(a[pairs[i].first], b[pairs[i].second]);
    if (i == 0) continue;
    EXPECT_LT(pairs[i - 1].first, pairs[i].first);
    EXPECT_LT(pairs[i - 1].second, pairs[i].second);
  }
}

TEST(SequenceDiffTest, IsTheLongestSubsequence) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    Numbers a(random() % 14), b(random() % 14);
    const uint32_t letters = 2 + random() % 4;
    for (uint32_t& x : a) x = random() % letters;
    for (uint32_t& x : b) x = random() % letters;
    ExpectMatch(a, b, Longest(a, b));
  }
}

TEST(SequenceDiffTest, LongSequencesWithFewDifferences) {
  Numbers a;
  for (uint32_t i = 0; i < 100'000; ++i) a.push_back(i);
  Numbers b = a;
  b.erase(b.begin() + 50'000, b.begin() + 50'010);
  b.insert(b.begin() + 70'000, 7);
  ExpectMatch(a, b, 100'000 - 10);
}

TEST(SequenceDiffTest, StopsAfterMaxEdits) {
  Numbers a(10'000, 1), b(10'000, 2);
  a.front() = b.front() = a.back() = b.back() = 9;
  ExpectMatch(a, b, 2, 100);
}

}  // namespace
}  // namespace drydock
