#include "core/progress/progress_line.h"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <thread>

namespace drydock {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

const ToolInfo kTool = {"tool", "", "", "", false};

CommonOptions EachMillisecond() {
  CommonOptions common;
  common.progress_interval_ms = 1;
  return common;
}

void WaitForSomeTicks() { std::this_thread::sleep_for(std::chrono::milliseconds(200)); }

// Standard error of a test is a file: a log.
TEST(ProgressLineTest, ALogGetsWholeLines) {
  CaptureStderr();
  {
    int calls = 0;
    const ProgressLine line(kTool, EachMillisecond(), [&] {
      return std::string(++calls == 1 ? ""
                                      : "a\x1b"
                                        "b");
    });
    for (int i = 0; i < 200; ++i) {
      Say("another: message\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::istringstream said(GetCapturedStderr());
  int progress = 0, messages = 0;
  for (std::string line; std::getline(said, line);) {
    if (line == "tool: a?b") {
      ++progress;
    } else {
      ASSERT_EQ(line, "another: message");
      ++messages;
    }
  }
  EXPECT_GT(progress, 1);
  EXPECT_EQ(messages, 200);
}

TEST(ProgressLineTest, QuietSaysNothing) {
  CommonOptions common = EachMillisecond();
  common.quiet = true;
  CaptureStderr();
  {
    const ProgressLine line(kTool, common, [] { return "text"; });
    WaitForSomeTicks();
  }
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(TaskProgressTest, SaysWhatIsDoneAndWhatIsLeft) {
  CaptureStderr();
  TaskProgress progress(kTool, EachMillisecond());
  WaitForSomeTicks();
  progress.Show("reads");
  WaitForSomeTicks();
  progress.Show("plans", 0, 4);
  WaitForSomeTicks();
  progress.Show("plans", 2, 4);
  WaitForSomeTicks();
  progress.Show("plans", 4, 4);
  WaitForSomeTicks();
  progress.End();
  progress.Show("prints");
  WaitForSomeTicks();
  const std::string said = GetCapturedStderr();
  EXPECT_TRUE(said.starts_with("tool: reads (0 s so far)\n")) << said.substr(0, 100);
  EXPECT_NE(said.find("\ntool: 0 of 4 plans\n"), std::string::npos);
  EXPECT_NE(said.find("\ntool: 2 of 4 plans, about 0 s left\n"), std::string::npos);
  EXPECT_TRUE(said.ends_with("\ntool: 4 of 4 plans\n"));
}

}  // namespace
}  // namespace drydock
