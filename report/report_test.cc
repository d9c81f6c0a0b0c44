#include "report/report.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/files.h"
#include "report/facts/summary.h"
#include "report/output/summary_json.h"
#include "report/output/summary_text.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

class ReportTest : public testing::Test {
 protected:
  void SetUp() override { WriteFakeRun(FakeRun(), run_); }
  void TearDown() override { std::filesystem::remove_all(run_); }

  std::string Content(const std::string& name) const { return ReadFile(run_ + "/" + name).value(); }
  bool Exists(const std::string& name) const { return FileExists(run_ + "/" + name); }
  // Returns a number that changes whenever the file is written again.
  ino_t Inode(const std::string& name) const {
    struct stat info;
    EXPECT_EQ(::stat((run_ + "/" + name).c_str(), &info), 0);
    return info.st_ino;
  }

  const std::string run_ = FreshDirectory("report");
};

BandErrors ShippedErrors() {
  const std::string path = "configs/bands.yaml";
  return *ParseBandErrors(*ReadFile(path), path);
}

constexpr const char* kOutputs[] = {"summary.json", "summary.txt", "critical-path.csv",
                                    "trace.json.gz", "report.html"};

TEST_F(ReportTest, WritesItsFilesAndReturnsTheText) {
  const Result<ReportOutcome> outcome = MakeReport({run_});
  ASSERT_TRUE(outcome.ok()) << outcome.error().ToString();
  Inputs inputs = FakeRun();
  inputs.maker = "workload-gen";
  const Summary summary = Summarize(inputs, ShippedErrors());
  EXPECT_EQ(outcome->text, SummaryText(summary));
  EXPECT_EQ(outcome->note,
            run_ + ": summary.json, critical-path.csv, report.html, trace.json.gz of 3 of 4 ranks");
  EXPECT_EQ(Content("summary.txt"), outcome->text);
  EXPECT_EQ(Content("summary.json"), SummaryJson(summary));
  EXPECT_TRUE(Exists("trace.json.gz"));
  EXPECT_TRUE(Exists("report.html"));
}

TEST_F(ReportTest, TwoReportsAreTheSameByteForByte) {
  ASSERT_TRUE(MakeReport({run_}).ok());
  std::vector<std::string> first;
  for (const char* name : kOutputs) first.push_back(Content(name));
  ASSERT_TRUE(MakeReport({run_}).ok());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i] == Content(kOutputs[i]));
}

TEST_F(ReportTest, CheckWritesNothing) {
  ASSERT_TRUE(MakeReport({.run = run_, .check = true}).ok());
  for (const char* name : kOutputs) EXPECT_FALSE(Exists(name)) << name;
}

TEST_F(ReportTest, NoHtmlLeavesThePageOut) {
  ASSERT_TRUE(MakeReport({.run = run_, .html = false}).ok());
  EXPECT_TRUE(Exists("summary.json"));
  EXPECT_FALSE(Exists("report.html"));
}

TEST_F(ReportTest, UnchangedRunShowsTheLastReport) {
  const ReportOptions options = {.run = run_, .if_changed = true};
  const std::string text = MakeReport(options)->text;
  const ino_t before = Inode("summary.json");
  const ReportOutcome again = MakeReport(options).value();
  EXPECT_EQ(again.text, text);
  EXPECT_EQ(again.note, "up to date");
  EXPECT_EQ(Inode("summary.json"), before);
}

TEST_F(ReportTest, ChangedRunOrOptionMakesANewReport) {
  ReportOptions options = {.run = run_, .if_changed = true};
  ASSERT_TRUE(MakeReport(options).ok());
  const std::string trace = Content("trace.json.gz");
  options.trace_ranks = std::string(1, '1');
  ASSERT_TRUE(MakeReport(options).ok());
  EXPECT_FALSE(trace == Content("trace.json.gz"));
  Inputs faster = FakeRun();
  faster.workload.totals.tokens *= 2;
  WriteFakeRun(faster, run_);
  EXPECT_EQ(MakeReport(options)->text, SummaryText(Summarize(faster, ShippedErrors())));
}

TEST_F(ReportTest, ReportsAnInvalidTraceChoiceBeforeReading) {
  EXPECT_EQ(MakeReport({.run = "nowhere", .trace_ranks = "al"}).error().ToString(),
            "error: --trace-ranks: 'al' is neither a number of ranks, at least 1, nor 'all'");
}

TEST_F(ReportTest, IncompleteRunWritesNothing) {
  std::filesystem::remove(run_ + "/4-timeline.pb");
  EXPECT_EQ(MakeReport({run_}).error().ToString(),
            run_ + "/4-timeline.pb: error: there is no timeline yet; run exec-engine first");
  for (const char* name : kOutputs) EXPECT_FALSE(Exists(name)) << name;
}

}  // namespace
}  // namespace drydock
