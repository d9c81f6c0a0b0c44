#include "study/axes/constraint.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

std::vector<Axis> Axes() {
  return {ParseAxis("parallel.tensor=1,2,4").value(), ParseAxis("parallel.pipeline=1,8").value(),
          ParseAxis("fabric.leaf.rate=200 Gbps,400 Gbps").value(),
          ParseAxis("fabric.spine.rate=200 Gbps,400 Gbps").value(),
          ParseAxis("training.recompute=none,full").value()};
}

bool Holds(const std::string& text, const std::vector<size_t>& values) {
  return Constraint::Parse(text, Axes()).value().Holds(values);
}

std::string ErrorOf(const std::string& text) {
  const Result<Constraint> constraint = Constraint::Parse(text, Axes());
  return constraint.ok() ? "" : constraint.error().message();
}

TEST(Constraint, ComparesValues) {
  EXPECT_TRUE(Holds("tensor * pipeline <= 8", {0, 1, 0, 0, 0}));
  EXPECT_FALSE(Holds("tensor * pipeline <= 8", {1, 1, 0, 0, 0}));
  EXPECT_TRUE(Holds("parallel.tensor == 4 || pipeline == 8", {2, 0, 0, 0, 0}));
  EXPECT_TRUE(Holds("pipeline % tensor == 0", {2, 1, 0, 0, 0}));
  EXPECT_FALSE(Holds("pipeline % tensor == 0", {2, 0, 0, 0, 0}));
}

TEST(Constraint, LeavesUnitsOut) {
  EXPECT_TRUE(Holds("fabric.leaf.rate >= fabric.spine.rate", {0, 0, 1, 0, 0}));
  EXPECT_FALSE(Holds("fabric.leaf.rate >= fabric.spine.rate", {0, 0, 0, 1, 0}));
}

TEST(Constraint, TakesPartOfAKey) {
  EXPECT_TRUE(Holds("leaf.rate >= spine.rate", {0, 0, 1, 0, 0}));
  EXPECT_FALSE(Holds("leaf.rate >= spine.rate", {0, 0, 0, 1, 0}));
}

TEST(Constraint, TakesTheRestOfFractions) {
  EXPECT_TRUE(Holds("tensor % 0.5 == 0", {0, 0, 0, 0, 0}));
  EXPECT_FALSE(Holds("tensor % 1.5 == 0", {0, 0, 0, 0, 0}));
  EXPECT_FALSE(Holds("pipeline % (tensor - tensor)", {0, 0, 0, 0, 0}));  // there is none
}

TEST(Constraint, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("tensr <= 8"),
            "constraint 'tensr <= 8': there is no axis 'tensr'; did you mean 'tensor'?");
  EXPECT_EQ(ErrorOf("rate <= 200"),
            "constraint 'rate <= 200': 'rate' may be fabric.leaf.rate or fabric.spine.rate; write "
            "more of the key");
  EXPECT_EQ(ErrorOf("recompute == 1"),
            "constraint 'recompute == 1': 'none' of the axis training.recompute is not a number");
  EXPECT_EQ(ErrorOf("tensor = 8"),
            "constraint 'tensor = 8': '=' at position 8 changes nothing; write '==' to compare");
  EXPECT_EQ(ErrorOf("tensor <= 8 && pipeline == 8"), "");
  EXPECT_EQ(ErrorOf("tensor <="),
            "constraint 'tensor <=': not an expression (Unexpected end of expression at position "
            "10)");
}

}  // namespace
}  // namespace drydock
