#include "core/model/shared_times.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

TEST(SharedTimes, ACopySharesUntilEitherIsWritten) {
  SharedTimes a = {Time::Us(1), Time::Us(2)};
  SharedTimes b = a;
  const SharedTimes& read = b;
  EXPECT_EQ(read[1], Time::Us(2));
  EXPECT_TRUE(a.SharesWith(b)) << "reading a constant copies nothing";
  b[1] = Time::Us(3);
  EXPECT_FALSE(a.SharesWith(b));
  EXPECT_EQ(a.get(), std::vector<Time>({Time::Us(1), Time::Us(2)}));
  EXPECT_EQ(b.get(), std::vector<Time>({Time::Us(1), Time::Us(3)}));
  b[1] = Time::Us(2);
  EXPECT_EQ(a, b) << "equal without sharing";
  SharedTimes c = a;
  a.push_back(Time::Us(9));
  EXPECT_EQ(c, b);
  EXPECT_EQ(a.size(), 3u);
}

}  // namespace
}  // namespace drydock
