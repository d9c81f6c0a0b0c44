// Sequences of tensors whose segments are counted by hand from the rules of PyTorch's allocator.
#include "workload-gen/memory/caching_allocator.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr Bytes kRoom = Bytes(int64_t{1} << 40);

TEST(CachingAllocator, SmallAndLargeBlocksHaveTheirPools) {
  CachingAllocator allocator(kRoom);
  allocator.Allocate(1000);
  EXPECT_EQ(allocator.allocated(), Bytes(1024)) << "a multiple of 512 bytes";
  EXPECT_EQ(allocator.reserved(), Bytes(2 * kMiB));
  allocator.Allocate(5 * kMiB);
  EXPECT_EQ(allocator.allocated(), Bytes(1024 + 5 * kMiB));
  EXPECT_EQ(allocator.reserved(), Bytes(22 * kMiB)) << "a segment of 20 MiB";
  allocator.Allocate(kMiB);
  EXPECT_EQ(allocator.reserved(), Bytes(22 * kMiB)) << "the small pool has 2 MiB less 1 KiB";
  allocator.Allocate(kMiB);
  EXPECT_EQ(allocator.reserved(), Bytes(24 * kMiB)) << "the large pool gives no small block";
}

TEST(CachingAllocator, FromTenMebibytesOnASegmentHoldsOneBlock) {
  CachingAllocator allocator(kRoom);
  allocator.Allocate(25 * kMiB / 2);
  EXPECT_EQ(allocator.reserved(), Bytes(14 * kMiB)) << "a multiple of 2 MiB";
  EXPECT_EQ(allocator.allocated(), Bytes(25 * kMiB / 2)) << "1.5 MiB are split off";
  allocator.Allocate(27 * kMiB / 2);
  EXPECT_EQ(allocator.reserved(), Bytes(28 * kMiB));
  EXPECT_EQ(allocator.allocated(), Bytes(25 * kMiB / 2 + 14 * kMiB))
      << "up to 1 MiB is not split off, and counts as allocated";
}

TEST(CachingAllocator, TheBestFitIsTakenAndNeighborsJoin) {
  CachingAllocator allocator(kRoom);
  const auto first = allocator.Allocate(6 * kMiB);
  const auto second = allocator.Allocate(6 * kMiB);
  const auto third = allocator.Allocate(6 * kMiB);
  EXPECT_EQ(allocator.reserved(), Bytes(20 * kMiB));
  allocator.Free(first);
  allocator.Free(third);  // joins the 2 MiB behind it
  EXPECT_EQ(allocator.Allocate(8 * kMiB), third);
  EXPECT_EQ(allocator.Allocate(5 * kMiB), first) << "1 MiB is left, which is not split off";
  allocator.Free(second);
  EXPECT_EQ(allocator.Allocate(4 * kMiB), second);
  EXPECT_EQ(allocator.reserved(), Bytes(20 * kMiB));
  allocator.Free(first);
  allocator.Free(second);
  allocator.Free(third);
  EXPECT_EQ(allocator.allocated(), Bytes());
  EXPECT_EQ(allocator.Allocate(10 * kMiB), first) << "all are one block of 20 MiB again";
  EXPECT_EQ(allocator.reserved(), Bytes(20 * kMiB));
  EXPECT_EQ(allocator.max_allocated(), Bytes(20 * kMiB));
}

// Free blocks of different segments serve no larger tensor.
TEST(CachingAllocator, SegmentsAreNotJoined) {
  CachingAllocator allocator(kRoom);
  allocator.Free(allocator.Allocate(12 * kMiB));
  const auto twelve = allocator.Allocate(12 * kMiB);
  const auto other = allocator.Allocate(12 * kMiB);
  allocator.Free(twelve);
  allocator.Free(other);
  EXPECT_EQ(allocator.reserved(), Bytes(24 * kMiB));
  allocator.Allocate(14 * kMiB);
  EXPECT_EQ(allocator.reserved(), Bytes(38 * kMiB));
}

TEST(CachingAllocator, FreeSegmentsGoBackWhenMemoryRunsOut) {
  CachingAllocator allocator(Bytes(64 * kMiB));
  const auto kept = allocator.Allocate(20 * kMiB);
  allocator.Free(allocator.Allocate(30 * kMiB));
  EXPECT_EQ(allocator.reserved(), Bytes(50 * kMiB));
  allocator.Allocate(40 * kMiB);
  EXPECT_EQ(allocator.reserved(), Bytes(60 * kMiB));
  EXPECT_EQ(allocator.max_reserved(), Bytes(60 * kMiB));
  allocator.Allocate(10 * kMiB);
  EXPECT_EQ(allocator.reserved(), Bytes(70 * kMiB)) << "6 MiB more than there are";
  allocator.Free(kept);
  EXPECT_EQ(allocator.allocated(), Bytes(50 * kMiB));
}

}  // namespace
}  // namespace drydock
