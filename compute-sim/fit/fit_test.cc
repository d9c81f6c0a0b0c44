// "Does a fit recover the parameters that generated the rows, and does it write them?"
#include "compute-sim/fit/fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute-sim/fit/fit_rows.h"
#include "compute-sim/fit/simplex.h"
#include "compute-sim/kernel/kernel_parameters_text.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

TEST(Simplex, FindsTheMinimumOfACurvedValley) {
  const auto rosenbrock = [](const std::vector<double>& x) {
    return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
  };
  const SimplexResult result = MinimizeSimplex(rosenbrock, {-1.2, 1}, 0.5, 1000);
  EXPECT_NEAR(result.at[0], 1, 0.01);
  EXPECT_NEAR(result.at[1], 1, 0.02);
}

// With the shipped weights.
FitOptions Options(int evaluations, size_t max_rows) {
  const std::string path = "configs/fit.yaml";
  return {*ParseFitWeights(*ReadFile(path), path), evaluations, max_rows};
}

// Rows of GEMMs and additions with the times that `truth` predicts.
ProfilePtr RowsGeneratedBy(const GpuData& truth) {
  std::string text =
      "# gpu: a100-sxm-80g\n# provenance: made\n# method: a model\n# date: never\n# clocks: burst\n"
      "kernel,dtype,m,n,k,rows,columns,time\n";
  for (const int64_t m : {384, 1024, 2560, 8192}) {
    for (const int64_t n : {768, 2048, 6144, 12288}) {
      for (const int64_t k : {1024, 4096, 12288}) {
        text += fmt::format("gemm,fp16,{},{},{},,,{} us\n", m, n, k,
                            PredictCalibrated(truth, Gemm(DataType::kFp16, m, n, k))->us);
      }
    }
  }
  for (int64_t rows = 64; rows <= 65536; rows *= 2) {
    const Kernel add = MemoryKernel(KernelKind::kAdd, DataType::kFp16, rows, 4096, 6);
    text += fmt::format("add,fp16,,,,{},4096,{} us\n", rows, PredictCalibrated(truth, add)->us);
  }
  return SharedProfile(text);
}

TEST(Fit, RecoversTheRatesThatGeneratedTheRows) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kBurst);
  GpuData truth = gpu;
  truth.parameters.gemm[0].tensor_rate = FlopRate(240e12);
  truth.parameters.gemm[0].launch = Time::Us(5);
  truth.parameters.memory.hbm = *ParseBandwidth("1.2 TB/s");
  gpu.profiles = {RowsGeneratedBy(truth)};
  const FitResult result = *Fit(gpu, Options(4000, 200));
  for (const Residuals& residuals : result.residuals) {
    EXPECT_LE(residuals.mean, 0.02) << ToString(residuals);
    EXPECT_GT(residuals.rows, 0);
  }
  EXPECT_NEAR(result.parameters.gemm[0].tensor_rate.flops_per_second(), 240e12, 12e12);
  EXPECT_NEAR(result.parameters.memory.hbm.bytes_per_second(), 1.2e12, 0.03e12);
  EXPECT_EQ(result.kept,
            (std::vector<std::string>{"flash-2 forward", "flash-2 backward", "trtllm"}));
  EXPECT_TRUE(result.notes.empty()) << result.notes[0];
  const FitResult again = *Fit(gpu, Options(4000, 200));
  EXPECT_EQ(KernelsText(again.parameters, ""), KernelsText(result.parameters, ""));
}

// A fit to the rows of a GPU twice as fast keeps the attention rate within the specification.
TEST(Fit, AttentionRateStaysBelowTheDenseRate) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kBurst);
  GpuData truth = gpu;
  truth.parameters.attention[0].forward.tensor_rate = FlopRate(800e12);
  std::string text =
      "# gpu: a100-sxm-80g\n# provenance: made\n# method: a model\n# date: never\n"
      "# clocks: burst\nkernel,dtype,batch,sequence,heads,kv_heads,head_dim,causal,time\n";
  for (int64_t sequence = 512; sequence <= 16384; sequence *= 2) {
    for (const int64_t width : {64, 128}) {
      const Kernel kernel = Attention(KernelKind::kAttentionForward, DataType::kFp16,
                                      {8, sequence, 16, 16, width, true});
      text += fmt::format("attention-forward,fp16,8,{},16,16,{},1,{} us\n", sequence, width,
                          PredictCalibrated(truth, kernel)->us);
    }
  }
  gpu.profiles = {SharedProfile(text)};
  const FitResult result = *Fit(gpu, Options(300, 200));
  const double rate = result.parameters.attention[0].forward.tensor_rate.flops_per_second();
  EXPECT_GT(rate, 291.9e12);
  EXPECT_LE(rate, 312e12);
}

// Rows of wide heads determine the passes of wide heads and no others.
TEST(Fit, WideHeadsHavePassesOfTheirOwn) {
  GpuData gpu = ShippedGpuData("b200-sxm-180g", kBurst);
  GpuData truth = gpu;
  AttentionPass& wide = truth.parameters.attention[0].wide_forward;
  wide.tensor_rate = FlopRate(wide.tensor_rate.flops_per_second() * 0.8);
  std::string text =
      "# gpu: b200-sxm-180g\n# provenance: made\n# method: a model\n# date: never\n"
      "kernel,dtype,batch,sequence,heads,kv_heads,head_dim,causal,value_dim,time\n";
  for (int64_t sequence = 512; sequence <= 16384; sequence *= 2) {
    for (const int64_t heads : {16, 32, 64}) {
      const AttentionShape shape{8, sequence, heads, heads, 192, true, 0, 128};
      const Kernel kernel = Attention(KernelKind::kAttentionForward, DataType::kBf16, shape);
      text += fmt::format("attention-forward,bf16,8,{0},{1},{1},192,1,128,{2} us\n", sequence,
                          heads, PredictCalibrated(truth, kernel)->us);
    }
  }
  gpu.profiles = {SharedProfile(text)};
  const FitResult result = *Fit(gpu, Options(1500, 200));
  const AttentionParameters& library = result.parameters.attention[0];
  EXPECT_EQ(library.forward.tensor_rate, gpu.parameters.attention[0].forward.tensor_rate);
  for (const Residuals& residuals : result.residuals) EXPECT_LE(residuals.mean, 0.02);
  EXPECT_NE(std::find(result.kept.begin(), result.kept.end(), "cudnn-9 forward"),
            result.kept.end());
}

// A few long rows cannot determine twelve parameters, but they determine the rate.
TEST(Fit, FewRowsChangeTheRateOnly) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kSustained);
  GpuData truth = gpu;
  truth.parameters.gemm[0].tensor_rate = FlopRate(250e12);
  std::string text =
      "# gpu: a100-sxm-80g\n# provenance: made\n# method: a model\n# date: never\n"
      "kernel,dtype,m,n,k,time\n";
  for (const int64_t m : {2048, 3072, 4096, 6144, 8192, 12288, 16384}) {
    text += fmt::format("gemm,fp16,{},8192,8192,{} us\n", m,
                        PredictCalibrated(truth, Gemm(DataType::kFp16, m, 8192, 8192))->us);
  }
  gpu.profiles = {SharedProfile(text)};
  const FitResult result = *Fit(gpu, Options(200, 200));
  GemmParameters& fitted = gpu.parameters.gemm[0];
  EXPECT_NEAR(result.parameters.gemm[0].tensor_rate.flops_per_second(), 250e12, 5e12);
  fitted.tensor_rate = result.parameters.gemm[0].tensor_rate;
  fitted.error = result.parameters.gemm[0].error;
  EXPECT_EQ(KernelsText(gpu.parameters, ""), KernelsText(result.parameters, ""));
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0],
            "only the rate of gemm fp16 changed: 4 rows are too few for 11 parameters");
}

std::string RowsOfA100(const std::string& columns) {
  return "# gpu: a100-sxm-80g\n# provenance: made\n# method: a\n# date: never\nkernel,dtype," +
         columns + ",time\n";
}

// Some rate matches one row exactly, and a repeated row adds no information.
TEST(Fit, SingleRowChangesNoParameter) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kSustained);
  const ProfilePtr row = SharedProfile(RowsOfA100("m,n,k") + "gemm,fp16,4096,8192,8192,3 ms\n");
  gpu.profiles = {row, row};
  ASSERT_EQ(
      Half(RowsOf(gpu.profiles, Options(0, 0).weights, [](KernelKind, DataType) { return true; }),
           true)
          .size(),
      2u);
  EXPECT_EQ(Fit(gpu, Options(200, 200)).error().message(),
            "there are too few rows: gemm fp16 did not change: the fitted half of its 2 rows has 1 "
            "distinct extents, at least 2 are needed");
  gpu.profiles.push_back(RowsGeneratedBy(ShippedGpuData("a100-sxm-80g", kBurst)));
  EXPECT_TRUE(Fit(gpu, Options(20, 200)).ok());
}

// A curve from one row length would apply the share of this length to all lengths.
TEST(Fit, CurveNeedsSeveralRowLengths) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kSustained);
  std::string text = RowsOfA100("rows,columns");
  for (int64_t rows = 65536; rows <= 262144; rows += 32768) {
    text += fmt::format("softmax,fp16,{},4096,9 ms\n", rows);
  }
  gpu.profiles = {SharedProfile(text), RowsGeneratedBy(ShippedGpuData("a100-sxm-80g", kBurst))};
  const FitResult result = *Fit(gpu, Options(20, 200));
  EXPECT_EQ(result.parameters.memory.softmax, gpu.parameters.memory.softmax);
  EXPECT_EQ(result.notes.back(),
            "softmax did not change: its rows above 300 MB have 1 lengths, at least 3 are needed");
}

// The errors that a file states hold for its old parameters only.
TEST(Fit, ErrorsOfChangedParametersAreDropped) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kSustained);
  ASSERT_GT(gpu.parameters.gemm[0].error.small, 0);
  std::string text = RowsOfA100("m,n,k");
  for (int64_t m = 2048; m <= 16384; m += 2048)
    text += fmt::format("gemm,fp16,{},8192,8192,{} us\n", m, m);
  gpu.profiles = {SharedProfile(text)};
  const FitErrors error = Fit(gpu, Options(20, 200))->parameters.gemm[0].error;
  EXPECT_GT(error.large, 0);
  EXPECT_EQ(error.small, 0);
}

// Kernels that last milliseconds do not change the cost of a launch; curves follow row lengths.
TEST(Fit, LongRowsChangeRatesAndCurvesOnly) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kBurst);
  GpuData truth = gpu;
  truth.parameters.memory.hbm = *ParseBandwidth("1.2 TB/s");
  for (auto& [length, share] : truth.parameters.memory.layer_norm) share *= 0.8;
  std::string text =
      "# gpu: a100-sxm-80g\n# provenance: made\n# method: a model\n# date: never\n"
      "kernel,dtype,rows,columns,time\n";
  for (const int64_t columns : {1024, 2048, 4096, 16384}) {
    for (const int64_t rows : {65536, 98304, 131072, 163840, 196608, 262144}) {
      for (const KernelKind kind : {KernelKind::kElementwise, KernelKind::kLayerNorm}) {
        const Kernel kernel = MemoryKernel(kind, DataType::kFp16, rows, columns, 4);
        text += fmt::format("{},fp16,{},{},{} us\n", InfoOf(kind).name, rows, columns,
                            PredictCalibrated(truth, kernel)->us);
      }
    }
  }
  gpu.profiles = {SharedProfile(text)};
  const MemoryParameters fitted = Fit(gpu, Options(300, 200))->parameters.memory;
  EXPECT_EQ(fitted.launch, gpu.parameters.memory.launch);
  EXPECT_EQ(fitted.l2_share, gpu.parameters.memory.l2_share);
  EXPECT_NEAR(fitted.hbm.bytes_per_second(), 1.2e12, 0.01e12);
  for (const int64_t columns : {1024, 2048, 4096, 16384}) {
    EXPECT_NEAR(ShareAt(fitted.layer_norm, columns),
                0.8 * ShareAt(gpu.parameters.memory.layer_norm, columns), 0.02);
  }
  EXPECT_EQ(fitted.softmax, gpu.parameters.memory.softmax);
  EXPECT_LE(fitted.error.large, 0.02);
}

// A row that contains the quantization is fitted and predicted with the quantization.
TEST(Fit, RowsWithAQuantizationDetermineItsCost) {
  GpuData gpu = ShippedGpuData("h100-sxm-80g", kBurst);
  GpuData truth = gpu;
  truth.parameters.memory.quantize = {Time::Us(20), 12};
  Profile as;
  as.clocks = kBurst;
  as.quantized = true;
  std::string text =
      "# gpu: h100-sxm-80g\n# provenance: made\n# method: a model\n# date: never\n"
      "# clocks: burst\n# contains: quantise\nkernel,dtype,m,n,k,time\n";
  for (const int64_t m : {512, 2048, 8192, 32768}) {
    for (const int64_t n : {1024, 2048, 4096, 8192}) {
      for (const int64_t k : {1024, 4096, 16384}) {
        text += fmt::format("gemm,fp8,{},{},{},{} us\n", m, n, k,
                            PredictAsProfiled(truth, as, Gemm(DataType::kFp8, m, n, k))->us);
      }
    }
  }
  gpu.profiles = {SharedProfile(text)};
  const QuantizeStage found = Fit(gpu, Options(2000, 200))->parameters.memory.quantize;
  EXPECT_NEAR(found.bytes, 12, 2);
  EXPECT_NEAR(found.launch.us(), 20, 4);
}

TEST(Fit, ZeroEvaluationsChangeNoParameter) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kBurst);
  GpuData truth = gpu;
  truth.parameters.gemm[0].tensor_rate = FlopRate(240e12);
  gpu.profiles = {RowsGeneratedBy(truth)};
  const FitResult result = *Fit(gpu, Options(0, 200));
  EXPECT_EQ(KernelsText(result.parameters, ""), KernelsText(gpu.parameters, ""));
  EXPECT_GT(result.residuals.front().mean, 0.05);
}

// Short norms change no parameter, so their rows are not split into halves.
TEST(Fit, RowsThatNoFitUsedAreReportedAsNotFitted) {
  const auto names = [](int evaluations) {
    GpuData gpu = ShippedGpuData("a100-sxm-80g", kBurst);
    gpu.profiles = {RowsGeneratedBy(gpu),
                    SharedProfile("# gpu: a100-sxm-80g\n# provenance: a\n# method: b\n# date: c\n"
                                  "kernel,dtype,rows,columns,time\nlayer-norm,fp16,64,64,4 us\n"
                                  "layer-norm,fp16,64,128,4 us\nlayer-norm,fp16,64,96,4 us\n")};
    std::string text;
    const FitResult result = *Fit(gpu, Options(evaluations, 200));
    for (const Residuals& r : result.residuals) {
      text += fmt::format("{} {}\n", r.what, r.rows);
    }
    return text;
  };
  EXPECT_EQ(names(10),
            "gemm fp16, fitted half 26\ngemm fp16, other half 22\n"
            "gemm fp16, other half, extents from 256 22\n"
            "gemm fp16, other half, extents from 1024 11\nlayer-norm fp16, not fitted 3\n"
            "add fp16, fitted half 9\nadd fp16, other half 2\n");
  EXPECT_EQ(names(0).substr(0, 69),
            "gemm fp16, half that a fit takes 26\ngemm fp16, other half 22\ngemm fp1");
}

TEST(Fit, HalfOfTheRowsAreFitted) {
  const std::vector<FitRow> rows =
      RowsOf({RowsGeneratedBy(ShippedGpuData("a100-sxm-80g", kBurst))}, Options(0, 0).weights,
             [](KernelKind kind, DataType) { return kind == KernelKind::kGemm; });
  EXPECT_EQ(rows.size(), 48u);
  const size_t fitted = Half(rows, true).size();
  EXPECT_GE(fitted, 14u);
  EXPECT_LE(fitted, 34u);
  EXPECT_EQ(Half(rows, false).size(), 48 - fitted);
}

TEST(Fit, RefusesRowsWithoutAPrediction) {
  GpuData gpu = ShippedGpuData("a100-sxm-80g", kBurst);
  gpu.profiles = {
      SharedProfile("# gpu: a100-sxm-80g\n# provenance: a\n# method: b\n# date: c\n"
                    "kernel,dtype,m,n,k,time\ngemm,fp8,1,2,3,4 us\n")};
  EXPECT_EQ(Fit(gpu, Options(1500, 600)).error().message(),
            "none of the rows is of a kernel and type that the model can be fitted to");
}

// A GPU without parameters starts from the parameters of its reference, multiplied by the ratios of
// the specifications.
TEST(Fit, StartsFromTheReferenceScaled) {
  const GpuData h100 = ShippedGpuData("h100-sxm-80g", kSustained);
  const GpuData card = *MakeGpuData(ShippedGpu("h100-pcie-80g"), {});
  const KernelParameters start = *StartingParameters(card, &h100);
  const auto rate = [](const KernelParameters& p) {
    return p.gemm[0].tensor_rate.flops_per_second();
  };
  EXPECT_NEAR(rate(start), rate(h100.parameters) * 756 / 989, 1e9);
  EXPECT_NEAR(start.memory.hbm.bytes_per_second(), 2.97e12 * 2000 / 3350, 1e9);
  EXPECT_EQ(start.gemm[0].error.large, h100.parameters.scaling.gemm);
  EXPECT_EQ(start.attention[0].error.small, h100.parameters.scaling.attention);
  EXPECT_GT(start.memory.error.large, 0);
  const GpuData a100 = *MakeGpuData(ShippedGpu("a100-pcie-80g"), {});
  EXPECT_EQ(StartingParameters(a100, &h100)->GemmFor(DataType::kFp8), nullptr);
  EXPECT_NE(StartingParameters(a100, &h100)->GemmFor(DataType::kFp16), nullptr);
  EXPECT_FALSE(StartingParameters(a100, nullptr).ok());
}

TEST(KernelsText, WideHeadsReadBack) {
  const KernelParameters parameters = ShippedGpuData("b200-sxm-180g", kSustained).parameters;
  ASSERT_EQ(parameters.attention[0].wide_from, 192);
  const std::string section = KernelsText(parameters, "");
  bool present = false;
  const KernelParameters again = *ReadKernelParameters(section, "f", &present);
  EXPECT_EQ(KernelsText(again, ""), section);
  EXPECT_EQ(again.attention[0].forward.block, 256);
  EXPECT_EQ(again.gemm[0].power_exponent, 0.866);
  EXPECT_EQ(again.gemm[0].long_rows, 0.2008);
  const size_t from = section.find("from: 192");
  const std::string wrong = std::string(section).replace(from, 9, "from: 0");
  EXPECT_NE(ReadKernelParameters(wrong, "f", &present).error().ToString().find("'from'"),
            std::string::npos);
}

TEST(KernelsText, ReadsBackAndLeavesOtherSectionsAlone) {
  const GpuSpec spec = ShippedGpu("h100-sxm-80g");
  const KernelParameters parameters = ShippedGpuData("h100-sxm-80g", kSustained).parameters;
  const std::string section = KernelsText(parameters, "first line\nsecond line");
  const std::string text = WithKernels(spec.file_text, section);
  bool present = false;
  const KernelParameters again = *ReadKernelParameters(text, "f", &present);
  EXPECT_TRUE(present);
  EXPECT_EQ(KernelsText(again, "first line\nsecond line"), section);
  EXPECT_EQ(text.find("kernels:\n"), text.rfind("kernels:\n"));
  EXPECT_TRUE(ParseGpuFile(text, "f")->has_collective_costs);
  const std::string without = ShippedGpu("b300-sxm-288g").file_text;
  EXPECT_TRUE(ReadKernelParameters(WithKernels(without, section), "f", &present).ok());
  EXPECT_TRUE(present);
}

}  // namespace
}  // namespace drydock
