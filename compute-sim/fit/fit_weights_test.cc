// "Which weight has each row in a fit?"
#include "compute-sim/fit/fit_weights.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

TEST(FitWeights, ShippedWeightsPreferTheKernelsOfTraining) {
  const std::string path = "configs/fit.yaml";
  const FitWeights weights = *ParseFitWeights(*ReadFile(path), path);
  EXPECT_EQ(weights.Of(Gemm(DataType::kBf16, 1024, 1024, 1024)), 1);
  EXPECT_EQ(weights.Of(Gemm(DataType::kBf16, 512, 1024, 1024)), 0.5);
  EXPECT_EQ(weights.Of(Gemm(DataType::kBf16, 64, 1024, 1024)), 0.3);
  EXPECT_EQ(weights.Of(MemoryKernel(KernelKind::kAdd, DataType::kBf16, 64, 64, 6)), 0.3);
  EXPECT_EQ(weights.sum_weight, 0.5);
  EXPECT_EQ(weights.curve_min_traffic, Bytes(300'000'000));
  EXPECT_EQ(weights.curve_max_share, 1.1);
}

TEST(FitWeights, MistakesAreLocated) {
  const auto weights = ParseFitWeights("fit:\n  sum_weight: -1\n", "f.yaml");
  ASSERT_FALSE(weights.ok());
  EXPECT_EQ(weights.error().diagnostics().size(), 7u) << weights.error().ToString();
  EXPECT_NE(weights.error().ToString().find("f.yaml:2:15: error: expected a number from 0"),
            std::string::npos)
      << weights.error().ToString();
}

}  // namespace
}  // namespace drydock
