// Which calls are recorded, left out, and played after all. The tests play the hosts and the
// network; replay_property_test.cc has the real ones.
#include "exec-engine/index/spanning_calls.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

using Traffic = ForgetfulNetwork::Traffic;

class FakeNetwork final : public ForgetfulNetwork {
 public:
  bool Forgets() const override { return true; }
  void Count(const Traffic& traffic) override {
    counted_.messages += traffic.messages;
    counted_.bytes += traffic.bytes;
  }
  Traffic traffic() const override { return counted_; }
  void CatchUp(Time from, const std::function<void()>& begin) override {
    caught_up_from_.push_back(from);
    begin();
  }

  Traffic counted_;
  std::vector<Time> caught_up_from_;
};

class FakeHost final : public SpanningCalls::Host {
 public:
  explicit FakeHost(int number) : number_(number) {}
  int number() const override { return number_; }
  SpanningCalls::Part Moved() const override {
    ++asked_;  // when a recording begins, and when it ends
    return moved_;
  }
  void LeaveOut(CallKey key, Time first, const SpanningCalls::Known& known,
                const SpanningCalls::Part& part) override {
    left_out_.push_back(key);
    first_ = first;
    known_ = known;
    part_ = part;
  }
  void PlayAfterAll(CallKey key, const SpanningCalls::Part&) override { played_.push_back(key); }

  const int number_;
  SpanningCalls::Part moved_;
  mutable int asked_ = 0;
  std::vector<CallKey> left_out_, played_;
  Time first_;
  SpanningCalls::Known known_;
  SpanningCalls::Part part_;
};

// Two hosts with one member each. A call launches for 5 us, then moves 3 messages of 10 bytes and 2
// slices on host 0, 4 on host 1. It ends 50 us after its first arrival, on host 0 10 us earlier.
class SpanningCallsTest : public ::testing::Test {
 protected:
  static constexpr Workload::Use kUse = {7, 3};
  static constexpr Time kLaunch = Time::Us(5), kLast = Time::Us(50);

  void Begin(CallKey key, int host, Time now) {
    calls_.Begin(&hosts_[host], kUse, key, 2, now, now + kLaunch);
    calls_.Arrive(key, host, now);
  }
  // Returns whether the call was left out when its second member arrived.
  bool Arrive(CallKey key, Time first, Time offset) {
    const size_t before = hosts_[0].left_out_.size();
    Begin(key, 0, first);
    Begin(key, 1, first + offset);
    return hosts_[0].left_out_.size() > before;
  }
  // The engines and the network play the call.
  void Play(CallKey key, Time first) {
    network_.Count({3, 30});
    hosts_[0].moved_.slices += 2;
    hosts_[1].moved_.slices += 4;
    calls_.WillEnd(key, 0, first + kLast - Time::Us(10), first + Time::Us(20));
    calls_.WillEnd(key, 1, first + kLast, first + Time::Us(30));
    calls_.Drained(&hosts_[0], key, first + Time::Us(45));
    End(key);
    calls_.Drained(&hosts_[1], key, first + Time::Us(55));
  }
  void End(CallKey key) {
    calls_.Ended(key);
    calls_.Ended(key);
  }
  void ArriveAndPlay(CallKey key, Time first, Time offset) {
    ASSERT_FALSE(Arrive(key, first, offset));
    Play(key, first);
  }

  FakeNetwork network_;
  FakeHost hosts_[2] = {FakeHost(0), FakeHost(1)};
  SpanningCalls calls_{&network_};
};

TEST_F(SpanningCallsTest, TheSecondCallWithTheSameOffsetsIsLeftOut) {
  ArriveAndPlay(1, Time::Us(100), Time::Us(2));
  ASSERT_TRUE(Arrive(2, Time::Us(900), Time::Us(2)));
  EXPECT_EQ(hosts_[0].left_out_, std::vector<CallKey>{2});
  EXPECT_EQ(hosts_[1].left_out_, std::vector<CallKey>{2});
  EXPECT_EQ(hosts_[1].first_, Time::Us(900));
  EXPECT_EQ(hosts_[0].known_.end, (std::vector<Time>{Time::Us(40), kLast}));
  EXPECT_EQ(hosts_[0].known_.ready, (std::vector<Time>{Time::Us(20), Time::Us(30)}));
  EXPECT_EQ(hosts_[0].known_.last_end, kLast);
  EXPECT_EQ(hosts_[0].part_.drained, Time::Us(45));
  EXPECT_EQ(hosts_[0].part_.slices, 2);
  EXPECT_EQ(hosts_[1].part_.drained, Time::Us(55));
  EXPECT_EQ(hosts_[1].part_.slices, 4);
  EXPECT_EQ(network_.counted_.messages, 6) << "as if both had been sent";
  EXPECT_EQ(network_.counted_.bytes, 60);
  End(2);
  EXPECT_TRUE(Arrive(3, Time::Us(2000), Time::Us(2)));
}

TEST_F(SpanningCallsTest, OtherOffsetsArePlayed) {
  ArriveAndPlay(1, Time::Us(100), Time::Us(2));
  ArriveAndPlay(2, Time::Us(900), Time::Us(3));
  EXPECT_TRUE(Arrive(3, Time::Us(1900), Time::Us(3)));
}

// When the first kernel has been launched, something may have moved.
TEST_F(SpanningCallsTest, AMemberThatArrivesAfterTheFirstLaunchIsTooLate) {
  ArriveAndPlay(1, Time::Us(100), kLaunch);
  ArriveAndPlay(2, Time::Us(900), kLaunch);
  EXPECT_FALSE(Arrive(3, Time::Us(1900), kLaunch));
}

TEST_F(SpanningCallsTest, ACallThatSomethingElseMeetsIsNotKept) {
  ASSERT_FALSE(Arrive(1, Time::Us(100), Time()));
  calls_.TakePorts(Time::Us(100) + kLast);
  calls_.GivePortsBack();
  Play(1, Time::Us(100));
  ASSERT_FALSE(Arrive(2, Time::Us(900), Time()));
  calls_.TakePorts(Time::Us(900) + kLast + Time::Ps(1));  // after its end
  calls_.GivePortsBack();
  Play(2, Time::Us(900));
  EXPECT_TRUE(Arrive(3, Time::Us(1900), Time()));
}

TEST_F(SpanningCallsTest, NothingIsLeftOutWhileSomethingElseRuns) {
  ArriveAndPlay(1, Time::Us(100), Time());
  calls_.TakePorts(Time::Us(300));
  ArriveAndPlay(2, Time::Us(900), Time());
  calls_.GivePortsBack();
  EXPECT_TRUE(Arrive(3, Time::Us(1900), Time()));
}

TEST_F(SpanningCallsTest, ACallThatMeetsOneThatWasLeftOutIsPlayedAfterAll) {
  ArriveAndPlay(1, Time::Us(100), Time());
  ASSERT_TRUE(Arrive(2, Time::Us(900), Time()));
  Begin(3, 0, Time::Us(900) + kLast - kLaunch);  // takes ports when the other one ends
  EXPECT_EQ(network_.caught_up_from_, std::vector<Time>{Time::Us(900)});
  EXPECT_EQ(hosts_[0].played_, std::vector<CallKey>{2});
  EXPECT_EQ(hosts_[1].played_, std::vector<CallKey>{2});
  EXPECT_EQ(network_.counted_.messages, 3) << "until it is sent";
  calls_.TakePorts(Time::Us(900) + kLast);
  EXPECT_EQ(hosts_[0].played_.size(), 1u) << "once";
}

TEST_F(SpanningCallsTest, ACallThatBeginsAfterTheEndMeetsNothing) {
  ArriveAndPlay(1, Time::Us(100), Time());
  ASSERT_TRUE(Arrive(2, Time::Us(900), Time()));
  Begin(3, 0, Time::Us(900) + kLast - kLaunch + Time::Ps(1));
  EXPECT_TRUE(network_.caught_up_from_.empty());
}

// A member without anything to do ends before the last one arrives, and its host is drained.
TEST_F(SpanningCallsTest, ACallWithAnIdleMemberIsPlayed) {
  for (CallKey key = 1; key <= 3; ++key) {
    const Time first = Time::Us(1000 * static_cast<int64_t>(key));
    Begin(key, 0, first);
    calls_.WillEnd(key, 0, first + kLaunch, first);
    calls_.Drained(&hosts_[0], key, first);
    Begin(key, 1, first);
    EXPECT_TRUE(hosts_[0].left_out_.empty());
    calls_.WillEnd(key, 1, first + kLast, first);
    End(key);
    calls_.Drained(&hosts_[1], key, first + kLast);
  }
  EXPECT_EQ(hosts_[0].asked_, 0) << "a recording that would never end";
  ArriveAndPlay(4, Time::Us(8000), Time());
  EXPECT_TRUE(Arrive(5, Time::Us(9000), Time())) << "other calls are not affected";
}

}  // namespace
}  // namespace drydock
