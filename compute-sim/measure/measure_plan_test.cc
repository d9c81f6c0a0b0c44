// "Is the right set of kernels measured, and are the others named?"
#include "compute-sim/measure/measure_plan.h"

#include <gtest/gtest.h>

#include "compute-sim/submodules/submodule_file.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

std::string Listed(const MeasurePlan& plan) {
  std::string text;
  for (const Kernel& kernel : plan.kernels) {
    text += InfoOf(kernel.kind).name + " " + ShapeString(kernel) + "\n";
  }
  return text;
}

MeasurePlan PlanOf(const std::string& lines) {
  return *PlanMeasurements(*ParseSubmodules("submodules:\n" + lines, "f"), ShippedAssumptions(),
                           nullptr);
}

TEST(MeasurePlan, PlansEveryKernelOnceAndNamesTheOthers) {
  const MeasurePlan plan = PlanOf(
      "- {kind: linear, rows: 64, n: 32, k: 16, accumulate_fp32: true}\n"
      "- {kind: linear, rows: 64, n: 32, k: 16, pass: fwd}\n- {kind: norm, rows: 64, n: 16}\n"
      "- {kind: attention, batch: 1, sequence: 64, heads: 4, kv_heads: 4, head_dim: 32, fused: "
      "true}\n- {kind: grouped-linear, rows: 64, n: 32, k: 16, experts: 4, pass: fwd}\n- {kind: "
      "top-k, rows: 64, n: 8, top_k: 2, pass: fwd}\n- {kind: add, rows: 64, n: "
      "16}\n");
  EXPECT_EQ(Listed(plan),
            "gemm 64x32x16 bf16\ngemm 64x16x32 bf16\ngemm-accumulate 32x16x64 bf16\n"
            "layer-norm 64x16 bf16\nlayer-norm-backward 64x16 bf16\nnorm-parameters 64x16 bf16\n"
            "attention-forward 1x64x4x4x32 bf16\nattention-backward 1x64x4x4x32 bf16\n"
            "grouped-gemm 4x16x32x16 bf16\nfill 64x8 bf16 3 B each\nadd 64x16 bf16\n");
  EXPECT_EQ(LeftOutText(plan), "1 elementwise, 1 scatter, 1 top-k");
}

TEST(MeasurePlan, WithoutCudnnAttentionIsLeftOutAndNamed) {
  MeasurePlan plan = PlanOf(
      "- {kind: attention, batch: 1, sequence: 64, heads: 4, kv_heads: 4, head_dim: 32, fused: "
      "true}\n- {kind: add, rows: 64, n: 16}\n");
  LeaveOutAttention(&plan);
  EXPECT_EQ(Listed(plan), "add 64x16 bf16\n");
  EXPECT_EQ(LeftOutText(plan), "1 attention-backward, 1 attention-forward");
}

// cuDNN's kernels take heads of up to 256 in steps of 8, and the same number of query heads for
// each key head.
TEST(MeasurePlan, AttentionThatCudnnDoesNotAcceptIsLeftOut) {
  const auto of = [](DataType type, int64_t heads, int64_t kv_heads, int64_t width) {
    return IsMeasurable(
        Attention(KernelKind::kAttentionForward, type, {1, 64, heads, kv_heads, width, true}));
  };
  EXPECT_TRUE(of(DataType::kFp16, 8, 2, 256));
  EXPECT_FALSE(of(DataType::kFp16, 8, 2, 264));
  EXPECT_FALSE(of(DataType::kFp16, 8, 2, 60));
  EXPECT_FALSE(of(DataType::kFp16, 8, 3, 64));
  EXPECT_FALSE(of(DataType::kFp8, 8, 2, 64));
}

// Kernels with equal extents but different operands are measured separately.
TEST(MeasurePlan, KernelsWithDifferentTrafficAreDistinct) {
  const MeasurePlan plan = PlanOf(
      "- {kind: router, rows: 64, n: 8, k: 16, pass: fwd}\n"
      "- {kind: attention, batch: 1, sequence: 8, heads: 8, kv_heads: 8, head_dim: 32, pass: fwd}\n"
      "- {kind: cross-entropy, rows: 64, n: 8, pass: fwd}\n"
      "- {kind: permute, rows: 64, n: 16, experts: 8, top_k: 3, pass: fwd}\n");
  EXPECT_EQ(Listed(plan),
            "gemm 64x8x16 bf16\nsoftmax 64x8 bf16 6 B each\nbatched-gemm 8x8x8x32 bf16\n"
            "softmax 64x8 bf16\nbatched-gemm 8x8x32x8 bf16\ncopy 8x256 bf16\ncast 64x8 bf16\n"
            "row-reduce 64x8 bf16 4 B each\nelementwise 64x8 bf16 8 B each\n"
            "row-map 64x8 bf16 5 B each\nrow-map 64x8 bf16 8 B each\n"
            "permute 192x16 bf16 2.667 B each\n");
  EXPECT_TRUE(plan.left_out.empty());
}

// Rows consist of packs of 16 B, and the threads of a block hold a whole row.
TEST(MeasurePlan, ExtentsThatKernelsDoNotAcceptAreLeftOut) {
  const auto of = [](KernelKind kind, int64_t rows, int64_t columns, double bytes) {
    return IsMeasurable(MemoryKernel(kind, DataType::kBf16, rows, columns, bytes));
  };
  EXPECT_TRUE(of(KernelKind::kFusedNorm, 3, 65536, 4));
  EXPECT_FALSE(of(KernelKind::kFusedNorm, 3, 65544, 4));
  EXPECT_FALSE(of(KernelKind::kFusedNorm, 3, 100, 4));
  EXPECT_TRUE(of(KernelKind::kGelu, 3, 100, 4));
  EXPECT_TRUE(of(KernelKind::kCausalSoftmax, 64, 32, 3));
  EXPECT_FALSE(of(KernelKind::kCausalSoftmax, 48, 32, 3));
  EXPECT_FALSE(of(KernelKind::kCausalSoftmax, 64, 32, 3.5));
  EXPECT_TRUE(of(KernelKind::kQuantize, 64, 128, 4));
  EXPECT_FALSE(of(KernelKind::kQuantize, 96, 128, 4));
  EXPECT_TRUE(of(KernelKind::kUnpermute, 64, 128, 2.25));
  EXPECT_FALSE(of(KernelKind::kUnpermute, 60, 128, 2.25));
  EXPECT_FALSE(of(KernelKind::kUnpermute, 64, 128, 4.25));
  EXPECT_FALSE(IsMeasurable(MemoryKernel(KernelKind::kGelu, DataType::kFp32, 64, 64, 8)));
  EXPECT_FALSE(IsMeasurable(BatchedGemm(DataType::kFp8, 2, 64, 64, 64)));
}

TEST(MeasurePlan, GridHasEveryOrderedPairOfWidths) {
  const MeasurePlan gemms =
      *PlanMeasurements(GridSubmodules({{8, 16}, {32, 64}, DataType::kFp16, true, false}),
                        ShippedAssumptions(), nullptr);
  EXPECT_EQ(gemms.kernels.size(), 8u);
  const MeasurePlan memory = *PlanMeasurements(
      GridSubmodules({{64}, {128}, DataType::kBf16, false, true}), ShippedAssumptions(), nullptr);
  EXPECT_EQ(memory.kernels.size(), 23u) << Listed(memory);
  EXPECT_TRUE(memory.left_out.empty()) << LeftOutText(memory);
  for (const Kernel& kernel : memory.kernels) EXPECT_TRUE(IsMemoryKernel(kernel.kind));
}

}  // namespace
}  // namespace drydock
