#include "core/containers/index_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "core/containers/earliest_slot.h"

namespace drydock {
namespace {

TEST(IndexTableTest, FindsTheKeysOfAMap) {
  std::mt19937 random(1);
  for (const size_t expected : {0u, 3u, 500u}) {
    IndexTable<uint32_t> table(expected);
    std::map<uint32_t, uint32_t> map;
    EXPECT_EQ(table.Find(7), table.kNone);
    for (uint32_t i = 0; i < 2000; ++i) {
      const uint32_t key = random() % 1000;
      EXPECT_EQ(table.FindOrAdd(key, i), map.emplace(key, i).first->second);
    }
    EXPECT_EQ(table.size(), map.size());
    for (uint32_t key = 0; key < 1100; ++key) {
      const auto it = map.find(key);
      EXPECT_EQ(table.Find(key), it == map.end() ? table.kNone : it->second);
    }
  }
}

struct SameHash {
  size_t operator()(uint64_t) const { return 5; }
};

TEST(IndexTableTest, FindsKeysWithEqualHashes) {
  IndexTable<uint64_t, SameHash> table;
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(table.FindOrAdd(uint64_t{1} << i, i), i);
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(table.Find(uint64_t{1} << i), i);
  EXPECT_EQ(table.Find(3), table.kNone);
}

TEST(IndexTableTest, AcceptsOtherNumbersAfterClear) {
  IndexTable<uint64_t> table;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(table.FindOrAdd(i, i + round), i + round);
    table.Clear();
    EXPECT_EQ(table.size(), 0u);
    EXPECT_EQ(table.Find(1), table.kNone);
  }
}

TEST(EarliestSlotTest, ReturnsTheEarliestAndLowestAmongEquals) {
  std::mt19937 random(1);
  for (const size_t slots : {1u, 2u, 5u, 16u, 33u}) {
    EarliestSlot earliest(slots);
    std::vector<Time> times(slots, Time::Max());
    EXPECT_EQ(earliest.time(), Time::Max());
    for (int round = 0; round < 500; ++round) {
      const auto slot = static_cast<uint32_t>(random() % slots);
      times[slot] = random() % 4 == 0 ? Time::Max() : Time::Ps(random() % 20);
      earliest.Set(slot, times[slot]);
      const auto best = std::min_element(times.begin(), times.end());
      EXPECT_EQ(earliest.time(), *best);
      EXPECT_EQ(earliest.time_of(slot), times[slot]);
      if (*best != Time::Max()) {
        EXPECT_EQ(earliest.slot(), best - times.begin());
      }
    }
  }
}

}  // namespace
}  // namespace drydock
