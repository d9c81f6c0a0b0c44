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

// The error on a GPU of 132 SMs of this capability.
std::string ErrorOn(int compute_capability, const std::vector<std::string>& overrides) {
  Topology topology = TestTopology(1, 8);
  GpuSpec& gpu = topology.gpus.front();
  gpu.name = "gpu";
  gpu.compute_capability = compute_capability;
  gpu.sms = 132;
  for (const DataType type : {DataType::kFp16, DataType::kBf16, DataType::kFp8}) {
    gpu.dense_rate[static_cast<size_t>(type)] = Tera(1000);
  }
  const Status status = CheckGpuFormat(TestJob(overrides), topology);
  return status.ok() ? "" : status.error().ToString();
}

TEST(GpuFormat, BlocksInFp8BeginWithHopper) {
  const std::vector<std::string> blocks = {"training.precision=fp8", "model.hidden=128",
                                           "training.fp8_recipe=blockwise"};
  EXPECT_EQ(ErrorOn(90, blocks), "");
  EXPECT_EQ(ErrorOn(100, blocks), "");
  EXPECT_EQ(ErrorOn(89, blocks),
            "--set training.fp8_recipe=blockwise: error: the GPU 'gpu' has no products in "
            "fp8-block; it has fp16, bf16, fp8");
}

TEST(GpuFormat, DispatchTakesNoMoreSmsThanTheGpuHas) {
  const auto error = [](const std::string& sms) {
    return ErrorOn(
        90, {"model.experts=4", "model.experts_per_token=2", "parallel.sequence_parallel=true",
             "training.moe_dispatcher=flex", "training.moe_dispatch_sms=" + sms});
  };
  EXPECT_EQ(error("132"), "");
  EXPECT_EQ(error("500"),
            "--set training.moe_dispatch_sms=500: error: moe_dispatch_sms 500 is more than the 132 "
            "SMs of the GPU 'gpu'; write at most 132");
}

TEST(GpuFormat, AttentionsKernelsFollowTheGpu) {
  const std::vector<std::string> deterministic = {"training.deterministic=true",
                                                  "training.attention_kernels=cudnn"};
  EXPECT_EQ(ErrorOn(90, deterministic), "");
  EXPECT_EQ(ErrorOn(80, deterministic),
            "--set training.attention_kernels=cudnn: error: 'cudnn' with deterministic: true needs "
            "a GPU of Hopper or later, and 'gpu' is none; write flash or unfused");
  const std::vector<std::string> sinks = {"model.attention_sinks=true", "training.precision=fp8",
                                          "training.fp8_attention=true"};
  EXPECT_EQ(ErrorOn(100, sinks), "");
  EXPECT_EQ(ErrorOn(90, sinks),
            "--set training.fp8_attention=true: error: 'fp8_attention' with model.attention_sinks "
            "needs a GPU of Blackwell, and 'gpu' is none; write false");
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

TEST(GpuFormat, TokenKernelsNeedRatesOfTheGpu) {
  TokenCostTable costs;
  costs["deepep"]["h100"] = costs["hybridep"]["h100"] = TokenCosts();
  const auto error = [&](const std::string& name, int capability,
                         std::vector<std::string> overrides) {
    Topology topology = TestTopology(1, 8);
    for (GpuSpec& gpu : topology.gpus) {
      gpu.name = name;
      gpu.compute_capability = capability;
      gpu.reference = capability == 90 ? "h100" : "";
    }
    overrides.insert(overrides.begin(), {"model.experts=8", "model.experts_per_token=2",
                                         "parallel.sequence_parallel=true"});
    const Status status = CheckTokenKernels(TestJob(overrides), topology, costs);
    return status.ok() ? "" : status.error().ToString();
  };
  const std::string flex = "training.moe_dispatcher=flex";
  EXPECT_EQ(error("a100", 80, {"parallel.expert=4"}), "");
  EXPECT_EQ(error("h200", 90, {"parallel.expert=4", flex}), "");
  EXPECT_EQ(error("a100", 80, {"parallel.expert=1", "parallel.expert_tensor=1", flex}), "")
      << "no other rank";
  EXPECT_EQ(error("a100", 80, {"parallel.expert=4", flex}),
            "--set training.moe_dispatcher=flex: error: " + TokenCostsPath() +
                " has no costs of deepep on a100; it has those of h100; write 'moe_dispatcher: "
                "alltoall'");
  EXPECT_EQ(error("rtx", 120, {"parallel.expert=4", "training.moe_dispatcher=hybridep"}),
            "--set training.moe_dispatcher=hybridep: error: the kernels of HybridEP run on GPUs of "
            "compute capability 8, 9 and 10, and 'rtx' has 12; write 'moe_dispatcher: alltoall'");
}

}  // namespace
}  // namespace drydock
