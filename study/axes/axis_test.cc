#include "study/axes/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock {
namespace {

using testing::ElementsAre;

std::string ErrorOf(const std::string& text) {
  const Result<Axis> axis = ParseAxis(text);
  return axis.ok() ? "" : axis.error().message();
}

Axis AxisFrom(const std::string& text) { return ParseAxis(text).value(); }

TEST(Axis, ListsValues) {
  const Axis axis = AxisFrom("parallel.tensor=1,2, 4");
  EXPECT_EQ(axis.key, "parallel.tensor");
  EXPECT_THAT(axis.values, ElementsAre("1", "2", "4"));
}

TEST(Axis, ExpandsRanges) {
  EXPECT_THAT(AxisFrom("cluster.hosts=8..11").values, ElementsAre("8", "9", "10", "11"));
  EXPECT_THAT(AxisFrom("cluster.hosts=8..40+16").values, ElementsAre("8", "24", "40"));
  EXPECT_THAT(AxisFrom("cluster.hosts=8..100*2").values, ElementsAre("8", "16", "32", "64"));
  EXPECT_THAT(AxisFrom("cluster.hosts=1..4*2,6,7..8").values,
              ElementsAre("1", "2", "4", "6", "7", "8"));
  // The last step would exceed the largest number.
  EXPECT_THAT(AxisFrom("a.b=9223372036854775806..9223372036854775807").values,
              ElementsAre("9223372036854775806", "9223372036854775807"));
}

TEST(Axis, KeepsCommasInsideBracketsAndQuotes) {
  EXPECT_THAT(AxisFrom("fabric.leaf.rate=\"200 Gbps\",400 Gbps").values,
              ElementsAre("200 Gbps", "400 Gbps"));
  EXPECT_THAT(AxisFrom("fabric.dimensions=[4, 4],[8, 2]").values, ElementsAre("[4, 4]", "[8, 2]"));
}

TEST(Axis, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("tensor=1"),
            "--over tensor=1: an axis is a key of the model or the cluster, such as "
            "parallel.tensor or cluster.hosts, not 'tensor'");
  EXPECT_EQ(ErrorOf("parallel.tensor"),
            "--over parallel.tensor: no '='; give values or ranges, separated by commas: 1,2,4 or "
            "8..64 or 8..64+8 or 8..64*2");
  EXPECT_EQ(ErrorOf("parallel.tensor=1,,2"),
            "--over parallel.tensor=1,,2: an empty value; give values or ranges, separated by "
            "commas: 1,2,4 or 8..64 or 8..64+8 or 8..64*2");
  EXPECT_EQ(ErrorOf("parallel.tensor=1,2,1"),
            "--over parallel.tensor=1,2,1: the value 1 appears twice");
  EXPECT_EQ(ErrorOf("parallel.tensor=8..1"),
            "--over parallel.tensor=8..1: '8..1': the range ends before it begins");
  EXPECT_EQ(ErrorOf("parallel.tensor=1..8*1"),
            "--over parallel.tensor=1..8*1: '1..8*1': the step of a range is a number from 2 on");
  EXPECT_EQ(ErrorOf("parallel.tensor=0..8*2"),
            "--over parallel.tensor=0..8*2: '0..8*2': a range with a factor begins at 1 or above");
  EXPECT_EQ(ErrorOf("parallel.tensor=[1,2"),
            "--over parallel.tensor=[1,2: '[1,2' has an open bracket");
  EXPECT_EQ(ErrorOf("parallel.tensor=1..1000000"),
            "--over parallel.tensor=1..1000000: '1..1000000': an axis has at most 100000 values");
}

}  // namespace
}  // namespace drydock
