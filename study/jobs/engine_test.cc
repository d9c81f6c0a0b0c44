#include "study/jobs/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const Result<Engine> engine = ParseEngine(text);
  return engine.ok() ? "" : engine.error().message();
}

TEST(Engine, HasWhatItsUserStates) {
  EXPECT_EQ(ParseEngine("local").value().processes, 0);
  EXPECT_EQ(ParseEngine("local:8").value().processes, 8);
  EXPECT_TRUE(ParseEngine("slurm").value().options.empty());
  const Engine slurm = ParseEngine("slurm:partition=short,time=1-02:30:00").value();
  EXPECT_EQ(slurm.kind, Engine::Kind::kSlurm);
  EXPECT_THAT(slurm.options, ElementsAre("--partition=short", "--time=1-02:30:00"));
  EXPECT_EQ(ParseEngine("srun").value().kind, Engine::Kind::kSrun);
  EXPECT_EQ(ParseEngine("command:ssh a:b {job}").value().command, "ssh a:b {job}");
}

TEST(Engine, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf("slrm"), HasSubstr("no engine is called 'slrm'; did you mean 'slurm'?"));
  EXPECT_THAT(ErrorOf("slurm:partion=a"),
              HasSubstr("no option 'partion'; did you mean 'partition'?"));
  EXPECT_THAT(ErrorOf("local:0"), HasSubstr("expected a number of processes from 1 to 1024"));
  EXPECT_THAT(ErrorOf("local:two"), HasSubstr("local:two"));
  EXPECT_THAT(ErrorOf("command:ssh host"), HasSubstr("has no {job}"));
  EXPECT_THAT(ErrorOf("srun:x=1"), HasSubstr("no options"));
}

}  // namespace
}  // namespace drydock
