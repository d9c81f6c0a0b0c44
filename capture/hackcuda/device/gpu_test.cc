#include "capture/hackcuda/device/gpu.h"

#include <gtest/gtest.h>

#include "capture/hackcuda/testing/pretended.h"

namespace drydock::hackcuda {
namespace {

TEST(Gpu, AttributesAreThoseOfTheCluster) {
  int value = 0;
  EXPECT_TRUE(AttributeOf(kSms, 0, &value));
  EXPECT_EQ(value, 132);
  EXPECT_TRUE(AttributeOf(kMajor, 0, &value));
  EXPECT_EQ(value, 9);
  EXPECT_TRUE(AttributeOf(kSharedPerBlockOptin, 0, &value));
  EXPECT_EQ(value, 232448);
  EXPECT_FALSE(AttributeOf(9999, 0, &value));
}

TEST(Gpu, AnUnknownCapabilityIsTheNextLower) {
  EXPECT_EQ(CapabilityOf(87).number, 86);
  EXPECT_EQ(CapabilityOf(999).number, 120);
  EXPECT_EQ(CapabilityOf(10).number, 70);
}

TEST(Gpu, BlocksOfAnSm) {
  EXPECT_EQ(BlocksPerSm(1024, 0), 2);
  EXPECT_EQ(BlocksPerSm(32, 0), 32);
  EXPECT_EQ(BlocksPerSm(128, 100000), 2);  // of 233472 bytes, with 1024 of the system's each
  EXPECT_EQ(BlocksPerSm(128, 240000), 0);
}

}  // namespace
}  // namespace drydock::hackcuda
