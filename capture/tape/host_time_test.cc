// "Which time of the host belongs to which entry, if another run measures it?"
#include "capture/tape/host_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/tape/testing/program_log.h"

namespace drydock::capture {
namespace {

using testing::ElementsAre;

// Launches kernels named by letters; a dot is an entry that nothing is asked by. Each entry takes
// 1 ns.
ProcessLog LogOf(const std::string& kernels) {
  ProgramLog program;
  for (const char kernel : kernels) {
    if (kernel == '.') {
      program.Add(EntryKind::kRecordEvent, {1, 0});
    } else {
      program.Launch(std::string(1, kernel), 8);
    }
  }
  return program.Read();
}

std::vector<int64_t> Times(const ProcessLog& log, const std::string& timed) {
  const ProcessLog other = LogOf(timed);
  const auto times = HostTimesIn(other, log, 0, log.entries().size());
  return times.value_or(std::vector<int64_t>{-1});
}

TEST(HostTime, OfTheRunItself) {
  const ProcessLog log = LogOf("a.b..c");
  EXPECT_THAT(HostTimes(log, 0, 6), ElementsAre(0, 2, 3));
  EXPECT_THAT(HostTimes(log, 2, 6), ElementsAre(2, 3));
}

TEST(HostTime, OfAnotherRunThatAsksTheSame) {
  const ProcessLog log = LogOf("a.b..c");
  EXPECT_THAT(Times(log, "abc"), ElementsAre(0, 1, 1));
}

TEST(HostTime, RunsThatDiffer) {
  // 20 times the same, and a branch that only the first run takes: its time is scaled by the half.
  std::string own = "a", other = "a";
  for (int i = 0; i < 20; ++i) {
    own += ".b";
    other += "b";
  }
  own.insert(21, "...x");
  other.insert(5, "yyy");  // and one that only the second takes
  const std::vector<int64_t> times = Times(LogOf(own), other);
  ASSERT_EQ(times.size(), 22u);
  EXPECT_EQ(times[11], 2);  // half of 4
  EXPECT_EQ(times[10], 1);
  EXPECT_EQ(times[12], 1);
}

TEST(HostTime, TheIterationIsSoughtFromTheNearerEnd) {
  // The second run starts otherwise.
  const ProcessLog log = LogOf("ssssabc.abc..abc");
  const ProcessLog timed = LogOf("tttttttttttttabcabcabc");
  const auto times = HostTimesIn(timed, log, 8, 11);
  ASSERT_TRUE(times.has_value());
  EXPECT_THAT(*times, ElementsAre(1, 1, 1));
}

TEST(HostTime, VariantsOfAKernelAreTheSame) {
  ProgramLog own, other;
  own.Launch("vectorized_elementwise_kernel<add>", 8);
  own.Launch("vectorized_elementwise_kernel<add>", 8);
  other.Launch("unrolled_elementwise_kernel<add>", 16);
  other.Launch("unrolled_elementwise_kernel<add>", 16);
  const ProcessLog log = own.Read(), timed = other.Read();
  EXPECT_TRUE(HostTimesIn(timed, log, 0, 2).has_value());
}

TEST(HostTime, AnotherProgram) {
  EXPECT_THAT(Times(LogOf("abcabc"), "defdef"), ElementsAre(-1));
  EXPECT_THAT(Times(LogOf("abcabc"), ""), ElementsAre(-1));
}

}  // namespace
}  // namespace drydock::capture
