#include "exec-engine/command/progress_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "core/progress/ticker.h"

namespace drydock {
namespace {

Progress::Snapshot At(int64_t ops, Time now, Time until = Time::Max()) {
  return {ops, 4000, 5'000'000, now, until};
}

std::string BriefProgress(const Progress::Snapshot& at) {
  char text[kBriefProgressSize];
  return std::string(text, WriteBriefProgress(at, text));
}

TEST(ProgressTextTest, HasShareSpeedAndRemainingTime) {
  EXPECT_EQ(ProgressText(At(1000, Time::Us(12340)), 0.5),
            "25 %, 12.34 ms simulated, 1000 of 4000 ops");
  EXPECT_EQ(ProgressText(At(1000, Time::Us(12340)), 2),
            "25 %, 12.34 ms simulated, 1000 of 4000 ops, 2.5 M events/s, 6 s left");
  EXPECT_EQ(ProgressText(At(1000, Time::Us(12340)), 100),
            "25 %, 12.34 ms simulated, 1000 of 4000 ops, 50 k events/s, 5 min left");
  EXPECT_EQ(ProgressText(At(10, Time::Us(12340)), 100),
            "0 %, 12.34 ms simulated, 10 of 4000 ops, 50 k events/s, 11.1 h left");
  EXPECT_EQ(ProgressText(At(0, Time()), 2), "0 %, 0 ps simulated, 0 of 4000 ops, 2.5 M events/s");
}

TEST(ProgressTextTest, ARunWithALimitIsDoneAtTheLimit) {
  EXPECT_EQ(ProgressText(At(1000, Time::Us(3000), Time::Us(4000)), 3),
            "75 %, 3 ms simulated, 1000 of 4000 ops, 1.7 M events/s, 1 s left");
}

TEST(ProgressTextTest, BriefProgressHasOpsAndTime) {
  EXPECT_EQ(BriefProgress(At(1234, Time::Us(12345))), "1234 of 4000 ops done, 12.345 ms simulated");
  EXPECT_EQ(BriefProgress(At(0, Time::Us(7))), "0 of 4000 ops done, 0.007 ms simulated");
  const Progress::Snapshot most = {INT64_MAX, INT64_MAX, 0, Time::Max(), Time::Max()};
  EXPECT_EQ(BriefProgress(most),
            "9223372036854775807 of 9223372036854775807 ops done, 9223372036.854 ms simulated");
}

TEST(ProgressTest, IsTheSumOfItsHosts) {
  Progress progress;
  EXPECT_EQ(progress.Now().all_ops, 0) << "before it begins";
  progress.Begin(2, 30, Time::Us(9));
  progress.host(0)->Set(4, 100, Time::Us(3));
  progress.host(1)->Set(6, 50, Time::Us(2));
  const Progress::Snapshot now = progress.Now();
  EXPECT_EQ(now.ops, 10);
  EXPECT_EQ(now.all_ops, 30);
  EXPECT_EQ(now.events, 150);
  EXPECT_EQ(now.now, Time::Us(3));
  EXPECT_EQ(now.until, Time::Us(9));
}

TEST(ProgressTest, ReplaysFollowOneAnotherWhileAThreadReads) {
  Progress progress;
  std::atomic<int64_t> most = 0;
  {
    const Ticker ticker(std::chrono::milliseconds(1), [&] {
      const Progress::Snapshot at = progress.Now();
      most = std::max<int64_t>(most, at.ops - at.all_ops);
    });
    for (int replay = 1; replay <= 500; ++replay) {
      progress.Begin(replay, replay, Time::Max());
      for (int host = 0; host < replay; ++host) progress.host(host)->Set(1, 1, Time::Us(replay));
    }
  }
  EXPECT_EQ(most, 0) << "a snapshot mixes two replays";
  EXPECT_EQ(progress.Now().ops, 500);
  EXPECT_EQ(progress.Now().now, Time::Us(500));
}

TEST(TickerTest, TicksUntilItIsDestroyed) {
  std::atomic<int> ticks = 0;
  {
    const Ticker ticker(std::chrono::milliseconds(1), [&] { ++ticks; });
    while (ticks < 3) std::this_thread::yield();
  }
  const int last = ticks;
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(ticks, last);
}

}  // namespace
}  // namespace drydock
