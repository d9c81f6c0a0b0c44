#include "workload-gen/layout/gpu_format.h"

#include <gmock/gmock.h>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::EndsWith;

FlopRate Tera(double rate) { return FlopRate(rate * 1e12); }

// The error for a GPU with fp16, bf16 and fp8.
std::string ErrorOf(const std::vector<std::string>& overrides) {
  Topology topology = TestTopology(1, 8);
  for (GpuSpec& gpu : topology.gpus) {
    gpu.name = "h100";
    for (const DataType type : {DataType::kFp16, DataType::kBf16, DataType::kFp8}) {
      gpu.dense_rate[static_cast<size_t>(type)] = Tera(1000);
    }
  }
  const Status status = CheckGpuFormat(TestJob(overrides), topology);
  return status.ok() ? "" : status.error().ToString();
}

TEST(GpuFormat, BlocksInFp8NeedFp8) {
  EXPECT_EQ(ErrorOf({}), "");
  EXPECT_EQ(ErrorOf({"training.precision=fp8"}), "");
  EXPECT_EQ(
      ErrorOf({"training.precision=fp8", "training.fp8_recipe=blockwise", "model.hidden=128"}), "");
}

TEST(GpuFormat, ReportsWhatTheGpuHas) {
  EXPECT_THAT(ErrorOf({"training.precision=fp8", "training.fp8_recipe=mxfp8"}),
              EndsWith("error: the GPU 'h100' has no products in mxfp8; it has fp16, bf16, fp8"));
  EXPECT_THAT(ErrorOf({"training.precision=nvfp4"}),
              EndsWith("error: the GPU 'h100' has no products in nvfp4; it has fp16, bf16, fp8"));
}

}  // namespace
}  // namespace drydock
