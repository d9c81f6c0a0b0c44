// "Does gpu-profiler continue a profile that it began, and no other file?"
#include "compute-sim/measure/measure_file.h"

#include <gtest/gtest.h>

#include "compute-sim/measure/measure_plan.h"
#include "compute-sim/submodules/submodule_file.h"
#include "compute-sim/testing/gpu_testing.h"
#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

const MeasuredOn kOn = {"h200-sxm-141g",
                        "NVIDIA H200",
                        "580.1, CUDA 13.0",
                        "cuBLASLt 130100",
                        "SM clock at most 1980 MHz",
                        "2026-01-01"};

class MeasureFileTest : public ::testing::Test {
 protected:
  Result<BegunFile> Begun(const std::string& text, const std::string& gpu = "") {
    EXPECT_TRUE(WriteFileAtomically(path_, text).ok());
    return ReadBegunFile(path_, gpu);
  }
  std::string ErrorOf(const std::string& text, const std::string& gpu = "") {
    const Result<BegunFile> file = Begun(text, gpu);
    return file.ok() ? "no error" : file.error().message();
  }

  drydock::testing::TemporaryDirectory dir_;
  const std::string path_ = dir_.path() + "/p.csv";
  const std::vector<Submodule> grid_ = GridSubmodules({{8, 16}, {32}});
};

TEST_F(MeasureFileTest, MeasuredKernelsAreNotMeasuredAgain) {
  std::string text = MeasuredHeader(kOn);
  const MeasurePlan all = *PlanMeasurements(grid_, ShippedAssumptions(), nullptr);
  ASSERT_EQ(all.kernels.size(), 2u);
  text += MeasuredRemark("SM clock 1755 MHz, 640 W") + MeasuredRow(all.kernels[1], 12.5) +
          MeasuredRow(MemoryKernel(KernelKind::kSoftmax, DataType::kBf16, 64, 8, 6), 0.0003);
  const BegunFile file = *Begun(text, "h200-sxm-141g");
  EXPECT_EQ(file.profile.clocks, KernelParameters::Clocks::kBurst);
  EXPECT_NE(file.profile.source.find("SM clock at most 1980 MHz"), std::string::npos);
  const MeasurePlan plan = *PlanMeasurements(grid_, ShippedAssumptions(), &file.profile);
  EXPECT_EQ(plan.known, 1);
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].dims[0], 8);
  EXPECT_EQ(FindRow(file.profile, all.kernels[1])->time(), Time::Ns(12500));
  const Kernel wide = MemoryKernel(KernelKind::kSoftmax, DataType::kBf16, 64, 8, 6);
  EXPECT_EQ(FindRow(file.profile, wide)->time(), Time::Ps(300));
  EXPECT_TRUE(CheckContinues(file, kOn).ok());
}

TEST_F(MeasureFileTest, IncompleteLastRowIsMeasuredAgain) {
  const MeasurePlan all = *PlanMeasurements(grid_, ShippedAssumptions(), nullptr);
  const std::string whole = MeasuredHeader(kOn) + MeasuredRow(all.kernels[0], 3);
  const std::string row = MeasuredRow(all.kernels[1], 5);
  for (size_t length = 1; length < row.size(); ++length) {
    const BegunFile file = *Begun(whole + row.substr(0, length));
    EXPECT_EQ(file.text, whole);
    EXPECT_EQ(file.profile.row_count(), 1u);
  }
}

TEST_F(MeasureFileTest, RefusesToContinueOtherFiles) {
  const std::string other =
      "gpu-profiler did not begin this file, or another version did; name another file";
  const std::string header = MeasuredHeader(kOn);
  EXPECT_EQ(ErrorOf(""), other);
  EXPECT_EQ(ErrorOf("a shopping list"), other);
  EXPECT_EQ(ErrorOf("# gpu: h200-sxm-141g\n# provenance: by hand\n# method: a\n# date: b\n"
                    "kernel,dtype,m,n,k,time\ngemm,bf16,1,2,3,4 us\n"),
            other);
  EXPECT_EQ(ErrorOf(header.substr(0, header.rfind("kernel"))), other);
  EXPECT_EQ(ErrorOf(header.substr(0, header.size() - 1)), other);
  EXPECT_EQ(ErrorOf(header, "h100-sxm-80g"),
            "this file has rows of 'h200-sxm-141g', not of 'h100-sxm-80g'");
  EXPECT_EQ(ErrorOf(header + "gemm,bf16,,,1,2,x,,,,,,,,,,,4 us\n"),
            "expected a whole number above 0 for 'k', found 'x'");
}

// The columns hold every kernel that gpu-profiler measures.
TEST_F(MeasureFileTest, EveryKindOfRowIsReadBack) {
  const std::vector<Submodule> submodules = *ParseSubmodules(
      "submodules:\n"
      "- {kind: attention, batch: 2, sequence: 64, heads: 8, kv_heads: 2, head_dim: 48, value_dim: "
      "32, "
      "kv_sequence: 128, causal: true, fused: true}\n"
      "- {kind: attention, batch: 1, sequence: 64, heads: 8, kv_heads: 8, head_dim: 64, pass: "
      "fwd}\n"
      "- {kind: grouped-linear, type: fp8, rows: 256, n: 64, k: 64, experts: 4, accumulate_fp32: "
      "true}\n- {kind: linear, rows: 64, n: 32, k: 16, accumulate_fp32: true}\n"
      "- {kind: permute, rows: 64, n: 64, experts: 8, top_k: 4, pass: fwd}\n"
      "- {kind: norm, rows: 64, n: 64}\n",
      "f");
  const MeasurePlan plan = *PlanMeasurements(submodules, ShippedAssumptions(), nullptr);
  ASSERT_TRUE(plan.left_out.empty()) << LeftOutText(plan);
  std::string text = MeasuredHeader(kOn);
  for (const Kernel& kernel : plan.kernels) text += MeasuredRow(kernel, 7);
  const BegunFile file = *Begun(text);
  const MeasurePlan again = *PlanMeasurements(submodules, ShippedAssumptions(), &file.profile);
  EXPECT_EQ(again.known, static_cast<int64_t>(plan.kernels.size()));
  EXPECT_TRUE(again.kernels.empty()) << again.kernels.size();
}

TEST_F(MeasureFileTest, RefusesRowsOfAnotherMachine) {
  const BegunFile file = *Begun(MeasuredHeader(kOn));
  const auto error = [&](const MeasuredOn& on) {
    const Status status = CheckContinues(file, on);
    return status.ok() ? "no error" : status.error().message();
  };
  MeasuredOn on = kOn;
  on.date = "tomorrow";
  EXPECT_EQ(error(on), "no error");
  on.driver = "590.2, CUDA 13.1";
  EXPECT_EQ(
      error(on),
      "it was begun with 'driver: 580.1, CUDA 13.0', this is '590.2, CUDA 13.1'; name another "
      "file");
  on = kOn;
  on.device = "NVIDIA H100";
  EXPECT_EQ(error(on).substr(0, 64),
            "it was begun with 'provenance: gpu-profiler on NVIDIA H200', thi");
}

}  // namespace
}  // namespace drydock
