#include "workload-gen/import/shell/shell_condition.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

// Evaluates a condition in which A is 8, S is "x y", E is empty, and other variables are unset.
ShellTruth Evaluate(const std::string& text) {
  ShellVariables variables;
  variables.Fix("A", "8");
  variables.Fix("S", "x y");
  variables.Fix("E", "");
  const ShellText characters = WithPlaces(text);
  std::vector<ShellText> words;
  for (size_t at = 0; at < characters.size(); ++at) {
    for (const ShellText& word : ShellWordReader(characters, &at, &variables).Read(true)) {
      words.push_back(word);
    }
  }
  EXPECT_TRUE(IsShellCondition(words));
  return EvaluateShellCondition(words, variables);
}

TEST(ShellTest, True) {
  for (const char* text : {"[ $A = 8 ]", "[[ $A == 8 ]]", "[ \"$S\" != x ]", "test $A -ge 8",
                           "[ -z $UNSET ]", "[ -z \"$E\" ]", "[ -n \"$S\" ]", "[ ! $A -lt 8 ]",
                           "[ $A -eq 8 -a -n x ]", "[ a = b -o $A -le 9 ]", "[ x ]", "[ -n ]"}) {
    EXPECT_EQ(Evaluate(text), ShellTruth::kTrue) << text;
  }
}

TEST(ShellTest, False) {
  for (const char* text : {"[ $A = 9 ]", "[ $A -gt 8 ]", "[ -n \"$UNSET\" ]", "[ ]", "[ \"\" ]",
                           "[ ! -z \"$E\" ]", "[ $UNSET = 1 -a a = b ]"}) {
    EXPECT_EQ(Evaluate(text), ShellTruth::kFalse) << text;
  }
}

TEST(ShellTest, Unknown) {
  for (const char* text : {"[ $UNSET = 1 ]", "[ -f x ]", "[[ $A == 8* ]]", "[ -z $(date) ]",
                           "[ a -eq b ]", "[ $A 8 = 8 ]", "[ $UNSET = 1 -o a = b ]"}) {
    EXPECT_EQ(Evaluate(text), ShellTruth::kUnknown) << text;
  }
}

TEST(ShellTest, Logic) {
  const ShellTruth values[] = {ShellTruth::kFalse, ShellTruth::kTrue, ShellTruth::kUnknown};
  for (const ShellTruth value : values) {
    EXPECT_EQ(And(ShellTruth::kFalse, value), ShellTruth::kFalse);
    EXPECT_EQ(And(value, ShellTruth::kTrue), value);
    EXPECT_EQ(Or(value, ShellTruth::kTrue), ShellTruth::kTrue);
    EXPECT_EQ(Or(ShellTruth::kFalse, value), value);
    EXPECT_EQ(Not(Not(value)), value);
  }
}

}  // namespace
}  // namespace drydock
