#include "workload-gen/layout/gpu_format.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>

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

// A V100 has tensor cores for fp16 only.
TEST(GpuFormat, SixteenBitsOfOneKindAreNotThoseOfTheOther) {
  Topology topology = TestTopology(1, 8);
  for (GpuSpec& gpu : topology.gpus) {
    gpu.name = "v100";
    std::fill(std::begin(gpu.dense_rate), std::end(gpu.dense_rate), FlopRate());
    gpu.dense_rate[static_cast<size_t>(DataType::kFp16)] = Tera(125);
  }
  const auto error = [&](const std::string& precision) {
    const Status status = CheckGpuFormat(TestJob({"training.precision=" + precision}), topology);
    return status.ok() ? "" : status.error().ToString();
  };
  EXPECT_EQ(error("fp16"), "");
  EXPECT_THAT(error("bf16"),
              EndsWith("error: the GPU 'v100' has no products in bf16; it has fp16"));
}

// Sparse attention of `heads` heads on each of two tensor ranks, on a GPU of this capability.
std::string SparseError(int compute_capability, int heads) {
  Topology topology = TestTopology(1, 8);
  topology.gpus.front().name = "gpu";
  topology.gpus.front().dense_rate[static_cast<size_t>(DataType::kFp16)] = Tera(1000);
  topology.gpus.front().compute_capability = compute_capability;
  const TrainingJob job =
      TestJob({"parallel.sequence_parallel=true", "model.bias=false",
               "model.heads=" + std::to_string(2 * heads), "model.kv_lora_rank=512",
               "model.qk_nope_dim=8", "model.qk_rope_dim=64", "model.value_dim=8",
               "model.index_heads=4", "model.index_head_dim=64", "model.index_topk=64",
               "training.sparse_attention_kernels=cudnn"});
  const Status status = CheckGpuFormat(job, topology);
  return status.ok() ? "" : status.error().ToString();
}

TEST(GpuFormat, CudnnsSparseAttentionBeginsWithHopper) {
  EXPECT_THAT(SparseError(80, 64), EndsWith("error: 'cudnn' needs a GPU of Hopper or later, and "
                                            "'gpu' is none; give tilelang or unfused"));
  EXPECT_EQ(SparseError(90, 192), "");
  EXPECT_EQ(SparseError(100, 128), "");
  EXPECT_THAT(SparseError(100, 192),
              EndsWith("error: 'cudnn' on the GPU 'gpu' needs heads of a tensor rank that are a "
                       "divisor of 64 or a multiple of 128, not 192; give unfused"));
}

}  // namespace
}  // namespace drydock
