#include "core/schema/artefacts/stamp.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

class StampTest : public ::testing::Test {
 protected:
  void SetUp() override {
    stamp_ = {dir_.path(), "mill", {dir_ / "in"}, {"--fine"}, {dir_ / "out"}};
    ASSERT_TRUE(WriteFileAtomically(dir_ / "in", "corn").ok());
    ASSERT_TRUE(WriteFileAtomically(dir_ / "out", "flour").ok());
    EXPECT_FALSE(IsUpToDate(stamp_)) << "it never ran";
    ASSERT_TRUE(SaveStamp(stamp_).ok());
    ASSERT_TRUE(IsUpToDate(stamp_));
  }
  testing::TemporaryDirectory dir_;
  Stamp stamp_;
};

TEST_F(StampTest, NotUpToDateAfterAnInputChanges) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / "in", "rye").ok());
  EXPECT_FALSE(IsUpToDate(stamp_));
  ASSERT_TRUE(WriteFileAtomically(dir_ / "in", "corn").ok());
  EXPECT_TRUE(IsUpToDate(stamp_)) << "content counts, not dates";
  stamp_.inputs.push_back(dir_ / "more");
  EXPECT_FALSE(IsUpToDate(stamp_));
}

TEST_F(StampTest, NotUpToDateWithOtherOptions) {
  stamp_.options = {"--coarse"};
  EXPECT_FALSE(IsUpToDate(stamp_));
  stamp_.options = {"--fine", "--fast"};
  EXPECT_FALSE(IsUpToDate(stamp_));
}

TEST_F(StampTest, OneOptionNeverLooksLikeTwo) {
  stamp_.options = {"a\noption 1 b"};
  ASSERT_TRUE(SaveStamp(stamp_).ok());
  stamp_.options = {"a", "b"};
  EXPECT_FALSE(IsUpToDate(stamp_));
}

TEST_F(StampTest, NotUpToDateIfAnOutputIsMissingOrAltered) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / "out", "sand").ok());
  EXPECT_FALSE(IsUpToDate(stamp_));
  ASSERT_TRUE(std::filesystem::remove(dir_ / "out"));
  EXPECT_FALSE(IsUpToDate(stamp_));
  ASSERT_TRUE(SaveStamp(stamp_).ok());
  EXPECT_FALSE(IsUpToDate(stamp_)) << "a stage with a missing output is never up to date";
}

TEST_F(StampTest, NotUpToDateWithADamagedStamp) {
  ASSERT_TRUE(WriteFileAtomically(dir_ / ".stamps/mill", "rubbish").ok());
  EXPECT_FALSE(IsUpToDate(stamp_));
}

}  // namespace
}  // namespace drydock
