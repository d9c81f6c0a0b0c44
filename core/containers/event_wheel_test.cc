#include "core/containers/event_wheel.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

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
      if (random() % 5 < (step < 2000 ? 3 : 2) || all.empty()) {
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
  }
}

}  // namespace
}  // namespace drydock
