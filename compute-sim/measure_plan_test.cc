// "Is the right set of kernels measured, and taken up again where it stopped?"
#include "compute-sim/measure_plan.h"

#include <gtest/gtest.h>

#include "compute-sim/submodule_file.h"

namespace drydock {
namespace {

std::string Listed(const MeasurePlan& plan) {
  std::string text;
  for (const Kernel& kernel : plan.kernels) {
    text += InfoOf(kernel.kind).name + " " + ShapeString(kernel) + "\n";
  }
  return text;
}

TEST(MeasurePlan, EveryKernelOnceAndWhatCannotBeLaunchedIsCounted) {
  const auto submodules = *ParseSubmodules(
      "submodules:\n- {kind: linear, rows: 64, n: 32, k: 16, accumulate_fp32: true}\n"
      "- {kind: linear, rows: 64, n: 32, k: 16, pass: fwd}\n- {kind: norm, rows: 64, n: 16}\n"
      "- {kind: add, rows: 64, n: 16}\n",
      "f");
  const MeasurePlan plan = *PlanMeasurements(submodules, nullptr);
  EXPECT_EQ(Listed(plan),
            "gemm 64x32x16 bf16\ngemm 64x16x32 bf16\ngemm-accumulate 32x16x64 bf16\n"
            "add 64x16 bf16\n");
  EXPECT_EQ(plan.left_out, 3);  // a norm, its backward, its parameters
}

TEST(MeasurePlan, AGridHasEveryPairOfWidthsBothWays) {
  const MeasurePlan plan =
      *PlanMeasurements(GridSubmodules({8, 16}, {32, 64}, DataType::kFp16), nullptr);
  EXPECT_EQ(plan.kernels.size(), 8u);
}

// The file that a run leaves, read back, spares the next run its rows.
TEST(MeasurePlan, WhatTheProfileHasIsNotMeasuredAgain) {
  const auto grid = GridSubmodules({8, 16}, {32}, DataType::kBf16);
  std::string file = MeasuredHeader({"h200-sxm-141g", "a GPU", "CUDA 13.0", "cuBLASLt", "never"});
  const Profile begun = *ParseProfile(file, "p.csv");
  EXPECT_EQ(PlanMeasurements(grid, &begun)->kernels.size(), 2u);
  file += MeasuredRow(PlanMeasurements(grid, nullptr)->kernels[1], 12.5);
  const Profile present = *ParseProfile(file, "p.csv");
  EXPECT_TRUE(present.burst);
  const MeasurePlan plan = *PlanMeasurements(grid, &present);
  EXPECT_EQ(plan.known, 1);
  EXPECT_EQ(Listed(plan), "gemm 8x32x32 bf16\n");
  EXPECT_EQ(FindRow(present, Gemm(DataType::kBf16, 16, 32, 32))->time(), Time::Ns(12500));
  file += MeasuredRow(PlanMeasurements(grid, nullptr)->kernels[0], 0.0003);
  EXPECT_EQ(FindRow(*ParseProfile(file, "p.csv"), Gemm(DataType::kBf16, 8, 32, 32))->time(),
            Time::Ps(300));
}

}  // namespace
}  // namespace drydock
