#include "workload-gen/import/shell/shell_arithmetic.h"

#include <gtest/gtest.h>

#include <map>

namespace drydock {
namespace {

// NODES is 4, OCTAL is 010, SUM is 1+2, LOOP is LOOP, A[2] is 7; other names are not known.
class Names : public ShellNumberNames {
 public:
  std::optional<std::string> Get(const std::string& name, std::optional<int64_t> index) override {
    const std::string key = index.has_value() ? name + "[" + std::to_string(*index) + "]" : name;
    const auto found = values.find(key);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  void Set(const std::string& name, std::optional<int64_t> index,
           std::optional<int64_t> value) override {
    const std::string key = index.has_value() ? name + "[" + std::to_string(*index) + "]" : name;
    values.erase(key);
    if (value.has_value()) values[key] = std::to_string(*value);
    if (!value.has_value()) lost += key + " ";
  }
  void Lose(const std::string& name) override { lost += name + "[] "; }

  std::map<std::string, std::string> values = {
      {"NODES", "4"}, {"OCTAL", "010"}, {"SUM", "1+2"}, {"LOOP", "LOOP"}, {"A[2]", "7"}};
  std::string lost;
};

std::optional<int64_t> Evaluate(const std::string& expression) {
  Names names;
  const ShellNumber number = EvaluateArithmetic(expression, &names);
  EXPECT_EQ(number.mistake, "") << expression;
  return number.value;
}

std::string MistakeOf(const std::string& expression) {
  Names names;
  const ShellNumber number = EvaluateArithmetic(expression, &names);
  EXPECT_EQ(number.value, std::nullopt) << expression;
  return number.mistake;
}

TEST(ShellArithmetic, NumbersAndNames) {
  EXPECT_EQ(Evaluate("8*NODES"), 32);
  EXPECT_EQ(Evaluate(" ( NODES + NODES ) * 2 - 7 % 4 / 2 "), 15);
  EXPECT_EQ(Evaluate("-3 - -5"), 2);
  EXPECT_EQ(Evaluate(""), 0);
  EXPECT_EQ(Evaluate("A[1 + 1]"), 7);
}

TEST(ShellArithmetic, Bases) {
  EXPECT_EQ(Evaluate("010 + 0x1f + 2#101 + 36#Z + 64#_"), 8 + 31 + 5 + 35 + 63);
  EXPECT_EQ(Evaluate("OCTAL * 2"), 16);
  EXPECT_EQ(Evaluate("SUM * 2"), 6);
}

TEST(ShellArithmetic, Operators) {
  EXPECT_EQ(Evaluate("(NODES > 1) ? 1 : 0"), 1);
  EXPECT_EQ(Evaluate("NODES <= 3 ? 7 : NODES == 4 ? 8 : 9"), 8);
  EXPECT_EQ(Evaluate("(NODES >= 4) + (NODES != 4) + (NODES < 4)"), 1);
  EXPECT_EQ(Evaluate("2 ** 3 ** 2"), 512);
  EXPECT_EQ(Evaluate("1 << 4 | 3 & 6 ^ 1"), 19);
  EXPECT_EQ(Evaluate("!5 + ~5 + +1"), -5);
  EXPECT_EQ(Evaluate("1 && 0 || 2, 7"), 7);
  EXPECT_EQ(Evaluate("0 && 1 / 0"), 0);
}

TEST(ShellArithmetic, Assigns) {
  Names names;
  EXPECT_EQ(EvaluateArithmetic("X = NODES++ + ++NODES, Y = X += 2, A[2] *= 2", &names).value, 14);
  EXPECT_EQ(names.values["NODES"], "6");
  EXPECT_EQ(names.values["X"], "12");
  EXPECT_EQ(names.values["Y"], "12");
  EXPECT_EQ(names.values["A[2]"], "14");
  EXPECT_EQ(EvaluateArithmetic("0 && (X = 1)", &names).value, 0);
  EXPECT_EQ(names.values["X"], "12");
  EXPECT_EQ(names.lost, "");
}

TEST(ShellArithmetic, WhatIsNotKnownIsLost) {
  Names names;
  EXPECT_EQ(EvaluateArithmetic("X = GPUS * 2", &names).value, std::nullopt);
  EXPECT_EQ(EvaluateArithmetic("GPUS && (NODES = 5)", &names).value, std::nullopt);
  EXPECT_EQ(EvaluateArithmetic("A[GPUS] = 5, 1", &names).value, std::nullopt);
  EXPECT_EQ(EvaluateArithmetic("Y = 8\x01 + 1", &names).value, std::nullopt);
  EXPECT_EQ(names.lost, "X NODES A[] Y ");
  for (const char* expression : {"9223372036854775807 + 1", "9223372036854775808", "GPUS || 0",
                                 "-9223372036854775807 - 2", "4611686018427387904 * 2"}) {
    EXPECT_EQ(Evaluate(expression), std::nullopt) << expression;
  }
}

TEST(ShellArithmetic, Mistakes) {
  EXPECT_EQ(MistakeOf("8 / 0"), "division by 0");
  EXPECT_EQ(MistakeOf("08"), "'08' is not a number of base 8");
  EXPECT_EQ(MistakeOf("8*"), "a number is missing at the end");
  EXPECT_EQ(MistakeOf("(8"), "expected ')'");
  EXPECT_EQ(MistakeOf("1 ? 2"), "expected ':' after '?'");
  EXPECT_EQ(MistakeOf("8 8"), "unexpected '8'");
  EXPECT_EQ(MistakeOf("LOOP"), "its variables refer to each other");
  EXPECT_EQ(MistakeOf("2 ** -1"), "an exponent less than 0");
  for (const char* expression :
       {"8 % (4-NODES)", "8)", "08a", "1 = 1", "1 ! 2", "1 < ", "65#1", "A[1", "12#", "$X"}) {
    EXPECT_NE(MistakeOf(expression), "") << expression;
  }
  EXPECT_NE(MistakeOf(std::string(10000, '(')), "");
  EXPECT_NE(MistakeOf(std::string(10001, '-')), "");
  std::string choices;
  for (int i = 0; i < 10000; ++i) choices += "1 ? ";
  EXPECT_NE(MistakeOf(choices), "");
}

}  // namespace
}  // namespace drydock
