// "What is the largest of many draws?"
#include "core/base/order_statistics.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

// From a table of order statistics (Harter 1961).
TEST(OrderStatistics, ExpectedMaximumOfNormalDraws) {
  EXPECT_EQ(ExpectedMaxSigma(0), 0);
  EXPECT_EQ(ExpectedMaxSigma(1), 0);
  EXPECT_NEAR(ExpectedMaxSigma(2), 0.5642, 0.03);
  EXPECT_NEAR(ExpectedMaxSigma(8), 1.4236, 0.015);
  EXPECT_NEAR(ExpectedMaxSigma(100), 2.5076, 0.01);
  EXPECT_NEAR(ExpectedMaxSigma(1000), 3.2414, 0.015);
  for (int n = 2; n < 1 << 24; n *= 2) EXPECT_LT(ExpectedMaxSigma(n), ExpectedMaxSigma(2 * n));
}

}  // namespace
}  // namespace drydock
