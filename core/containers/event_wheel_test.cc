#include "core/containers/event_wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "core/base/units.h"

namespace drydock {
namespace {

struct Event {
  Time time;
  int id = 0;
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.time, a.id) < std::tie(b.time, b.id);
  }
};

// Pushes events within the current bucket, within the wheel and far beyond it.
TEST(EventWheelTest, PopsInTheOrderOfASet) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    EventWheel<Event> wheel;
    std::set<Event> all;
    Time now;
    int next = 0;
    EXPECT_TRUE(wheel.empty());
    for (int step = 0; step < 4000; ++step) {
      if (step % 1000 == 999) {
        const auto is_one = [step](const Event& event) { return event.id % 7 == step / 1000; };
        wheel.Erase(is_one);
        std::erase_if(all, is_one);
      } else if (random() % 5 < (step < 2000 ? 3 : 2) || all.empty()) {
        const int64_t ahead = int64_t{1} << random() % (round % 2 == 0 ? 20 : 38);
        const Event event = {now + Time::Ps(static_cast<int64_t>(random() % ahead)), next++};
        wheel.Push(event);
        all.insert(event);
      } else {
        const Event event = wheel.Pop();
        EXPECT_EQ(event.id, all.begin()->id);
        now = event.time;
        all.erase(all.begin());
      }
      ASSERT_EQ(wheel.empty(), all.empty());
      if (!all.empty()) {
        ASSERT_EQ(wheel.top().id, all.begin()->id);
      }
    }
    const std::vector<Event> sorted = wheel.Sorted();
    ASSERT_TRUE(std::equal(sorted.begin(), sorted.end(), all.begin(), all.end(),
                           [](const Event& a, const Event& b) { return a.id == b.id; }));
  }
}

TEST(EventWheelTest, BeginsAnewWhenCleared) {
  EventWheel<Event> wheel;
  for (const int64_t ms : {1, 2, 3000}) wheel.Push({Time::Ps(ms * 1'000'000'000), 0});
  wheel.Pop();
  wheel.clear();
  EXPECT_TRUE(wheel.empty());
  EXPECT_THAT(wheel.Sorted(), ::testing::IsEmpty());
  wheel.Push({Time::Ps(5), 1});
  wheel.Push({Time::Ps(4), 2});
  EXPECT_EQ(wheel.Pop().id, 2);
  EXPECT_EQ(wheel.Pop().id, 1);
  EXPECT_TRUE(wheel.empty());
}

}  // namespace
}  // namespace drydock
