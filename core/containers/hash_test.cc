#include "core/containers/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

namespace drydock {
namespace {

// The first numbers of SplitMix64 with seed 1234567, as its authors' code draws them.
TEST(HashTest, MixesAsSplitMix64Does) {
  static_assert(MixBits(1234567 + kSplitMixIncrement) == 6457827717110365317u);
  EXPECT_EQ(MixBits(1234567 + 2 * kSplitMixIncrement), 3203168211198807973u);
  EXPECT_EQ(MixBits(1234567 + 3 * kSplitMixIncrement), 9817491932198370423u);
}

TEST(HashTest, EveryBitChangesAboutHalfTheBits) {
  for (const uint64_t value : {uint64_t{1}, uint64_t{12345} << 32, UINT64_MAX}) {
    for (int bit = 0; bit < 64; ++bit) {
      const int changed = std::popcount(MixBits(value) ^ MixBits(value ^ uint64_t{1} << bit));
      EXPECT_GT(changed, 12);
      EXPECT_LT(changed, 52);
    }
  }
}

TEST(HashTest, OrderAndLengthMatter) {
  enum class Letter { kA, kB };
  std::set<uint64_t> hashes = {
      HashOf(),     HashOf(0),       HashOf(0, 0),        HashOf(1, 2),
      HashOf(2, 1), HashOf(1, 2, 0), HashOf(int64_t{-1}), HashOf(Letter::kB)};
  EXPECT_EQ(hashes.size(), 8u);
  EXPECT_EQ(HashCombine(HashOf(1), 2), HashOf(1, 2));
}

TEST(HashTest, ARangeHashesAsItsValues) {
  EXPECT_EQ(RangeHash()(std::vector<int64_t>{3, -4, 5}), HashOf(3, -4, 5));
  EXPECT_EQ(RangeHash()(std::vector<uint32_t>()), 0u);
}

}  // namespace
}  // namespace drydock
