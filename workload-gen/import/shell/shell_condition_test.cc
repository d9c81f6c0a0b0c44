#include "workload-gen/import/shell/shell_condition.h"

#include <gtest/gtest.h>

#include "workload-gen/import/shell/shell_parser.h"

namespace drydock {
namespace {

// Evaluates a condition in which A is 8, S is "x y", E is empty, and other variables are unset.
ShellAnswer Answer(const std::string& text) {
  ShellSession session;
  session.files.push_back({"run.sh", text});
  ShellState state(&session);
  state.Fix("A", "8");
  state.Fix("S", "x y");
  state.Fix("E", "");
  const ShellText characters = WithPlaces(text);
  ShellParser parser(characters);
  const ShellCommandPtr line = parser.Next();
  EXPECT_FALSE(parser.failure().has_value()) << text;
  if (line == nullptr) return {};
  const ShellCommand& command = *line->children[0];
  ShellExpander expander(&state);
  if (command.kind == ShellCommand::Kind::kTest) {
    return EvaluateDoubleTest(command.test, &state, &expander);
  }
  std::vector<ShellText> words;
  for (const ShellArgument& argument : command.arguments) {
    for (const ShellText& word : expander.Fields(argument.word)) words.push_back(word);
  }
  return EvaluateTest(words, session);
}

ShellTruth Evaluate(const std::string& text) { return Answer(text).truth; }

TEST(ShellTest, True) {
  for (const char* text : {"[ $A = 8 ]",
                           "[[ $A == 8 ]]",
                           "[ \"$S\" != x ]",
                           "test $A -ge 8",
                           "[ -z $UNSET ]",
                           "[ -z \"$E\" ]",
                           "[ -n \"$S\" ]",
                           "[ ! $A -lt 8 ]",
                           "[ $A -eq 8 -a -n x ]",
                           "[ a = b -o $A -le 9 ]",
                           "[ x ]",
                           "[ -n ]",
                           "[ -n $UNSET ]",
                           "[[ $A == [7-9] ]]",
                           "[[ -z $UNSET && ( a != b || a == b ) ]]",
                           "[ 08 -eq $A ]",
                           "[[ 010 -eq $A ]]",
                           "[[ $S == x* ]]",
                           "[[ ! -v UNSET ]]",
                           "[[ -v A ]]",
                           "[ $# -eq 0 ]",
                           "[[ \"a*\" == 'a*' ]]"}) {
    EXPECT_EQ(Evaluate(text), ShellTruth::kTrue) << text;
  }
}

TEST(ShellTest, False) {
  for (const char* text :
       {"[ $A = 9 ]", "[ $A -gt 8 ]", "[ -n \"$UNSET\" ]", "[ ]", "[ \"\" ]", "[ ! -z \"$E\" ]",
        "[ $UNSET = 1 -a a = b ]", "[[ $A == 8? ]]", "[[ $S == 'x*' ]]", "[[ -n $UNSET ]]",
        "[[ a == b && $A -eq $(nproc) ]]", "[ $# -gt 0 ]"}) {
    EXPECT_EQ(Evaluate(text), ShellTruth::kFalse) << text;
  }
}

TEST(ShellTest, Unknown) {
  for (const char* text : {"[ $UNSET = 1 ]", "[ -f x ]", "[ $A = 8* ]", "[ -z $(date) ]",
                           "[ a -eq b ]", "[ $A 8 = 8 ]", "[ $UNSET = 1 -o a = b ]",
                           "[[ abc =~ b ]]", "[[ $S == +(x) ]]", "[ a = a", "[ -z \"$HOME\" ]"}) {
    EXPECT_EQ(Evaluate(text), ShellTruth::kUnknown) << text;
  }
}

// The answer holds only if the variable is empty.
TEST(ShellTest, Assumes) {
  for (const char* text : {"[ -z \"$UNSET\" ]", "[[ -n $UNSET ]]", "[ -n $UNSET ]", "[ $# -gt 0 ]",
                           "[[ -v UNSET ]]"}) {
    EXPECT_TRUE(Answer(text).assumed) << text;
  }
  EXPECT_FALSE(Answer("[ -z \"$E\" ]").assumed);
}

TEST(ShellTest, Logic) {
  const ShellTruth values[] = {ShellTruth::kFalse, ShellTruth::kTrue, ShellTruth::kUnknown};
  for (const ShellTruth value : values) {
    EXPECT_EQ(And(ShellTruth::kFalse, value), ShellTruth::kFalse);
    EXPECT_EQ(And(value, ShellTruth::kTrue), value);
    EXPECT_EQ(Or(ShellTruth::kTrue, value), ShellTruth::kTrue);
    EXPECT_EQ(Or(value, ShellTruth::kFalse), value);
    EXPECT_EQ(Not(Not(value)), value);
  }
}

}  // namespace
}  // namespace drydock
