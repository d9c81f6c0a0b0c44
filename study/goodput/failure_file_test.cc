#include "study/goodput/failure_file.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

constexpr const char* kFile = R"(name: toy
source: made up
failures:
  gpu: {per_year: 0.5, source: a, detect: 5 s}
  hbm: unknown
  nic: {mtbf: 10 years, source: b}
  switch: {per_year: unknown, source: c, repair: 2 days}
  cable: {per_year: 0, source: d}
  host: {per_year: 1, source: e}
  software: {per_year: 2, source: f, detect: 10 min}
recovery:
  detect: {time: 30 s, source: g}
  replace: {time: 2 min, source: h}
  repair: {time: 4 h, source: i}
  start: unknown
  communicator: {time: 0.5 s, source: j}
  member: {time: 0.001 s, source: k}
)";

Result<FailureModel> Load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const testing::TemporaryDirectory dir;
  EXPECT_TRUE(WriteFileAtomically(dir / "f.yaml", text).ok());
  return LoadFailures(dir / "f.yaml", overrides);
}

// Of the file with `from` replaced; without the folder.
std::string ErrorAfter(const std::string& from, const std::string& to) {
  const std::string error =
      testing::FirstLine(testing::ErrorText(Load(testing::Replaced(kFile, from, to))));
  return error.substr(error.find("f.yaml"));
}

TEST(FailureFile, ReadsRatesAndTimes) {
  const Result<FailureModel> read = Load(kFile);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->name, "toy");
  EXPECT_EQ(read->of(FailingPart::kGpu).per_year.value, 0.5);
  EXPECT_EQ(read->of(FailingPart::kGpu).per_year.source, "a");
  EXPECT_EQ(read->of(FailingPart::kHbm).per_year.value, std::nullopt);
  EXPECT_DOUBLE_EQ(*read->of(FailingPart::kNic).per_year.value, 0.1);
  EXPECT_EQ(read->of(FailingPart::kSwitch).per_year.value, std::nullopt);
  EXPECT_EQ(read->of(FailingPart::kCable).per_year.value, 0);
  EXPECT_EQ(read->DetectOf(FailingPart::kGpu).value, 5);
  EXPECT_EQ(read->DetectOf(FailingPart::kNic).value, 30);
  EXPECT_EQ(read->DetectOf(FailingPart::kSoftware).value, 600);
  EXPECT_EQ(read->RepairOf(FailingPart::kSwitch).value, 2 * 86400);
  EXPECT_EQ(read->RepairOf(FailingPart::kHost).value, 4 * 3600);
  EXPECT_EQ(read->recovery.start.value, std::nullopt);
  EXPECT_EQ(read->recovery.member.value, 0.001);
}

TEST(FailureFile, SetReplacesValues) {
  const Result<FailureModel> read =
      Load(kFile, {"recovery.start={time: 3 min, source: ours}", "failures.gpu.per_year=0.25"});
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(read->recovery.start.value, 180);
  EXPECT_EQ(read->recovery.start.source, "ours");
  EXPECT_EQ(read->of(FailingPart::kGpu).per_year.value, 0.25);
}

TEST(FailureFile, MistakesHaveTheirPlaces) {
  EXPECT_EQ(ErrorAfter("  hbm: unknown\n", ""),
            "f.yaml:4:3: error: 'failures' lacks the key 'hbm'");
  EXPECT_EQ(ErrorAfter("hbm: unknown", "hbm: 0.1"),
            "f.yaml:5:8: error: write 'hbm: {per_year: …, source: …}', or 'hbm: unknown'");
  EXPECT_EQ(ErrorAfter("per_year: 0.5", "per_year: -1"),
            "f.yaml:4:19: error: 'per_year' is a number of failures from 0 to 1e6, or 'unknown'");
  EXPECT_EQ(ErrorAfter("mtbf: 10 years", "mtbf: 10 decades"),
            "f.yaml:6:15: error: expected a time such as '90 s', '10 min', '4 h', '2 days' or '5 "
            "years', or 'unknown'; found '10 decades'");
  EXPECT_EQ(ErrorAfter("mtbf: 10 years", "mtbf: 0 s"),
            "f.yaml:6:15: error: 'mtbf' must be at least a millionth of a year");
  EXPECT_EQ(ErrorAfter("mtbf: 10 years", "mtbf: 1e300 years"),
            "f.yaml:6:15: error: '1e300 years' is longer than 10,000 years");
  EXPECT_EQ(ErrorAfter("mtbf: 10 years, ", ""),
            "f.yaml:6:8: error: 'nic' has either 'per_year', failures of one in a year, or "
            "'mtbf', the time between them");
  EXPECT_EQ(ErrorAfter("source: e}", "sources: e}"),
            "f.yaml:9:9: error: 'host' lacks the key 'source'");
  EXPECT_EQ(ErrorAfter("detect: 10 min", "repair: 10 min"),
            "f.yaml:10:46: error: software takes no host out of service: it has no 'repair'");
  EXPECT_EQ(ErrorAfter("start: unknown", "start: soon"),
            "f.yaml:15:10: error: write 'start: {time: …, source: …}', or 'start: unknown'");
}

TEST(FailureFile, EveryShippedOneIsValid) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("configs/failures")) {
    const Result<FailureModel> read = LoadFailures(entry.path(), {});
    EXPECT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(read->name, entry.path().stem().string());
    ++count;
  }
  EXPECT_GE(count, 2);
}

}  // namespace
}  // namespace drydock
