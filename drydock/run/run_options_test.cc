#include "drydock/run/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(const std::vector<std::string>& words) {
  const Result<RunOptions> options = ParseRunOptions(words);
  return options.ok() ? "" : options.error().message();
}

TEST(RunOptions, AreReadInAnyOrderAndForm) {
  const Result<RunOptions> options =
      ParseRunOptions({"--set", "a.b=1", "m", "--out=x y", "--set=c.d=2 x", "-q", "--", "-c"});
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options->inputs, ElementsAre("m", "-c"));
  EXPECT_EQ(options->out, "x y");
  EXPECT_THAT(options->workload_args, ElementsAre("--set", "a.b=1", "--set", "c.d=2 x"));
  EXPECT_THAT(options->common_args, ElementsAre("-q"));
  EXPECT_EQ(options->NetworkOrDefault(), "packet");
}

TEST(RunOptions, AWorkloadStartsAtTheSecondStage) {
  const Result<RunOptions> options = ParseRunOptions({"--workload", "runs/x"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->first_stage, 1);
  EXPECT_EQ(options->out, "runs/x");
}

TEST(RunOptions, RefuseWhatMeansNothing) {
  EXPECT_EQ(ErrorOf({"m", "c", "--until", "5"}), "--until needs a time like '5 ms', not '5'");
  EXPECT_EQ(ErrorOf({"m", "c", "--until", "ms"}), "--until needs a time like '5 ms', not 'ms'");
  EXPECT_EQ(ErrorOf({"m", "c", "--threads", "1025"}),
            "--threads needs a number from 1 to 1024 or auto, not '1025'");
  EXPECT_EQ(ErrorOf({"m", "c", "--set", ".b=1"}), "--set needs SECTION.KEY=VALUE, not '.b=1'");
  EXPECT_EQ(ErrorOf({"m", "c", "--set", "a.=1"}), "--set needs SECTION.KEY=VALUE, not 'a.=1'");
  EXPECT_EQ(ErrorOf({"m", "c", "--strict=yes"}), "--strict takes no value");
  EXPECT_EQ(ErrorOf({"m", "c", "--quite"}), "unknown option '--quite'; did you mean '--quiet'?");
}

TEST(RunOptions, HelpNamesTheCommandAsItIsCalled) {
  EXPECT_THAT(RunHelp("drydock run"), HasSubstr("\n  drydock run MODEL CLUSTER [options]\n"));
  EXPECT_THAT(RunHelp("./run_pipeline.sh"), HasSubstr("\n  ./run_pipeline.sh MODEL CLUSTER"));
  EXPECT_TRUE(RunHelp("./run_pipeline.sh").starts_with("run_pipeline.sh: predicts"));
  for (const std::string& name : RunOptionNames(false)) {
    EXPECT_THAT(RunHelp("drydock run"), HasSubstr(name)) << name;
  }
}

}  // namespace
}  // namespace drydock
