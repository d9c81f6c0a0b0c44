#include "core/base/result.h"

#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

Error At(int line, int column, std::string source) {
  return Error("no", {"f.yaml", line, column}, std::move(source));
}

TEST(DiagnosticTest, ShowsTheKnownPartsOfTheLocation) {
  EXPECT_EQ(Error("no").ToString(), "error: no");
  EXPECT_EQ(Error("no", {"f.yaml", 0, 0}).ToString(), "f.yaml: error: no");
  EXPECT_EQ(Error("no", {"f.yaml", 3, 0}).ToString(), "f.yaml:3: error: no");
  EXPECT_EQ(Error("no", {"f.yaml", 3, 5}).ToString(), "f.yaml:3:5: error: no");
  EXPECT_EQ(Error("no", {"f.yaml", 0, 5}, "text").ToString(),
            "f.yaml: error: no\n"
            "  text\n"
            "      ^");
}

TEST(DiagnosticTest, TheCaretStandsUnderTheColumn) {
  EXPECT_EQ(At(1, 1, "key: 5").ToString(),
            "f.yaml:1:1: error: no\n"
            "  key: 5\n"
            "  ^");
  EXPECT_EQ(At(2, 6, "key: 5").ToString(),
            "f.yaml:2:6: error: no\n"
            "  key: 5\n"
            "       ^");
  EXPECT_EQ(At(2, 7, "key: 5").ToString(),
            "f.yaml:2:7: error: no\n"
            "  key: 5\n"
            "        ^")
      << "after the end of the line, where something is missing";
}

TEST(DiagnosticTest, TheLineOfTheCaretKeepsTabs) {
  EXPECT_EQ(At(1, 4, "\ta\tbad").ToString(),
            "f.yaml:1:4: error: no\n"
            "  \ta\tbad\n"
            "  \t \t^");
}

TEST(DiagnosticTest, LettersOfSeveralBytesAreOneColumn) {
  EXPECT_EQ(At(1, 9, "é: ü  x: y").ToString(),
            "f.yaml:1:9: error: no\n"
            "  é: ü  x: y\n"
            "          ^");
}

TEST(DiagnosticTest, LongLinesAreCutAroundTheColumn) {
  const std::string line = std::string(200, 'a') + "X" + std::string(200, 'b');
  EXPECT_EQ(At(1, 201, line).ToString(),
            "f.yaml:1:201: error: no\n"
            "  ..." +
                std::string(60, 'a') + "X" + std::string(39, 'b') + "...\n" + "  " +
                std::string(63, ' ') + "^");
  EXPECT_EQ(At(1, 5, line).ToString(),
            "f.yaml:1:5: error: no\n"
            "  " +
                std::string(100, 'a') + "...\n" + "      ^");
  EXPECT_EQ(At(1, 402, line).ToString(),
            "f.yaml:1:402: error: no\n"
            "  ..." +
                std::string(60, 'b') + "\n" + "  " + std::string(63, ' ') + "^");
}

TEST(DiagnosticTest, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(Error("'\x1b[2J' is not \x7f", {"f", 1, 2}, "a\x1b[2Jb").ToString(),
            "f:1:2: error: '?[2J' is not ?\n"
            "  a?[2Jb\n"
            "   ^");
}

TEST(PrintableTest, KeepsTextAndReplacesWhatATerminalObeys) {
  EXPECT_EQ(Printable("plain\ttext\né€😀"), "plain\ttext\né€😀");
  EXPECT_EQ(Printable("\x1b[31mred\a\r\x7f"), "?[31mred???");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m\xc2\xa0"),
            "?31m\xc2\xa0");
  EXPECT_EQ(Printable("\xc2"), "\xc2");
}

TEST(DiagnosticTest, EachDiagnosticHasItsOwnLine) {
  const Error error(std::vector<Diagnostic>{{"one", {"f", 1, 0}, {}}, {"two", {"f", 2, 0}, {}}});
  EXPECT_EQ(error.ToString(), "f:1: error: one\nf:2: error: two");
  EXPECT_EQ(error.message(), "one");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return Error("odd");
  return value / 2;
}
Result<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  return Half(half);
}
Status NeedsEven(int value) {
  RETURN_IF_ERROR(Half(value));
  return OkStatus();
}

TEST(ResultTest, MacrosPassErrorsOn) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(ErrorText(Quarter(6)), "error: odd");
  EXPECT_EQ(ErrorText(NeedsEven(3)), "error: odd");
  EXPECT_EQ(ErrorText(NeedsEven(2)), "ok");
}

TEST(ResultDeathTest, TheValueOfAnErrorIsAnInternalError) {
  EXPECT_EXIT(Half(3).value(), ::testing::ExitedWithCode(3), "internal error: .*odd");
  EXPECT_EXIT(CHECK(1 == 2), ::testing::ExitedWithCode(3),
              "internal error: .*result_test.cc:[0-9]+: 1 == 2 does not hold");
  EXPECT_EXIT(Error(std::vector<Diagnostic>{}), ::testing::ExitedWithCode(3), "internal error");
}

}  // namespace
}  // namespace drydock
