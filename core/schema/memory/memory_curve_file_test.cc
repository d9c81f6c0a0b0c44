#include "core/schema/memory/memory_curve_file.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/schema/testing/artefacts_testing.h"

namespace drydock {
namespace {

class MemoryCurveTest : public testing::ArtefactsTest {
 protected:
  // A curve for the ops of class 0.
  MemoryCurve Curve() const {
    MemoryCurve curve;
    for (size_t i = 0; i < workload_.workload.programs[0].ops.size(); ++i) {
      curve.allocated.emplace_back(i % 2 == 0 ? 70'000'000'000 : 5);
    }
    return curve;
  }
};

TEST_F(MemoryCurveTest, ReadsBackEqual) {
  ASSERT_TRUE(WriteMemoryCurve(run(), Curve(), "workload-gen").ok());
  const Result<std::optional<MemoryCurve>> read = ReadMemoryCurve(run(), workload_);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  ASSERT_TRUE(read->has_value());
  EXPECT_EQ((*read)->class_index, 0);
  EXPECT_EQ((*read)->allocated, Curve().allocated);
}

TEST_F(MemoryCurveTest, AbsentOrOfAnotherWorkloadItIsUnknown) {
  EXPECT_FALSE(ReadMemoryCurve(run(), workload_)->has_value());
  ASSERT_TRUE(WriteMemoryCurve(run(), Curve(), "workload-gen").ok());
  WorkloadFile other = workload_;
  other.sha256 = "another";
  const Result<std::optional<MemoryCurve>> read = ReadMemoryCurve(run(), other);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
}

TEST_F(MemoryCurveTest, ContradictionsAreErrors) {
  MemoryCurve curve = Curve();
  curve.allocated.pop_back();
  ASSERT_TRUE(WriteMemoryCurve(run(), curve, "workload-gen").ok());
  EXPECT_EQ(ReadMemoryCurve(run(), workload_).error().ToString(),
            At(kMemoryCurveName) + ": error: damaged: its ops are not those of a class");
  curve = Curve();
  curve.allocated[0] = Bytes(-1);
  ASSERT_TRUE(WriteMemoryCurve(run(), curve, "workload-gen").ok());
  EXPECT_EQ(ReadMemoryCurve(run(), workload_).error().ToString(),
            At(kMemoryCurveName) + ": error: damaged: a size is out of range");
}

TEST_F(MemoryCurveTest, ADamagedFileIsAnError) {
  ASSERT_TRUE(WriteMemoryCurve(run(), Curve(), "workload-gen").ok());
  std::string content = *ReadFile(At(kMemoryCurveName));
  content[content.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(At(kMemoryCurveName), content).ok());
  EXPECT_EQ(ReadMemoryCurve(run(), workload_).error().ToString(),
            At(kMemoryCurveName) +
                ": error: this is not a memory curve, or it is damaged; run workload-gen again");
}

}  // namespace
}  // namespace drydock
