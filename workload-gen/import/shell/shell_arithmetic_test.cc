#include "workload-gen/import/shell/shell_arithmetic.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

std::optional<int64_t> Evaluate(const std::string& expression) {
  return EvaluateArithmetic(expression, [](const std::string& name) {
    return name == "NODES" ? std::optional<int64_t>(4) : std::nullopt;
  });
}

TEST(ShellArithmetic, NumbersAndNames) {
  EXPECT_EQ(Evaluate("8*NODES"), 32);
  EXPECT_EQ(Evaluate(" ( $NODES + ${NODES} ) * 2 - 7 % 4 / 2 "), 15);
  EXPECT_EQ(Evaluate("-3 - -5"), 2);
}

TEST(ShellArithmetic, ComparisonsChoose) {
  EXPECT_EQ(Evaluate("($NODES > 1) ? 1 : 0"), 1);
  EXPECT_EQ(Evaluate("NODES <= 3 ? 7 : NODES == 4 ? 8 : 9"), 8);
  EXPECT_EQ(Evaluate("(NODES >= 4) + (NODES != 4) + (NODES < 4)"), 1);
}

TEST(ShellArithmetic, RejectsInvalidExpressions) {
  for (const char* expression : {"",
                                 "8*",
                                 "GPUS",
                                 "8 / 0",
                                 "8 % (4-NODES)",
                                 "(8",
                                 "8)",
                                 "8 8",
                                 "${NODES",
                                 "0x10",
                                 "08a",
                                 "9223372036854775807 + 1",
                                 "9223372036854775808",
                                 "-9223372036854775807 - 2",
                                 "4611686018427387904 * 2",
                                 "1 << 3",
                                 "1 ? 2",
                                 "1 = 1",
                                 "1 ! 2",
                                 "1 < "}) {
    EXPECT_EQ(Evaluate(expression), std::nullopt) << expression;
  }
  EXPECT_EQ(Evaluate(std::string(10000, '(')), std::nullopt);
  EXPECT_EQ(Evaluate(std::string(10000, '-')), std::nullopt);
  std::string choices;
  for (int i = 0; i < 10000; ++i) choices += "1 ? ";
  EXPECT_EQ(Evaluate(choices), std::nullopt);
}

}  // namespace
}  // namespace drydock
