#include "core/containers/event_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace drydock {
namespace {

TEST(EventHeapTest, PopsInOrder) {
  std::mt19937 random(1);
  std::vector<int> values(2000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    EventHeap<int> heap;
    for (const int value : values) heap.Push(value);
    for (int expected = 0; expected < 2000; ++expected) EXPECT_EQ(heap.Pop(), expected);
    EXPECT_TRUE(heap.empty());
  }
}

TEST(EventHeapTest, PushesBetweenPopsKeepTheOrder) {
  std::mt19937 random(2);
  EventHeap<uint64_t> heap;
  uint64_t now = 0, serial = 0;
  for (int i = 0; i < 100; ++i) heap.Push((random() % 1000) << 32 | serial++);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t event = heap.Pop();
    ASSERT_GE(event, now);
    now = event;
    heap.Push(((now >> 32) + 1 + random() % 1000) << 32 | serial++);
  }
  EXPECT_EQ(heap.size(), 100u);
}

TEST(EventHeapTest, ErasedEventsAreGoneAndTheOthersKeepTheirOrder) {
  std::mt19937 random(3);
  std::vector<int> values(500);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
  for (const int each : {1, 2, 3, 7, 499}) {
    std::shuffle(values.begin(), values.end(), random);
    EventHeap<int> heap;
    for (const int value : values) heap.Push(value);
    heap.Erase([each](int value) { return value % each == 0; });
    for (int expected = 0; expected < 500; ++expected) {
      if (expected % each != 0) {
        ASSERT_EQ(heap.Pop(), expected) << each;
      }
    }
    EXPECT_TRUE(heap.empty());
  }
}

}  // namespace
}  // namespace drydock
