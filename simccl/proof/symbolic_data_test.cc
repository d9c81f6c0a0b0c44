#include "simccl/proof/symbolic_data.h"

#include <gtest/gtest.h>

#include <optional>

namespace drydock {
namespace {

SymbolData Input(int member, int64_t at, int64_t count) {
  return SymbolData(InputOf(member, at, count));
}

SymbolData Zeros(int64_t count) { return SymbolData({count, 0, 0}); }

SymbolData Held(const SymbolBuffer& buffer, int64_t at, int64_t count) {
  return buffer.Read(at, count, [](int64_t, int64_t n) { return SymbolRun{n, 0, 0}; });
}

TEST(SymbolicDataTest, PiecesOfAnInputAddUpToTheInput) {
  SymbolData whole;
  for (int64_t at = 0; at < 100; at += 7)
    whole.Append(InputOf(3, at, std::min<int64_t>(7, 100 - at)));
  EXPECT_EQ(whole.runs().size(), 1u);
  EXPECT_EQ(whole.FirstDifference(Input(3, 0, 100)), std::nullopt);
  EXPECT_EQ(whole.Part(41, 9).FirstDifference(Input(3, 41, 9)), std::nullopt);
}

TEST(SymbolicDataTest, SumsOfDifferentTermsDiffer) {
  SymbolData sum = Input(0, 0, 10);
  sum.Add(Input(1, 0, 10));
  SymbolData other = Input(1, 0, 10);
  other.Add(Input(0, 0, 10));
  EXPECT_EQ(sum.FirstDifference(other), std::nullopt);
  other.Add(Input(0, 0, 10));
  EXPECT_EQ(sum.FirstDifference(other), 0);
}

TEST(SymbolicDataTest, FindsTheFirstDifference) {
  SymbolData moved = Input(0, 0, 6);
  moved.Append(InputOf(0, 7, 4));  // one element further
  EXPECT_EQ(moved.FirstDifference(Input(0, 0, 10)), 6);
  EXPECT_EQ(Input(0, 0, 10).FirstDifference(Input(1, 0, 10)), 0);
}

TEST(SymbolicDataTest, BufferHoldsTheLatestStore) {
  SymbolBuffer buffer;
  buffer.Store(10, Input(0, 10, 20));
  buffer.Store(15, Input(1, 15, 5));
  SymbolData expected = Zeros(10);
  expected.Append(InputOf(0, 10, 5));
  expected.Append(InputOf(1, 15, 5));
  expected.Append(InputOf(0, 20, 10));
  expected.Append({5, 0, 0});
  EXPECT_EQ(Held(buffer, 0, 35).FirstDifference(expected), std::nullopt);
  EXPECT_EQ(buffer.FirstStored(0, 10), std::nullopt);
  EXPECT_EQ(buffer.FirstStored(0, 11), 10);
  EXPECT_EQ(buffer.FirstStored(17, 3), 17);
  EXPECT_EQ(buffer.FirstStored(30, 100), std::nullopt);
  EXPECT_EQ(buffer.FirstStored(17, 0), std::nullopt);
}

}  // namespace
}  // namespace drydock
