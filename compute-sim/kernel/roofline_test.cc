// "Do the calibrated models reproduce what was measured?" Small samples of the published tables
// that the parameters were fitted to (other rows than these were used as well), with the errors
// that docs/explanation/compute.md states for the whole.
#include "compute-sim/kernel/roofline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

struct GemmRow {
  int64_t m, n, k;
  double us;
};

// ai-dynamo/aiconfigurator @095f58a5 (Apache-2.0), gemm_perf, a100_sxm, TensorRT-LLM 1.0.0, bf16.
constexpr GemmRow kA100Rows[] = {
    {1024, 2048, 1536, 42.974},   {1024, 2560, 10240, 215.859}, {1024, 6144, 2560, 134.144},
    {1024, 10240, 4096, 312.695}, {2048, 3072, 2560, 134.11},   {2048, 3072, 7168, 352.324},
    {2048, 12288, 2560, 528.794}, {2048, 16384, 2048, 540.365}, {4096, 4096, 1024, 148.139},
    {4096, 8192, 8192, 2115.891}, {8192, 2560, 5120, 765.303},  {8192, 3584, 4096, 908.766},
    {8192, 3584, 7168, 1607.27},  {8192, 6144, 5120, 2010.658}, {8192, 12288, 1536, 1222.69},
    {8192, 12288, 2560, 2016.87}};
// The same, h100_sxm, TensorRT-LLM 1.3.0rc20, bf16.
constexpr GemmRow kH100Rows[] = {
    {1024, 5120, 7168, 105.92},    {1281, 1024, 1536, 8.48},     {1536, 2560, 7168, 74.877},
    {1792, 7168, 3584, 123.451},   {1793, 6144, 5120, 147.947},  {2049, 1024, 10240, 80.846},
    {2304, 3072, 2560, 52.697},    {2304, 3584, 12288, 251.691}, {2305, 7168, 5120, 233.333},
    {2817, 12288, 10240, 923.056}, {3072, 2560, 12288, 245.872}, {3073, 1024, 10240, 83.84},
    {3329, 6144, 4096, 208.533},   {3840, 8192, 2048, 177.005},  {3841, 16384, 10240, 1604.523},
    {32768, 5120, 10240, 4285.819}};
// Azure/AI-benchmarking-guide @8fd0c6e1, cuBLASLt after 10,000 warm-up launches: m = n = k, TFLOPS.
struct RateRow {
  int64_t size;
  double tflops;
};
constexpr RateRow kA100Sustained[] = {{4096, 228.0}, {8192, 253.7}, {16384, 256.5}};
constexpr RateRow kH100Fp8Sustained[] = {
    {4096, 1216.9}, {8192, 1290.1}, {16384, 1377.3}, {32768, 1382.2}};

struct Errors {
  std::vector<double> values;
  void Add(double predicted, double measured) { values.push_back(predicted / measured - 1); }
  double Mean() const {
    double sum = 0;
    for (const double e : values) sum += std::abs(e);
    return sum / static_cast<double>(values.size());
  }
  double Bias() const {
    double sum = 0;
    for (const double e : values) sum += e;
    return sum / static_cast<double>(values.size());
  }
  double Worst() const {
    double worst = 0;
    for (const double e : values) worst = std::max(worst, std::abs(e));
    return worst;
  }
  void Print(const char* what) const {
    fmt::print("{:<28} {:3} rows  mean {:5.1f} %  worst {:5.1f} %  bias {:+5.1f} %\n", what,
               values.size(), Mean() * 100, Worst() * 100, Bias() * 100);
  }
};

template <size_t kCount>
Errors GemmErrors(const GemmRow (&rows)[kCount], const std::string& gpu) {
  const GpuData data = ShippedGpuData(gpu, kBurst);
  Errors errors;
  for (const GemmRow& row : rows) {
    const Kernel kernel = Gemm(DataType::kBf16, row.m, row.n, row.k);
    errors.Add(PredictCalibrated(data, kernel)->us, row.us);
  }
  return errors;
}

// Products that a loop launches run one after another; only the first shows its launch. One kernel
// for all groups has one launch and a start for each further group.
TEST(Roofline, GroupsOfALoopAndOfOneKernel) {
  GpuData b200 = ShippedGpuData("b200-sxm-180g", kSustained);
  const double launch = b200.parameters.GemmFor(DataType::kMxfp8)->launch.us();
  const double one = PredictCalibrated(b200, Gemm(DataType::kMxfp8, 616, 1536, 5120))->us;
  Kernel kernel = GroupedGemm(KernelKind::kGroupedGemm, DataType::kMxfp8, 40, 616, 1536, 5120);
  const double pooled = PredictCalibrated(b200, kernel)->us;
  kernel.looped = 39;
  EXPECT_NEAR(PredictCalibrated(b200, kernel)->us, 40 * (one - launch) + launch, 1e-6 * pooled);
  EXPECT_LT(pooled, PredictCalibrated(b200, kernel)->us);
  kernel.looped = 0;
  for (GemmParameters& set : b200.parameters.gemm) set.group_start = Time();
  EXPECT_NEAR(PredictCalibrated(b200, kernel)->us, pooled - 39 * 0.28, 1e-6 * pooled);
}

// MooreThreads/SimuMax @4dcaae51, configs/system/b200_bf16_ceperm.json, group_matmul: Transformer
// Engine's loop over experts in bf16; weight gradients are added into fp32. None was fitted.
TEST(Roofline, ProductsOfExpertsOnABlackwell) {
  struct Row {
    KernelKind kind;
    int64_t groups, m, n, k;
    double us;
  };
  constexpr KernelKind kPlain = KernelKind::kGroupedGemm;
  constexpr KernelKind kAdded = KernelKind::kGroupedGemmAccumulate;
  constexpr Row kRows[] = {
      {kPlain, 20, 1232, 1536, 5120, 449.1},   {kPlain, 32, 1024, 2048, 7168, 964.4},
      {kPlain, 40, 2460, 1536, 5120, 1407.4},  {kPlain, 40, 2460, 5120, 3072, 3043.7},
      {kPlain, 40, 9832, 5120, 3072, 11563.2}, {kPlain, 64, 512, 7168, 4096, 2128.9},
      {kPlain, 128, 256, 2048, 7168, 1861.6},  {kPlain, 160, 154, 3072, 5120, 1716.2},
      {kPlain, 256, 128, 2048, 7168, 2859.5},  {kAdded, 20, 3072, 5120, 1232, 1051.6},
      {kAdded, 40, 3072, 5120, 616, 1335.7},   {kAdded, 40, 3072, 5120, 9832, 13136.0},
      {kAdded, 40, 5120, 1536, 9832, 6649.9},  {kAdded, 128, 4096, 7168, 256, 5804.4},
      {kAdded, 160, 5120, 1536, 154, 2079.2},  {kAdded, 256, 7168, 2048, 128, 5338.9}};
  const GpuData b200 = ShippedGpuData("b200-sxm-180g", kSustained);
  Errors errors;
  for (const Row& r : kRows) {
    Kernel kernel = GroupedGemm(r.kind, DataType::kBf16, r.groups, r.m, r.n, r.k);
    kernel.looped = static_cast<int>(r.groups) - 1;
    errors.Add(PredictCalibrated(b200, kernel)->us, r.us);
  }
  EXPECT_LT(errors.Mean(), 0.12);
  EXPECT_LT(std::abs(errors.Bias()), 0.06);
}

// ai-dynamo/aiconfigurator @095f58a5 (Apache-2.0), gemm_perf, b200_sxm, TensorRT-LLM 1.3.0rc20,
// bf16: the rate falls with K.
constexpr GemmRow kB200Rows[] = {
    {32768, 2560, 1536, 171.8},   {32768, 6144, 2048, 522.2},   {16384, 4096, 3072, 253.1},
    {1280, 51200, 2048, 171.2},   {3072, 16384, 3072, 190.1},   {16384, 16384, 5120, 1721.2},
    {8192, 7168, 6144, 499.4},    {2048, 8192, 7168, 162.4},    {4096, 10240, 7168, 442.4},
    {16384, 6144, 8192, 1256.4},  {8192, 7168, 8192, 723.0},    {2816, 7168, 10240, 273.8},
    {1536, 7168, 12288, 188.3},   {2816, 8192, 12288, 393.0},   {16384, 3584, 16384, 1417.4},
    {1280, 51200, 16384, 1427.9}, {3328, 51200, 16384, 3841.7}, {3072, 8192, 51200, 1802.9}};

TEST(Roofline, B200GemmsWithinTheStatedError) {
  const Errors errors = GemmErrors(kB200Rows, "b200-sxm-180g");
  errors.Print("B200 bf16 GEMM");
  EXPECT_LE(errors.Mean(), 0.06);
  EXPECT_LE(errors.Worst(), 0.17);
}

// Without the launch, of a product whose arithmetic takes nearly all of the time.
double MainLoopUs(const GpuData& gpu, int64_t k) {
  const Kernel kernel = Gemm(DataType::kBf16, 16384, 16384, k);
  const Prediction prediction = *PredictCalibrated(gpu, kernel);
  return prediction.us - prediction.fixed_us;
}

TEST(Roofline, LongRowsSlowTheMainLoop) {
  for (const double derate : {-1.0, -0.1, 0.0, 0.3}) {
    GpuData burst = ShippedGpuData("b200-sxm-180g", kBurst);
    GpuData sustained = ShippedGpuData("b200-sxm-180g", kSustained);
    GpuData burst_without = burst, sustained_without = sustained;
    for (GpuData* gpu : {&burst, &sustained, &burst_without, &sustained_without}) {
      GemmParameters& set = gpu->parameters.gemm[0];
      set.derate = derate;
      set.derate_at = Time::FromUs(1e5);
      set.tile_store = set.tile_start = Time();
      set.memory = Bandwidth::FromBytesPerSecond(1e15);
      const bool without = gpu == &burst_without || gpu == &sustained_without;
      set.long_rows = without ? 0 : 0.2;
    }
    const auto slower = [](const GpuData& gpu, const GpuData& than, int64_t k) {
      return MainLoopUs(gpu, k) / MainLoopUs(than, k);
    };
    // A row of 4096 elements has 8 KiB.
    EXPECT_NEAR(slower(burst, burst_without, 256), 1, 0.005);
    EXPECT_NEAR(slower(burst, burst_without, 4096), 1.1, 0.005);
    EXPECT_NEAR(slower(burst, burst_without, 32768), 1.2, 0.005);
    // The power limit takes short rows to one rate: that of long rows, or more below a derate of 0.
    const double limited = std::max(1.0, 1.2 * (1 + std::min(derate, 0.0)));
    EXPECT_NEAR(slower(sustained, sustained_without, 256), limited, 0.005);
    EXPECT_NEAR(slower(sustained, sustained_without, 32768), 1.2, 0.005);
  }
}

TEST(Roofline, A100GemmsWithinTheStatedError) {
  const Errors errors = GemmErrors(kA100Rows, "a100-sxm-80g");
  errors.Print("A100 bf16 GEMM");
  EXPECT_LE(errors.Mean(), 0.03);
  EXPECT_LE(errors.Worst(), 0.12);
}

TEST(Roofline, H100GemmsWithinTheStatedError) {
  const Errors errors = GemmErrors(kH100Rows, "h100-sxm-80g");
  errors.Print("H100 bf16 GEMM");
  EXPECT_LE(errors.Mean(), 0.06);
  EXPECT_LE(errors.Worst(), 0.28);  // the 8 us row: half of its time is the launch
}

template <size_t kCount>
Errors SustainedErrors(const RateRow (&rows)[kCount], const std::string& gpu, DataType type) {
  const GpuData data = ShippedGpuData(gpu, kSustained);
  Errors errors;
  for (const RateRow& row : rows) {
    const Kernel kernel = Gemm(type, row.size, row.size, row.size);
    errors.Add(PredictCalibrated(data, kernel)->us, kernel.flops / row.tflops * 1e-6);
  }
  return errors;
}

TEST(Roofline, SustainedClocksGiveTheRatesOfLongRuns) {
  const Errors a100 = SustainedErrors(kA100Sustained, "a100-sxm-80g", DataType::kFp16);
  a100.Print("A100 fp16 sustained");
  EXPECT_LE(a100.Mean(), 0.04);
  const Errors h100 = SustainedErrors(kH100Fp8Sustained, "h100-sxm-80g", DataType::kFp8);
  h100.Print("H100 fp8 sustained");
  EXPECT_LE(h100.Mean(), 0.02);
}

// Forward and backward together of batch 16384 / sequence, 2048 / head_dim heads, as
// Dao-AILab/flash-attention @0251105a plots them for FlashAttention-2.
struct AttentionRow {
  bool causal;
  int64_t head_dim, sequence;
  double tflops;
};
constexpr AttentionRow kFlash2A100[] = {{false, 64, 2048, 162},  {false, 128, 2048, 187},
                                        {false, 128, 8192, 201}, {true, 64, 1024, 119},
                                        {true, 64, 8192, 165},   {true, 128, 512, 99},
                                        {true, 128, 2048, 155},  {true, 128, 16384, 189}};
constexpr AttentionRow kFlash2H100[] = {{false, 64, 2048, 274},  {false, 128, 2048, 320},
                                        {false, 128, 8192, 335}, {true, 64, 1024, 192},
                                        {true, 64, 8192, 273},   {true, 128, 512, 163},
                                        {true, 128, 2048, 265},  {true, 128, 16384, 328}};

template <size_t kCount>
Errors AttentionErrors(const AttentionRow (&rows)[kCount], const std::string& gpu) {
  GpuData data = ShippedGpuData(gpu, kSustained);
  data.attention_library = "flash-2";
  Errors errors;
  for (const AttentionRow& row : rows) {
    const AttentionShape shape{16384 / row.sequence, row.sequence, 2048 / row.head_dim,
                               2048 / row.head_dim,  row.head_dim, row.causal};
    double us = 0, flops = 0;
    for (const KernelKind kind : {KernelKind::kAttentionForward, KernelKind::kAttentionBackward}) {
      const Kernel kernel = Attention(kind, DataType::kFp16, shape);
      us += PredictCalibrated(data, kernel)->us;
      flops += kernel.flops;
    }
    errors.Add(us, flops / row.tflops * 1e-6);
  }
  return errors;
}

TEST(Roofline, FusedAttentionWithinTheStatedError) {
  const Errors a100 = AttentionErrors(kFlash2A100, "a100-sxm-80g");
  a100.Print("A100 FlashAttention-2");
  EXPECT_LE(a100.Mean(), 0.03);
  EXPECT_LE(a100.Worst(), 0.06);
  const Errors h100 = AttentionErrors(kFlash2H100, "h100-sxm-80g");
  h100.Print("H100 FlashAttention-2");
  EXPECT_LE(h100.Mean(), 0.04);
  EXPECT_LE(h100.Worst(), 0.08);
}

// cuDNN's causal attention on a B200, one sequence: the rows of MooreThreads/SimuMax @4dcaae51,
// configs/system/b200_bf16_ceperm.json, that no parameter was fitted to.
struct CudnnRow {
  int64_t sequence, heads, kv_heads, head_dim;
  double forward_us, backward_us;
};
constexpr CudnnRow kCudnnB200[] = {
    {4096, 8, 1, 128, 98.565, 115.924},         {4096, 8, 2, 128, 96.88, 121.434},
    {4096, 32, 4, 128, 167.601, 383.811},       {4096, 32, 8, 128, 168.107, 388.312},
    {4096, 128, 16, 128, 503.327, 1475.406},    {32768, 16, 2, 128, 3354.599, 11212.07},
    {131072, 16, 2, 128, 63258.49, 189163.291}, {4096, 32, 32, 192, 194.373, 625.109},
    {4096, 128, 128, 192, 735.282, 2374.143},   {131072, 64, 64, 192, 457325.952, 1188179.525}};

// Each kernel ran 100 times in a row, so only the long ones met the power limit.
TEST(Roofline, CudnnAttentionOfNarrowAndWideHeadsWithinTheStatedError) {
  GpuData data = ShippedGpuData("b200-sxm-180g", kBurst);
  data.attention_library = "cudnn-9";
  Errors narrow, wide;
  for (const CudnnRow& row : kCudnnB200) {
    const AttentionShape shape{1, row.sequence, row.heads, row.kv_heads, row.head_dim, true,
                               0, 128};
    Errors& errors = row.head_dim == 128 ? narrow : wide;
    const auto us = [&](KernelKind kind) {
      return PredictCalibrated(data, Attention(kind, DataType::kBf16, shape))->us;
    };
    errors.Add(us(KernelKind::kAttentionForward), row.forward_us);
    errors.Add(us(KernelKind::kAttentionBackward), row.backward_us);
  }
  narrow.Print("B200 cuDNN, heads of 128");
  wide.Print("B200 cuDNN, heads of 192 and 128");
  EXPECT_LE(narrow.Mean(), 0.06);
  EXPECT_LE(wide.Mean(), 0.06);
}

// In a run, short kernels have the clocks that a benchmark reaches only in long ones.
TEST(Roofline, AttentionMeetsThePowerLimit) {
  GpuData burst = ShippedGpuData("b200-sxm-180g", kBurst);
  GpuData run = ShippedGpuData("b200-sxm-180g", kSustained);
  burst.attention_library = run.attention_library = "cudnn-9";
  const auto slowdown = [&](KernelKind kind, int64_t sequence) {
    const AttentionShape shape{1, sequence, 32, 8, 128, true, 0, 128};
    const Kernel kernel = Attention(kind, DataType::kBf16, shape);
    return PredictCalibrated(run, kernel)->us / PredictCalibrated(burst, kernel)->us;
  };
  EXPECT_NEAR(slowdown(KernelKind::kAttentionForward, 8192), 1.22, 0.02);
  EXPECT_NEAR(slowdown(KernelKind::kAttentionBackward, 8192), 1.19, 0.02);
  EXPECT_NEAR(slowdown(KernelKind::kAttentionForward, 262144), 1, 0.002);
}

// Element-wise addition on an A100 SXM: 1.70 TB/s out of HBM (Azure/AI-benchmarking-guide).
TEST(Roofline, MemoryTrafficGoesThroughL2OrHbm) {
  const GpuData data = ShippedGpuData("a100-sxm-80g", kSustained);
  const Kernel large = MemoryKernel(KernelKind::kAdd, DataType::kFp16, 1 << 16, 1 << 13, 6);
  const Prediction hbm = *PredictCalibrated(data, large);
  EXPECT_NEAR(large.bytes / (hbm.us - hbm.fixed_us) * 1e-6, 1.70, 1e-9);
  EXPECT_EQ(BoundOf(hbm), KernelBound::kMemory);
  // 12.6 MB stay in L2: launch 1.33 us + bytes / 3.9 TB/s.
  const Kernel small = MemoryKernel(KernelKind::kAdd, DataType::kFp16, 1024, 2048, 6);
  EXPECT_NEAR(PredictCalibrated(data, small)->us, 1.33 + small.bytes / 3.9e6, 1e-9);
  const Kernel tiny = MemoryKernel(KernelKind::kAdd, DataType::kFp16, 1, 128, 6);
  EXPECT_EQ(BoundOf(*PredictCalibrated(data, tiny)), KernelBound::kLaunch);
}

TEST(Roofline, LayerNormOfLongRowsIsSlowerThanFusedNorm) {
  const GpuData data = ShippedGpuData("a100-sxm-80g", kSustained);
  const auto us = [&](KernelKind kind) {
    return PredictCalibrated(data, MemoryKernel(kind, DataType::kFp16, 8192, 6144, 4))->us - 1.33;
  };
  const MemoryParameters& memory = data.parameters.memory;
  const double ratio = us(KernelKind::kFusedNorm) / us(KernelKind::kLayerNorm);
  EXPECT_NEAR(ratio, ShareAt(memory.layer_norm, 6144) / memory.fused_norm, 1e-9);
  EXPECT_NEAR(ratio, 0.7, 0.01);
}

TEST(Roofline, LargerGemmsTakeLongerAndFp8IsFaster) {
  const GpuData data = ShippedGpuData("h100-sxm-80g", kSustained);
  double before = 0;
  for (int64_t m = 128; m <= 65536; m *= 2) {
    const double us = PredictCalibrated(data, Gemm(DataType::kBf16, m, 4096, 4096))->us;
    EXPECT_GT(us, before);
    before = us;
  }
  const double bf16 = PredictCalibrated(data, Gemm(DataType::kBf16, 8192, 8192, 8192))->us;
  const double fp8 = PredictCalibrated(data, Gemm(DataType::kFp8, 8192, 8192, 8192))->us;
  EXPECT_GT(bf16 / fp8, 1.6);
  EXPECT_LT(bf16 / fp8, 2.2);
}

TEST(KernelParameters, MistakesAreReportedTogether) {
  bool present = false;
  const auto result = ReadKernelParameters(
      "kernels:\n  clocks: sustaned\n  launch_gap: 1 us\n  gemm:\n    tiles: [128]\n"
      "    splits: [1]\n    tile_k: 64\n    sets: []\n  attention: {default: x, libraries: []}\n"
      "  memory: {launch: 1 us, hbm: 1 TB/s, l2: 2 TB/s, l2_share: 0.5, layer_norm: {8: 1},\n"
      "           softmax: {8: 1, 4: 1}, fused_norm: 0.9}\n",
      "my.yaml", &present);
  ASSERT_FALSE(result.ok());
  const std::string text = result.error().ToString();
  EXPECT_NE(text.find("my.yaml:2:11: error: "), std::string::npos) << text;
  EXPECT_NE(text.find("my.yaml:5:13: error: expected a tile like 128x256"), std::string::npos)
      << text;
  EXPECT_NE(text.find("my.yaml:11:28: error: row lengths must ascend"), std::string::npos) << text;
}

TEST(KernelParameters, SharesAreLinearInTheLogarithmOfTheRowLength) {
  const ShareCurve curve = {{1024, 0.8}, {4096, 0.4}};
  EXPECT_DOUBLE_EQ(ShareAt(curve, 1), 0.8);
  EXPECT_NEAR(ShareAt(curve, 2048), 0.6, 1e-12);
  EXPECT_DOUBLE_EQ(ShareAt(curve, 1 << 20), 0.4);
}

// The longer of arithmetic and traffic at the assumed shares; a chunk's scores are bound by
// traffic.
TEST(ChunkProducts, AreARoofline) {
  const GpuData data = ShippedGpuData("h100-sxm-80g", kBurst);
  const GemmParameters& set = *data.parameters.GemmFor(DataType::kBf16);
  const AssumedShares shares = {.tensor = 0.25, .memory = 0.5, .error = 0.4};
  const auto predict = [&](const ChunkProductShape& shape) {
    return PredictChunkProduct(ChunkProduct(DataType::kBf16, shape), set, data.parameters.memory,
                               shares);
  };
  const Prediction deep = predict({.batch = 1024, .m = 512, .n = 128, .k = 4096, .sharing = 64});
  EXPECT_EQ(deep.bound, KernelBound::kTensorCores);
  EXPECT_NEAR(deep.us - deep.fixed_us,
              2e6 * 1024 * 512 * 128 * 4096 / (set.tensor_rate.flops_per_second() * 0.25), 0.01);
  const Prediction flat = predict({.batch = 4096, .m = 64, .n = 64, .k = 16, .result_bytes = 4});
  EXPECT_EQ(flat.bound, KernelBound::kMemory);
  EXPECT_NEAR(flat.us - flat.fixed_us,
              4096e6 * (2 * 2 * 64 * 16 + 4 * 64 * 64) /
                  (data.parameters.memory.hbm.bytes_per_second() * 0.5),
              0.01);
}

// The longest of arithmetic, loads of keys from L2, and traffic: few heads do not hide the keys.
TEST(SparseProducts, AreARooflineWithL2) {
  const GpuData data = ShippedGpuData("h100-sxm-80g", kBurst);
  const GemmParameters& set = *data.parameters.GemmFor(DataType::kBf16);
  const MemoryParameters& memory = data.parameters.memory;
  const AssumedShares shares = {.tensor = 0.5, .memory = 0.25, .error = 0.4};
  const auto predict = [&](const SparseProductShape& shape) {
    return PredictSparseProduct(SparseProduct(DataType::kBf16, shape), set, memory, shares);
  };
  SparseProductShape shape{.rows = 4096,
                           .heads = 512,
                           .keys = 2048,
                           .width = 1024,
                           .key_bytes = 1152,
                           .row_bytes = 64,
                           .gathered = true};
  const Prediction wide = predict(shape);
  EXPECT_EQ(wide.bound, KernelBound::kTensorCores);
  EXPECT_NEAR(wide.us - wide.fixed_us,
              2e6 * 4096 * 512 * 2048 * 1024 / (set.tensor_rate.flops_per_second() * 0.5), 0.1);
  shape.heads = 16;
  const Prediction loads = predict(shape);
  EXPECT_EQ(loads.bound, KernelBound::kMemory);
  EXPECT_NEAR(loads.us - loads.fixed_us,
              1e6 * 4096 * 2048 * 1152 / (memory.l2.bytes_per_second() * 0.25), 0.1);
  shape.gathered = false;
  EXPECT_NEAR((loads.us - loads.fixed_us) / (predict(shape).us - loads.fixed_us), 4, 1e-6);
  shape.row_bytes = 1 << 26;
  EXPECT_NEAR(predict(shape).us - loads.fixed_us,
              1e6 * 4096 * (1 << 26) / memory.hbm.bytes_per_second(), 1);
}

// A sequence shorter than a block of queries computes only its own scores. Full blocks are not
// affected.
TEST(Attention, ShortSequencesFillPartOfABlock) {
  const GpuData data = ShippedGpuData("a100-sxm-80g", kBurst);
  const auto work = [&](int64_t sequence, int64_t kv_sequence, bool causal) {
    const Kernel kernel = Attention(KernelKind::kAttentionForward, DataType::kFp16,
                                    {4096, sequence, 32, 32, 64, causal, kv_sequence, 64});
    const Prediction p = *PredictCalibrated(data, kernel);
    return p.us - p.fixed_us;
  };
  EXPECT_LT(work(16, 16, true), work(64, 64, true));
  EXPECT_LT(work(64, 64, true), work(128, 128, true));
  EXPECT_LT(work(128, 128, true), work(144, 144, true));
  EXPECT_LT(work(112, 2048, false), work(144, 2048, false));
  // Without a mask, every block sees all keys; with a causal mask, only the last block does.
  EXPECT_GT(work(2048, 2048, false), work(2048, 2048, true));
  EXPECT_GT(work(512, 4096, true), work(512, 2048, true));
  EXPECT_LT(work(512, 4096, true), work(512, 4096, false));
}

}  // namespace
}  // namespace drydock
