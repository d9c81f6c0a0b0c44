// "How much longer do the slowest of many GPUs take than the mean GPU?"
#include "compute-sim/model/gpu_spread.h"

#include <gtest/gtest.h>

#include "compute-sim/testing/gpu_testing.h"
#include "core/base/order_statistics.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

TEST(GpuSpread, TimesGrowWithTheSpread) {
  EXPECT_EQ(SlowestTime(0, 4096), 1);
  EXPECT_EQ(SlowestTime(0.02, 1), 1);
  EXPECT_DOUBLE_EQ(SlowestTime(0.02, 64), 1 / (1 - 0.02 * ExpectedMaxSigma(64)));
}

TEST(GpuSpread, GpuHasItsOwnSpreadOrItsReferencesOrNone) {
  GpuSpec spec;
  EXPECT_EQ(*SpreadOf(spec), 0);
  spec.reference_text = "spread: {tensor_rate: 0.02, source: a}\n";
  EXPECT_EQ(*SpreadOf(spec), 0.02);
  spec.file_text = "gpu: {}\nspread: {tensor_rate: 0.01, source: b}\n";
  EXPECT_EQ(*SpreadOf(spec), 0.01);
  spec.file_text = "spread: {tensor_rate: 0, source: equal GPUs}\n";
  EXPECT_EQ(*SpreadOf(spec), 0) << "the spread of the GPU comes before that of its reference";
}

TEST(GpuSpread, ShippedGpusHaveOne) {
  for (const char* gpu : {"a100-sxm-80g", "h100-sxm-80g", "b200-sxm-180g", "h200-sxm-141g"}) {
    const double spread = *SpreadOf(ShippedGpu(gpu));
    EXPECT_GT(spread, 0.005) << gpu;
    EXPECT_LT(spread, 0.02) << gpu;
  }
}

TEST(GpuSpread, MistakesAreLocated) {
  EXPECT_EQ(
      ReadSpread("gpu: {}\nspread:\n  tensor_rate: 1\n  rate: 2\n", "g.yaml").error().ToString(),
      "g.yaml:3:16: error: expected a standard deviation as a share of the mean, from 0 to 0.1\n"
      "    tensor_rate: 1\n"
      "                 ^\n"
      "g.yaml:3:3: error: 'spread' lacks the key 'source'\n"
      "    tensor_rate: 1\n"
      "    ^\n"
      "g.yaml:4:3: error: unknown key 'rate' in 'spread'; valid keys are tensor_rate, source\n"
      "    rate: 2\n"
      "    ^");
}

}  // namespace
}  // namespace drydock
