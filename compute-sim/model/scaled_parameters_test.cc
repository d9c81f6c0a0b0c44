// "How do the parameters of one GPU change when they are scaled to another GPU?"
#include "compute-sim/model/scaled_parameters.h"

#include <gtest/gtest.h>

#include "compute-sim/model/scaling_facts.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

constexpr auto kFp16 = DataType::kFp16;
constexpr auto kFp8 = DataType::kFp8;

std::string Facts(const std::string& lines) { return "scaling:\n  source: s\n" + lines; }

class ScaledParametersTest : public testing::Test {
 protected:
  double Tera(const KernelParameters& p, DataType type) const {
    return p.GemmFor(type)->tensor_rate.flops_per_second() * 1e-12;
  }
  KernelParameters Scaled() const { return *ScaledParameters(to_, from_, parameters_); }

  // Predicts an H100 from an A100. Each test adds the facts that are known of the two.
  void SetUp() override {
    to_ = ShippedGpu("h100-sxm-80g");
    from_ = ShippedGpu("a100-sxm-80g");
    parameters_ = ShippedGpuData("a100-sxm-80g", kSustained).parameters;
    to_.file_text = from_.file_text = "";
  }
  GpuSpec to_, from_;
  KernelParameters parameters_;
};

TEST_F(ScaledParametersTest, WithoutFactsOnlyTheSpecificationsCount) {
  const KernelParameters scaled = Scaled();
  EXPECT_NEAR(Tera(scaled, kFp16), Tera(parameters_, kFp16) * 989 / 312, 1e-6);
  EXPECT_NEAR(Tera(scaled, kFp8), Tera(parameters_, kFp16) * 1979 / 312, 1e-6);
  EXPECT_EQ(scaled.GemmFor(kFp16)->persistence, parameters_.GemmFor(kFp16)->persistence);
}

TEST_F(ScaledParametersTest, PublishedSharesChangeOnlyTheTensorRate) {
  const KernelParameters before = Scaled();
  to_.file_text = Facts("  matmul_share: {fp16: 0.8, fp8: 0.6}\n");
  EXPECT_EQ(Tera(Scaled(), kFp16), Tera(before, kFp16));  // the share of the A100 is not published
  from_.file_text = Facts("  matmul_share: {fp16: 0.9}\n");
  const KernelParameters scaled = Scaled();
  EXPECT_NEAR(Tera(scaled, kFp16), Tera(before, kFp16) * 0.8 / 0.9, 1e-6);
  EXPECT_NEAR(Tera(scaled, kFp8), Tera(before, kFp8) * 0.6 / 0.9, 1e-6);
  EXPECT_EQ(scaled.GemmFor(kFp16)->l2_to_sm, before.GemmFor(kFp16)->l2_to_sm);
  EXPECT_EQ(scaled.memory.hbm, before.memory.hbm);
}

TEST_F(ScaledParametersTest, DifferentTileScheduleSetsThePersistence) {
  to_.file_text = Facts("  tile_schedule: persistent\n");
  const double fitted = parameters_.GemmFor(kFp16)->persistence;
  EXPECT_EQ(Scaled().GemmFor(kFp16)->persistence, fitted);
  from_.file_text = Facts("  tile_schedule: persistent\n");
  EXPECT_EQ(Scaled().GemmFor(kFp16)->persistence, fitted);
  from_.file_text = Facts("  tile_schedule: waves\n");
  EXPECT_EQ(Scaled().GemmFor(kFp16)->persistence, 1);
  EXPECT_EQ(Scaled().GemmFor(kFp8)->persistence, 1);
  std::swap(to_.file_text, from_.file_text);
  EXPECT_EQ(Scaled().GemmFor(kFp16)->persistence, 0);
}

TEST(ScalingFacts, MistakesAreLocated) {
  const auto message = [](const std::string& text) {
    const Result<ScalingFacts> facts = ReadScalingFacts(text, "f.yaml");
    return facts.ok() ? "" : facts.error().ToString();
  };
  EXPECT_EQ(message("gpu: {}\n"), "");
  EXPECT_NE(message("scaling:\n  tile_schedule: waves\n").find("source"), std::string::npos);
  EXPECT_NE(message(Facts("  tile_schedule: persistant\n")).find("persistent"), std::string::npos);
  EXPECT_NE(message(Facts("  matmul_share: {fp16: 1.2}\n")).find("f.yaml:3:"), std::string::npos);
  EXPECT_NE(message(Facts("  matmul_share: {fp61: 0.8}\n")).find("fp16"), std::string::npos);
  EXPECT_NE(message(Facts("  matmul_shar: {fp16: 0.8}\n")).find("matmul_share"), std::string::npos);
}

}  // namespace
}  // namespace drydock
