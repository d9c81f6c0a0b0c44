#include "core/model/calls/slices.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// A ring under Simple, two-byte elements, buffers of 4 MiB: two slices, in multiples of 16
// elements, at least 1/32 of the two steps of 512 KiB that a slice may take.
Work SimpleRing() {
  Work work;
  work.slices = 2;
  work.slice_grain = 32;
  work.slice_bytes = 32768;
  work.slots = 4;
  return work;
}

TEST(SlicesTest, AChunkIsCutEvenly) {
  EXPECT_EQ(SliceBytes(SimpleRing(), 1 << 20), 512 << 10);
  EXPECT_EQ(SliceBytes(SimpleRing(), 300000), 150016);  // 300000 / 64 rounded up, times 32
  EXPECT_EQ(SliceCount(SimpleRing(), 300000), 2);
}

TEST(SlicesTest, SmallChunksAreNotCut) {
  EXPECT_EQ(SliceBytes(SimpleRing(), 40000), 32768);
  EXPECT_EQ(SliceCount(SimpleRing(), 40000), 2);
  EXPECT_EQ(SliceCount(SimpleRing(), 32768), 1);
  EXPECT_EQ(SliceCount(SimpleRing(), 2), 1);
  EXPECT_EQ(SlotsOfChunk(SimpleRing(), 2), 2);
}

TEST(SlicesTest, WithoutARuleAChunkMovesWhole) {
  EXPECT_EQ(SliceBytes(Work(), 12345), 12345);
  EXPECT_EQ(SliceCount(Work(), 12345), 1);
  EXPECT_EQ(SlotsOfChunk(Work(), 12345), 1);
}

TEST(SlicesTest, SlicesMayHaveAFixedSize) {
  Work work;
  work.slice_bytes = 1000;
  EXPECT_EQ(SliceBytes(work, 2500), 1000);
  EXPECT_EQ(SliceCount(work, 2500), 3);
  EXPECT_EQ(SliceCount(work, 999), 1);
}

TEST(SlicesTest, FlagsAddBytesOnTheWire) {
  EXPECT_EQ(WireBytes(Protocol::kSimple, 1001), 1001);
  EXPECT_EQ(WireBytes(Protocol::kLl, 8), 16);
  EXPECT_EQ(WireBytes(Protocol::kLl, 9), 32);
  EXPECT_EQ(WireBytes(Protocol::kLl128, 1), 2048);
  EXPECT_EQ(WireBytes(Protocol::kLl128, 1920), 2048);
  EXPECT_EQ(WireBytes(Protocol::kLl128, 1921), 4096);
}

}  // namespace
}  // namespace drydock
