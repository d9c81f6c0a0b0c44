#include "study/points/point_store.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"

namespace drydock {
namespace {

class PointStoreTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(study_); }
  void TearDown() override { std::filesystem::remove_all(study_); }
  std::string RecordPath() const { return study_ + "/points/abc/point.json"; }

  const std::string study_ = testing::TempDir() + "point_store_test";
  const PointStore store_{study_};
};

TEST_F(PointStoreTest, KeepsWhyAPointWasNotSimulated) {
  Evaluation evaluation;
  evaluation.state = PointState::kUnfit;
  evaluation.reason = "91 GB of 80 GB: does NOT fit";
  evaluation.memory = MemoryVerdict{0, Bytes(91'000'000'000), Bytes(80'000'000'000)};
  ASSERT_TRUE(store_.Write("abc", {"parallel.tensor=1"}, evaluation, true).ok());
  const std::optional<PointRecord> record = store_.Read("abc");
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->assignments, std::vector<std::string>{"parallel.tensor=1"});
  EXPECT_EQ(record->state, PointState::kUnfit);
  EXPECT_EQ(record->reason, "91 GB of 80 GB: does NOT fit");
  EXPECT_EQ(ValueOf(record->metrics, "memory_gb"), 91);
}

TEST_F(PointStoreTest, HasNoRecordOfAPointThatIsMissingOrDamaged) {
  EXPECT_FALSE(store_.Read("abc").has_value());
  for (const std::string text : {"", "{", "[]", "{\"format\": 2}",
                                 "{\"format\": 1, \"set\": [], \"state\": \"lost\", "
                                 "\"reason\": \"\", \"metrics\": {}}"}) {
    ASSERT_TRUE(MakeDirectories(study_ + "/points/abc").ok());
    ASSERT_TRUE(WriteFileAtomically(RecordPath(), text).ok());
    EXPECT_FALSE(store_.Read("abc").has_value()) << text;
  }
  ASSERT_TRUE(store_.Write("abc", {}, Evaluation(), true).ok());
  EXPECT_TRUE(store_.Read("abc").has_value());
}

}  // namespace
}  // namespace drydock
