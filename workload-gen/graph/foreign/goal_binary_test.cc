// "Does a binary GOAL schedule say the same as its text?"
#include "workload-gen/graph/foreign/goal_binary.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace drydock {
namespace {

std::string Bytes(uint64_t value, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

struct Dependents {
  std::vector<uint32_t> at_end, at_start;
};
std::string Op(int kind, uint32_t peer, uint64_t size, uint32_t tag, int cpu, uint32_t* before,
               const Dependents& dependents) {
  std::string out = Bytes(0, 4) + Bytes(static_cast<uint64_t>(kind), 1) + Bytes(peer, 4) +
                    Bytes(size, 8) + Bytes(tag, 4) + Bytes(static_cast<uint64_t>(cpu), 1) +
                    Bytes(0, 1);
  for (const auto* list : {&dependents.at_end, &dependents.at_start}) {
    out += Bytes(list->size(), 4) + Bytes(*before, 4);
    *before += static_cast<uint32_t>(list->size());
  }
  return out;
}

// Rank 0: a calc, then a send, then another calc that starts with the send. Rank 1: a receive.
std::string Schedule() {
  uint32_t before = 0;
  std::string first = Bytes(3, 4) + Bytes(1, 4) + Bytes(0, 4);
  first += Op(3, 0, 100, 0, 2, &before, {{1}, {}});
  first += Op(1, 1, 64, 7, 0, &before, {{}, {2}});
  first += Op(3, 0, 5, 0, 0, &before, {});
  first += Bytes(1, 4) + Bytes(2, 4);
  before = 0;
  const std::string second =
      Bytes(1, 4) + Bytes(1, 4) + Bytes(0, 4) + Op(2, 0, 64, 7, 0, &before, {});
  const uint64_t begin = 6 + 2 * 16, middle = begin + first.size();
  return Bytes(4223, 8) + Bytes(2, 4) + Bytes(2, 1) + Bytes(0, 1) + Bytes(begin, 8) +
         Bytes(middle, 8) + Bytes(middle, 8) + Bytes(middle + second.size(), 8) + first + second;
}

TEST(GoalBinaryTest, BecomesText) {
  ASSERT_TRUE(IsGoalBinary(Schedule()));
  EXPECT_FALSE(IsGoalBinary("num_ranks 2\n"));
  EXPECT_EQ(*GoalText(Schedule(), "s.bin"),
            "num_ranks 2\n"
            "rank 0 {\n"
            "l0: calc 100 cpu 2\n"
            "l1: send 64b to 1 tag 7 cpu 0 nic 0\n"
            "l2: calc 5 cpu 0\n"
            "l1 requires l0\n"
            "l2 irequires l1\n"
            "}\n"
            "rank 1 {\n"
            "l0: recv 64b from 0 tag 7 cpu 0 nic 0\n"
            "}\n");
}

TEST(GoalBinaryTest, EveryCutAndEveryWrongPlaceIsReported) {
  const std::string whole = Schedule();
  for (size_t size = 8; size < whole.size(); ++size) {
    const auto text = GoalText(whole.substr(0, size), "s.bin");
    ASSERT_FALSE(text.ok()) << size;
    EXPECT_EQ(text.error().ToString(),
              "s.bin: error: the binary schedule ends too early: it is damaged or cut");
  }
  const auto with = [&whole](size_t at, char value) {
    std::string changed = whole;
    changed[at] = value;
    const auto text = GoalText(changed, "s.bin");
    return text.ok() ? "" : text.error().message();
  };
  EXPECT_EQ(with(14, 1), "rank 0 does not begin where the one before it ends");
  const size_t op = 8 + 6 + 32 + 12;  // the first of rank 0
  EXPECT_EQ(with(op + 4, 9), "op 0 of rank 0 has the kind 9, which is not from 1 to 3");
  EXPECT_EQ(with(op + 39 + 5, 0), "op 1 of rank 0 has the peer 0, which is no other rank");
  EXPECT_EQ(with(op + 27, 1),
            "op 0 of rank 0 does not name the dependents that follow those of the op before it");
  EXPECT_EQ(with(op + 3 * 39, 3), "op 0 of rank 0 has the dependent 3, but there are 3 ops");
}

}  // namespace
}  // namespace drydock
