#include "report/inputs/inputs.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

std::string CheckError(const Inputs& inputs) {
  const Status status = CheckTimeline(inputs, "run/4-timeline.pb");
  return status.ok() ? "" : status.error().ToString();
}

TEST(CheckTimeline, AcceptsAConsistentTimeline) { EXPECT_EQ(CheckError(FakeRun()), ""); }

TEST(CheckTimeline, PartsMustAddUpToThePicosecond) {
  Inputs inputs = FakeRun();
  inputs.timeline.accounts[2].bubble += Time::Ps(1);
  EXPECT_EQ(
      CheckError(inputs),
      "run/4-timeline.pb: error: rank 2: the parts of its account add up to 600000001 ps, but the "
      "iteration takes 600000000 ps; run exec-engine again");
}

TEST(CheckTimeline, PartsMayNotBeNegative) {
  Inputs inputs = FakeRun();
  inputs.timeline.accounts[0].idle -= Time::Us(1);
  inputs.timeline.accounts[0].bubble += Time::Us(1);
  EXPECT_EQ(CheckError(inputs),
            "run/4-timeline.pb: error: rank 0: its idle is negative (-1000000 ps); run exec-engine "
            "again");
}

TEST(CheckTimeline, OpsMayNotEndAfterTheIteration) {
  Inputs inputs = FakeRun();
  inputs.timeline.ranks[1].end[4] += Time::Ps(1);
  EXPECT_EQ(CheckError(inputs),
            "run/4-timeline.pb: error: rank 1, op 'layer.backward mb0 layer0': it ends after the "
            "iteration; run exec-engine again");
}

TEST(CheckTimeline, OpsMayNotEndBeforeTheyStart) {
  Inputs inputs = FakeRun();
  inputs.timeline.ranks[1].ready[1] = Time::Us(200);
  EXPECT_EQ(CheckError(inputs),
            "run/4-timeline.pb: error: rank 1, op 'tp.all-reduce mb0 layer0': it ends before it "
            "starts; run exec-engine again");
}

TEST(CheckTimeline, RejectsAnIterationOfNoTime) {
  Inputs inputs = FakeRun();
  inputs.timeline.iteration = Time();
  EXPECT_EQ(CheckError(inputs),
            "run/4-timeline.pb: error: the iteration takes no time; run exec-engine again");
}

TEST(CheckTimeline, RejectsCallsWithoutAPlan) {
  Inputs inputs = FakeRun();
  inputs.workload.group_of_rank[0][1] = -1;
  EXPECT_EQ(CheckError(inputs),
            "run/4-timeline.pb: error: rank 1, op 'tp.all-reduce mb0 layer0': the flow plan "
            "has no plan for this call in the rank's group; run exec-engine again");
}

TEST(CheckTimeline, MessagesAreBetweenMembersOfTheGroup) {
  Inputs inputs = FakeRun();
  inputs.workload.calls[1].peer = 2;
  EXPECT_EQ(CheckError(inputs),
            "run/4-timeline.pb: error: rank 0, op 'pp-next.send mb0': its sender or receiver is "
            "not in the group; run exec-engine again");
}

class ReadInputsTest : public testing::Test {
 protected:
  void SetUp() override { WriteFakeRun(FakeRun(), run_); }
  void TearDown() override { std::filesystem::remove_all(run_); }

  std::string ErrorWithout(const std::string& name) {
    std::filesystem::remove_all(run_ + "/" + name);
    return ReadInputs(run_).error().ToString();
  }

  const std::string run_ = FreshDirectory("inputs");
};

TEST_F(ReadInputsTest, ReadsWhatWasWritten) {
  const Result<Inputs> inputs = ReadInputs(run_);
  ASSERT_TRUE(inputs.ok()) << inputs.error().ToString();
  EXPECT_EQ(inputs->timeline.iteration, Time::Us(600));
  EXPECT_EQ(inputs->plan_of(0, 1)->works[0].channels, 4);
  EXPECT_EQ(inputs->plan_of(0, 3), nullptr);
}

TEST_F(ReadInputsTest, SaysWhichToolToRunFirst) {
  EXPECT_EQ(ErrorWithout("4-timeline.pb"),
            run_ + "/4-timeline.pb: error: there is no timeline yet; run exec-engine first");
  EXPECT_EQ(ErrorWithout("3-times.pb"),
            run_ + "/3-times.pb: error: there are no kernel times yet; run compute-sim first");
  EXPECT_EQ(ErrorWithout("2-flows.pb"),
            run_ + "/2-flows.pb: error: there is no flow plan yet; run simccl first");
  EXPECT_EQ(ErrorWithout("1-workload"),
            run_ +
                "/1-workload/manifest.pb: error: there is no workload manifest yet; run "
                "workload-gen first");
}

TEST_F(ReadInputsTest, ATimelineOfOtherKernelTimesIsStale) {
  Inputs other = FakeRun();
  other.times.gpus[0].submodules[0].kernels[0].time = Time::Us(61);
  const std::string timeline = ReadFile(run_ + "/4-timeline.pb").value();
  WriteFakeRun(other, run_);
  ASSERT_TRUE(WriteFileAtomically(run_ + "/4-timeline.pb", timeline).ok());
  EXPECT_EQ(ReadInputs(run_).error().ToString(),
            run_ +
                "/4-timeline.pb: error: stale: it was made from another 3-times.pb; run "
                "exec-engine again");
}

}  // namespace
}  // namespace drydock
