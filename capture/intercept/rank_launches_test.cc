#include "capture/intercept/rank_launches.h"

#include <gtest/gtest.h>

#include "capture/launch/testing/launching.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

// The command of rank 5 by what ranks 0 and `rank` start; or the error.
std::string Merged(const std::string& first, const std::string& other, int rank, int hosts,
                   int per_host) {
  Launch launch = LaunchOn(first, hosts, per_host);
  std::vector<std::string> notes;
  const Status merged = MergeRanks(LaunchOn(other, hosts, per_host), rank, &launch, &notes);
  return merged.ok() ? Quoted(CommandOf(launch, 5)) : merged.error().message();
}

TEST(MergeRanks, FindsTheNumbersOfARank) {
  EXPECT_EQ(Merged("p a.py", "p a.py", 31, 4, 8), "p a.py");
  EXPECT_EQ(Merged("p a.py --rank 0 --local=0 -n0", "p a.py --rank 31 --local=7 -n3", 31, 4, 8),
            "p a.py --rank 5 --local=5 -n0");
  EXPECT_EQ(Merged("p out0.log", "p out10.log", 10, 2, 8), "p out5.log");
  EXPECT_EQ(Merged("p --node 0 --local 0", "p --node 3 --local 3", 15, 4, 4),
            "p --node 1 --local 1");
  EXPECT_EQ(
      Merged("p --seed 7", "p --seed 9", 31, 4, 8),
      "rank 0 starts its program with '7' and rank 31 with '9'; a capture needs words that are "
      "the same, or numbers of the rank");
  EXPECT_EQ(Merged("p a", "p a b", 31, 4, 8),
            "rank 0 starts 'p a' and rank 31 'p a b'; a capture needs one command for all ranks");
}

TEST(MergeRanks, FindsTheVariablesOfARank) {
  Launch launch = LaunchOn("p", 4, 8);
  launch.environment = {{"MY_LOCAL", "0"}, {"SEED", "3"}, {"SAME", "x"}, {"RANK", "0"}};
  Launch other = LaunchOn("p", 4, 8);
  other.environment = {{"MY_LOCAL", "7"}, {"SEED", "4"}, {"SAME", "x"}, {"RANK", "31"}};
  std::vector<std::string> notes;
  ASSERT_TRUE(MergeRanks(other, 31, &launch, &notes).ok());
  EXPECT_EQ(ValueOf(EnvironmentOf(launch, 12), "MY_LOCAL"), "4");
  EXPECT_EQ(Join(notes, "\n"),
            "SEED is '3' for rank 0 and '4' for rank 31; the capture gives all ranks the first");
}

TEST(MergeRanks, NotesWhatDiffersOtherwise) {
  Launch launch = LaunchOn("p", 1, 8);
  launch.environment = {{"GONE", "x"}, {"PWD", "/a"}};
  launch.folder = "/a";
  Launch other = LaunchOn("p", 1, 8);
  other.environment = {{"MORE", "y"}, {"PWD", "/b"}};
  other.folder = "/b";
  std::vector<std::string> notes;
  ASSERT_TRUE(MergeRanks(other, 3, &launch, &notes).ok());
  EXPECT_EQ(Join(notes, "\n"),
            "rank 0 starts in /a and rank 3 in /b; the capture starts all in the first\n"
            "GONE is 'x' for rank 0 and not set for rank 3; the capture gives all ranks the first\n"
            "MORE is not set for rank 0 and 'y' for rank 3; the capture gives all ranks the first");
}

TEST(SameLaunch, IgnoresTheHostThatItIsCalledOn) {
  Launch one = LaunchOn("p", 4, 8), other = one;
  one.environment = {{"NODE_RANK", "0"}, {"LR", "1"}};
  other.environment = {{"NODE_RANK", "3"}, {"LR", "1"}};
  EXPECT_TRUE(SameLaunch(one, other));
  Set(&other.environment, "LR", "2");
  EXPECT_FALSE(SameLaunch(one, other));
  EXPECT_EQ(DifferentVariables(one, other), std::vector<std::string>{"LR"});
}

}  // namespace
}  // namespace drydock::capture
