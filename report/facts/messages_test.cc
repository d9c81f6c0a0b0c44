#include "report/facts/messages.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

TEST(Messages, ASendMeetsItsReceive) {
  const std::vector<SentMessage> messages = MessagesBetween(FakeRun(), {0, 2});
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].send.rank, 0);
  EXPECT_EQ(messages[0].receive.rank, 2);
  EXPECT_EQ(messages[0].receive.end, Time::Us(205));
  EXPECT_EQ(messages[1].send.rank, 2);
  EXPECT_EQ(messages[1].receive.rank, 0);
  EXPECT_EQ(messages[1].receive.end, Time::Us(450));
}

TEST(Messages, BothRanksAreAmongThoseAsked) {
  EXPECT_TRUE(MessagesBetween(FakeRun(), {0, 1}).empty());
  EXPECT_TRUE(MessagesBetween(FakeRun(), {2}).empty());
}

}  // namespace
}  // namespace drydock
