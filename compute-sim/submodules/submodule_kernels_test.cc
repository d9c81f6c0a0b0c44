// "Which kernels does each submodule run, and what do they move?" The tests compute extents,
// arithmetic and bytes by hand, and read lists of submodules as users write them.
#include "compute-sim/submodules/submodule_kernels.h"

#include <gtest/gtest.h>

#include "compute-sim/kernel/roofline.h"
#include "compute-sim/submodules/submodule_file.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

std::vector<Kernel> KernelsOfWords(const std::string& words,
                                   Fp8Layouts layouts = Fp8Layouts::kOne) {
  std::vector<Kernel> kernels;
  const std::vector<Submodule> submodules = ParseSubmoduleWords(words).value();
  for (const Submodule& submodule : submodules) {
    const std::vector<Kernel> more = KernelsOf(submodule, ShippedAssumptions(), layouts).value();
    kernels.insert(kernels.end(), more.begin(), more.end());
  }
  return kernels;
}

// "gemm 8x4x2 bf16, bias-add 8x4 bf16".
std::string Listed(const std::string& words, Fp8Layouts layouts = Fp8Layouts::kOne) {
  std::string text;
  for (const Kernel& kernel : KernelsOfWords(words, layouts)) {
    text += (text.empty() ? "" : ", ") + InfoOf(kernel.kind).name + " " + ShapeString(kernel);
  }
  return text;
}

std::string ErrorOf(const std::string& words) {
  const auto result = ParseSubmoduleWords(words);
  return result.ok() ? "no error" : result.error().message();
}

TEST(SubmoduleKernels, RouterScoresAreAGemmAndASoftmax) {
  EXPECT_EQ(Listed("kind: router, pass: fwd, rows: 4096, n: 64, k: 2048"),
            "gemm 4096x64x2048 bf16, softmax 4096x64 bf16 6 B each");
  EXPECT_EQ(Listed("kind: router, pass: bwd, rows: 4096, n: 64, k: 2048, accumulate_fp32: true"),
            "softmax-backward 4096x64 bf16 10 B each, gemm 4096x2048x64 bf16, "
            "gemm-accumulate 64x2048x4096 bf16");
}

// The traffic for each element of rows x n, of all kernels together.
double BytesPerElement(const std::string& words, double elements) {
  double bytes = 0;
  for (const Kernel& kernel : KernelsOfWords(words)) bytes += kernel.bytes;
  return bytes / elements;
}

// PyTorch's own RMS norm works in fp32, with one kernel per operator: 6 + 8 + 4 + 8 + 8 + 6 bytes
// per element and two numbers per row; backward, 6 + 8 + 12 + 4 + 8 + 12 + 4 + 4 + 8 + 12 + 12 + 6.
TEST(SubmoduleKernels, UnfusedRmsNormRunsManyKernels) {
  const std::string norm = "kind: norm, rows: 16384, n: 4096, rms: true", forward = ", pass: fwd";
  const double elements = 16384.0 * 4096;
  EXPECT_EQ(KernelsOfWords(norm + forward).size(), 8u);
  EXPECT_DOUBLE_EQ(BytesPerElement(norm + forward, elements), 40 + 2 * 8 / 4096.0);
  EXPECT_EQ(KernelsOfWords(norm + ", pass: bwd").size(), 13u);
  EXPECT_DOUBLE_EQ(BytesPerElement(norm + ", pass: bwd", elements), 96 + 8 / 4096.0);
  EXPECT_EQ(Listed(norm + forward + ", fused: true"), "fused-norm 16384x4096 bf16");
  EXPECT_EQ(Listed("kind: norm, rows: 8192, n: 4096, pass: fwd"), "layer-norm 8192x4096 bf16");
}

// Megatron's fused softmax takes four heads at a time. For two heads of one sequence, five
// operators in fp32 run in each direction instead of one.
TEST(SubmoduleKernels, SoftmaxOfTwoHeadsRunsManyKernels) {
  const std::string scores = "kind: attention, type: fp16, sequence: 64, head_dim: 16, heads: 2, ";
  EXPECT_EQ(Listed(scores + "kv_heads: 2, batch: 2, causal: true, pass: fwd"),
            "batched-gemm 4x64x64x16 fp16, causal-softmax 256x64 fp16, "
            "batched-gemm 4x64x16x64 fp16, copy 128x32 fp16");
  EXPECT_EQ(Listed(scores + "kv_heads: 2, batch: 1, causal: true, pass: fwd"),
            "batched-gemm 2x64x64x16 fp16, cast 128x64 fp16, elementwise 128x64 fp16 8 B each, "
            "elementwise 128x64 fp16 9 B each, softmax 128x64 fp16 8 B each, cast 128x64 fp16, "
            "batched-gemm 2x64x16x64 fp16, copy 64x32 fp16");
  // So do they without the fused softmax.
  const std::string four = scores + "kv_heads: 2, batch: 2, causal: true, pass: fwd";
  EXPECT_EQ(KernelsOfWords(four + ", plain_softmax: true").size(), KernelsOfWords(four).size() + 4);
  const auto back = [&](const std::string& batch) {
    return KernelsOfWords(scores + "kv_heads: 2, pass: bwd, batch: " + batch);
  };
  ASSERT_EQ(back("1").size(), back("2").size() + 4);
  double bytes = 0;
  for (size_t i = 2; i < 7; ++i) bytes += back("1")[i].bytes;
  EXPECT_DOUBLE_EQ(bytes / (2 * 64 * 64), 6 + 12 + 9 + 8 + 6);
}

TEST(SubmoduleKernels, TopKReadsAllScoresAndWritesThePicks) {
  const auto kernels = KernelsOfWords("kind: top-k, pass: fwd, rows: 1000, n: 64, top_k: 8");
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(kernels[0].bytes, 1000 * (64 * 2 + 8 * (2 + 8)));
  EXPECT_EQ(kernels[1].bytes, 1000 * 64 * 3);
  EXPECT_EQ(kernels[2].bytes, 1000 * 8 * 13);
}

int LaunchesOf(const std::vector<Kernel>& kernels) {
  int launches = 0;
  for (const Kernel& kernel : kernels) launches += kernel.launches;
  return launches;
}

TEST(SubmoduleKernels, FusedRoutersLaunchFewKernels) {
  const std::string forward = "kind: top-k, pass: fwd, rows: 1000, n: 64, top_k: 8";
  EXPECT_EQ(LaunchesOf(KernelsOfWords(forward)), 3 + 6);
  EXPECT_EQ(LaunchesOf(KernelsOfWords(forward + ", aux_loss: true")), 3 + 6 + 16);
  EXPECT_EQ(LaunchesOf(KernelsOfWords(forward + ", fused: true")), 1);
  EXPECT_EQ(LaunchesOf(KernelsOfWords(forward + ", fused: true, aux_loss: true")), 1 + 2);
  const std::string backward = "kind: top-k, pass: bwd, rows: 1000, n: 64, top_k: 8";
  EXPECT_EQ(LaunchesOf(KernelsOfWords(backward + ", aux_loss: true")), 3 + 2 + 7);
}

TEST(SubmoduleKernels, TokensAreCountedByOperators) {
  const std::string words = "kind: permute, pass: fwd, rows: 100, n: 7168, experts: 32, top_k: 4";
  EXPECT_EQ(LaunchesOf(KernelsOfWords(words)), 3);
  EXPECT_EQ(LaunchesOf(KernelsOfWords(words + ", counts: true")), 3 + 10);
}

// The permutation reads a token once and writes it once for each pick; the backward pass does the
// reverse.
TEST(SubmoduleKernels, PermutationsMoveTokensOnceAndTheirCopiesTopKTimes) {
  const double token = 7168 * 2;
  const auto there = KernelsOfWords("kind: permute, rows: 100, n: 7168, experts: 32, top_k: 4");
  ASSERT_EQ(there.size(), 4u);  // two maps and the copy; backward
  EXPECT_EQ(there[0].bytes + there[1].bytes, 100 * 32 * 13);
  EXPECT_DOUBLE_EQ(there[2].bytes, 100 * (1 + 4) * token);
  EXPECT_DOUBLE_EQ(there[3].bytes, there[2].bytes);
  const auto back = KernelsOfWords("kind: unpermute, rows: 100, n: 7168, experts: 32, top_k: 4");
  ASSERT_EQ(back.size(), 2u);
  EXPECT_DOUBLE_EQ(back[0].bytes, 100 * (4 + 1) * token);
  EXPECT_DOUBLE_EQ(back[1].bytes, 100 * (1 + 2 * 4) * token);  // results are read once more
}

// 1024 tokens in 8 chunks of 128; 4 heads of 64 columns with 256 rows of state, in 2 groups.
constexpr const char* kScan =
    "kind: state-space, rows: 1024, heads: 4, head_dim: 64, state: 256, groups: 2, chunk: 128, "
    "taps: 4, ";

TEST(SubmoduleKernels, AScanMultipliesChunks) {
  EXPECT_EQ(Listed(kScan + std::string("pass: fwd")),
            "causal-conv 1024x1280 bf16, row-reduce 1024x4 bf16 10 B each, "
            "chunk-product 16x128x128x256x1x4 bf16, chunk-product 32x256x64x128x2x4 bf16, "
            "elementwise 32x16384 bf16 6 B each, chunk-product 32x128x64x320x2x2 bf16, "
            "fused-norm 2048x128 bf16 6 B each");
}

// Forward: scores of each group, states, outputs from states and from the chunk; 2 x rows x ...
TEST(SubmoduleKernels, FlopsOfAScan) {
  const auto flops = [](const std::string& pass) {
    double sum = 0;
    for (const Kernel& kernel : KernelsOfWords(kScan + ("pass: " + pass))) sum += kernel.flops;
    return sum;
  };
  const double state = 4 * 64 * 256, inner = 4 * 64, rows = 1024;
  const double forward = 2 * rows * (2 * 128 * 256 + 2 * state + 64 * inner);
  EXPECT_DOUBLE_EQ(flops("fwd"), forward);
  // Scores and states again; their gradients; those of the two matrices of the state, each through
  // states and scores; the decays.
  const double again = 2 * rows * (2 * 128 * 256 + state);
  EXPECT_DOUBLE_EQ(flops("bwd"), again + 2 * rows *
                                             (state + (state + 64 * inner) + 2 * state +
                                              64 * inner + 2 * 2 * 64 * 256 + 64 * inner));
}

TEST(SubmoduleKernels, HeadsThatShareAnOperandReadItOnce) {
  const Kernel alone = ChunkProduct(DataType::kBf16, {.batch = 8, .m = 16, .n = 4, .k = 2});
  const Kernel shared =
      ChunkProduct(DataType::kBf16, {.batch = 8, .m = 16, .n = 4, .k = 2, .sharing = 4});
  EXPECT_EQ(alone.flops, shared.flops);
  EXPECT_EQ(alone.bytes - shared.bytes, 2 * 8 * 16 * 2 * 0.75);
}

TEST(SubmoduleKernels, ADeltaNetCorrectsChunksAndPassesTheirStates) {
  const auto kernels = KernelsOfWords(
      "kind: delta-rule, pass: fwd, rows: 512, heads: 4, kv_heads: 2, head_dim: 32, value_dim: 64, "
      "chunk: 64, taps: 4");
  double flops = 0;
  for (const Kernel& kernel : kernels) flops += kernel.flops;
  // A token and head: keys with keys and their inverse, corrected keys and values, what the state
  // predicts, the new state, scores, the output.
  const double token =
      64 * 32 + 64 * 64 + 64 * (32 + 64) + 32 * 64 + 32 * 64 + 32 * 32 + 64 * (32 + 32);
  EXPECT_DOUBLE_EQ(flops, 2 * 512 * 4 * token);
  EXPECT_EQ(ErrorOf("kind: delta-rule, rows: 1, heads: 3, kv_heads: 2, head_dim: 1, value_dim: 1, "
                    "chunk: 1, taps: 1"),
            "submodule 'delta-rule' (delta-rule) has 3 heads, which 2 kv_heads do not divide");
}

// Operands that arrive in fp8 are not quantized again, but transposed for the gradient of the
// weight.
TEST(SubmoduleKernels, OperandsInFp8) {
  const std::string words = "kind: linear, type: fp8, rows: 16, n: 32, k: 64";
  EXPECT_EQ(
      Listed(words),
      "quantise 16x64 bf16, gemm 16x32x64 fp8, quantise 16x32 bf16, gemm 16x64x32 fp8 promoted, "
      "gemm 32x64x16 fp8 promoted");
  EXPECT_EQ(Listed(words + ", fp8_input: true"),
            "gemm 16x32x64 fp8, quantise 16x32 bf16, gemm 16x64x32 fp8 promoted, "
            "copy 16x64 bf16 2 B each, gemm 32x64x16 fp8 promoted");
  EXPECT_EQ(Listed(words + ", fp8_gradient: true"),
            "quantise 16x64 bf16, gemm 16x32x64 fp8, gemm 16x64x32 fp8 promoted, "
            "copy 16x32 bf16 2 B each, gemm 32x64x16 fp8 promoted");
  EXPECT_EQ(KernelsOfWords("kind: quantise, rows: 16, n: 32, fused: true")[0].bytes, 16 * 32 * 4);
  EXPECT_EQ(KernelsOfWords("kind: quantise, rows: 16, n: 32, fused: true, unturned: true")[0].bytes,
            16 * 32 * 3);
}

// Backward of a clamp, of the gate: a comparison (2 + 1 B an element) and a choice (1 + 2 + 2); of
// the other half, with two bounds: one comparison more and the product of both masks (1 + 1 + 1). A
// copy of both halves follows (2 + 2 each). Forward, other submodules clamp.
TEST(SubmoduleKernels, GradientsOfAClampedActivationAreMasked) {
  const auto bytes = [](const char* gated, const char* clamped, const std::string& pass) {
    return BytesPerElement(std::string("kind: activation, rows: 16, n: 64, gated: ") + gated +
                               ", clamped: " + clamped + ", pass: " + pass,
                           16 * 64);
  };
  EXPECT_DOUBLE_EQ(bytes("true", "true", "fwd"), bytes("true", "false", "fwd"));
  EXPECT_DOUBLE_EQ(bytes("true", "true", "bwd") - bytes("true", "false", "bwd"),
                   (3 + 5) + (3 + 3 + 3 + 5) + 2 * 4);
  EXPECT_DOUBLE_EQ(bytes("false", "true", "bwd") - bytes("false", "false", "bwd"), 3 + 3 + 3 + 5);
}

// Without its kernel, PyTorch's operators rotate.
TEST(SubmoduleKernels, RotaryWithoutItsKernel) {
  const auto bytes = [](const char* fused, const std::string& pass) {
    return BytesPerElement(
        std::string("kind: rotary, rows: 16, n: 64, fused: ") + fused + ", pass: " + pass, 16 * 64);
  };
  EXPECT_DOUBLE_EQ(bytes("true", "fwd"), 4);
  EXPECT_DOUBLE_EQ(bytes("false", "fwd"), 2 * 4 + 2 + 4 + 6 + 4);
  EXPECT_DOUBLE_EQ(bytes("false", "bwd"), 2 * 4 + 2 + 4 + 6 + 2 + 6);
}

// An activation that quantizes writes one byte an element instead of two; MXFP8 in both directions.
TEST(SubmoduleKernels, AnActivationWritesTheNextOperand) {
  const auto bytes = [](const std::string& type, const std::string& pass) {
    return BytesPerElement(
        "kind: activation, rows: 16, n: 64, gated: true, quantizes: true, type: " + type +
            ", pass: " + pass,
        16 * 64);
  };
  EXPECT_DOUBLE_EQ(bytes("fp8", "fwd"), 2 * 2 + 1);
  EXPECT_DOUBLE_EQ(bytes("fp8", "bwd"), 3 * 2 + 2 * 1);
  EXPECT_DOUBLE_EQ(bytes("mxfp8", "fwd"), 2 * 2 + 2 * 33 / 32.0);
}

// Operands of MXFP8 and NVFP4 are quantized along both dimensions, with a byte of scale for 32 or
// 16 elements: 2 + 2 (1 + 1/32) B and 2 + 2 (1/2 + 1/16) B an element.
TEST(SubmoduleKernels, OperandsWithScalesOfBlocks) {
  const std::string extents = ", rows: 16, n: 32, k: 64";
  EXPECT_EQ(Listed("kind: linear, type: mxfp8" + extents),
            "quantise 16x64 bf16 4.063 B each, gemm 16x32x64 mxfp8, "
            "quantise 16x32 bf16 4.063 B each, gemm 16x64x32 mxfp8, gemm 32x64x16 mxfp8");
  EXPECT_EQ(
      Listed("kind: linear, type: nvfp4, search_input: true, search_gradient: true" + extents),
      "row-reduce 16x64 bf16 2 B each, quantise 16x64 bf16 3.125 B each, gemm 16x32x64 nvfp4, "
      "row-reduce 16x32 bf16 2 B each, quantise 16x32 bf16 3.125 B each, gemm 16x64x32 nvfp4, "
      "gemm 32x64x16 nvfp4");
}

// Products of Blackwell take fp8 with one scale for a tensor in any layout: nothing is transposed,
// unless the framework turns operands on every GPU. Blocks of scales stay as on other GPUs.
TEST(SubmoduleKernels, WithoutTransposesWhereProductsTakeAnyLayout) {
  const std::string extents = ", rows: 16, n: 32, k: 64", words = "kind: linear, type: fp8";
  EXPECT_EQ(Listed(words + extents, Fp8Layouts::kAny),
            "quantise 16x64 bf16 3 B each, gemm 16x32x64 fp8, quantise 16x32 bf16 3 B each, "
            "gemm 16x64x32 fp8 promoted, gemm 32x64x16 fp8 promoted");
  const std::string arrived =
      words + extents + ", pass: wgrad, fp8_input: true, fp8_gradient: true";
  EXPECT_EQ(Listed(arrived, Fp8Layouts::kAny), "gemm 32x64x16 fp8 promoted");
  EXPECT_EQ(Listed(arrived + ", always_turns: true", Fp8Layouts::kAny),
            Listed(arrived, Fp8Layouts::kOne));
  for (const std::string type : {"mxfp8", "nvfp4", "fp8-block"}) {
    const std::string blocks = "kind: linear, type: " + type + extents;
    EXPECT_EQ(Listed(blocks, Fp8Layouts::kAny), Listed(blocks, Fp8Layouts::kOne)) << type;
  }
}

TEST(SubmoduleKernels, BlackwellOfServersTakesAnyFp8Layout) {
  GpuSpec gpu;
  const auto any = [&](int compute_capability) {
    gpu.compute_capability = compute_capability;
    return Fp8LayoutsOf(gpu) == Fp8Layouts::kAny;
  };
  EXPECT_FALSE(any(90));
  EXPECT_TRUE(any(100) && any(103) && any(110));
  EXPECT_FALSE(any(120));
  EXPECT_TRUE(any(130));
}

// Both directions of MXFP8 arrive, so only the scales are moved; other formats are turned.
TEST(SubmoduleKernels, GatheredOperandsAreTurned) {
  const auto turned = [](const std::string& type) {
    const auto kernels = KernelsOfWords("kind: linear, pass: wgrad, type: " + type +
                                        ", rows: 16, n: 32, k: 64, fp8_input: true");
    return kernels[0].bytes / (16 * 64);
  };
  EXPECT_DOUBLE_EQ(turned("fp8"), 2);
  EXPECT_DOUBLE_EQ(turned("fp8-block"), 2 + 2 * 4.0 / 128);
  EXPECT_DOUBLE_EQ(turned("mxfp8"), 2.0 / 32);
  EXPECT_DOUBLE_EQ(turned("nvfp4"), 2 * (0.5 + 1.0 / 16));
}

// A GEMM that adds into fp32 reads and writes 8 B for each result; into 16 bits, 4 B. A GEMM
// that adds into nothing writes 2 B.
TEST(SubmoduleKernels, AccumulatedGradientsAreReadAndWritten) {
  const std::string words = "kind: linear, pass: wgrad, rows: 16, n: 32, k: 64";
  const auto result_bytes = [&](const std::string& more) {
    return KernelsOfWords(words + more)[0].bytes - 2 * 16 * (32 + 64);
  };
  EXPECT_EQ(Listed(words), "gemm 32x64x16 bf16");
  EXPECT_EQ(result_bytes(""), 2 * 32 * 64);
  EXPECT_EQ(Listed(words + ", accumulate_half: true"),
            "gemm-accumulate 32x64x16 bf16 into 16 bits");
  EXPECT_EQ(result_bytes(", accumulate_half: true"), 4 * 32 * 64);
  EXPECT_EQ(Listed(words + ", accumulate_fp32: true"), "gemm-accumulate 32x64x16 bf16");
  EXPECT_EQ(result_bytes(", accumulate_fp32: true"), 8 * 32 * 64);
  EXPECT_EQ(Listed("kind: grouped-linear, pass: wgrad, rows: 64, n: 32, k: 64, experts: 4, "
                   "accumulate_half: true"),
            "grouped-gemm-accumulate 4x32x64x16 bf16 into 16 bits");
}

// Promotion lengthens the main loop only, so launch and results take the same time. Measured rows
// are of plain sums.
TEST(SubmoduleKernels, PromotedSumsTakeLongerOnHopperInFp8) {
  const GpuData h100 = ShippedGpuData("h100-sxm-80g", kSustained);
  Kernel kernel = Gemm(DataType::kFp8, 4096, 12288, 12288);
  const double plain = PredictCalibrated(h100, kernel)->us;
  kernel.promoted = true;
  const double promoted = PredictCalibrated(h100, kernel)->us;
  EXPECT_GT(promoted / plain, 1.13);
  EXPECT_LE(promoted / plain, 1.15);
  const GpuData b200 = ShippedGpuData("b200-sxm-180g", kSustained);
  const double blackwell = PredictCalibrated(b200, kernel)->us;
  kernel.promoted = false;
  EXPECT_EQ(blackwell, PredictCalibrated(b200, kernel)->us);
}

// PyTorch's product with scales of rows is slower on Hopper and promotes nothing.
TEST(SubmoduleKernels, ProductsWithScalesOfRowsAreOthers) {
  EXPECT_EQ(Listed("kind: linear, type: fp8, rows: 16, n: 32, k: 64, pass: dgrad, "
                   "fp8_gradient: true, row_scales: true"),
            "gemm 16x64x32 fp8 scales of rows");
  const GpuData h100 = ShippedGpuData("h100-sxm-80g", kSustained);
  Kernel kernel = Gemm(DataType::kFp8, 4096, 12288, 12288);
  kernel.promoted = true;
  const double promoted = PredictCalibrated(h100, kernel)->us;
  kernel.promoted = false;
  kernel.row_scaled = true;
  EXPECT_GT(PredictCalibrated(h100, kernel)->us, promoted);
}

TEST(SubmoduleKernels, SumReadsEachOperandOnce) {
  EXPECT_EQ(KernelsOfWords("kind: add, rows: 8, n: 16")[0].bytes, 8 * 16 * 3 * 2);
  EXPECT_EQ(KernelsOfWords("kind: add, rows: 8, n: 16, top_k: 4")[0].bytes, 8 * 16 * 5 * 2);
}

TEST(SubmoduleKernels, ExpertsShareTheRowsEvenly) {
  const std::string words = "kind: grouped-linear, rows: 4096, n: 2048, k: 7168, experts: 8";
  EXPECT_EQ(Listed(words + ", accumulate_fp32: true"),
            "grouped-gemm 8x512x2048x7168 bf16, grouped-gemm 8x512x7168x2048 bf16, "
            "grouped-gemm-accumulate 8x2048x7168x512 bf16");
  EXPECT_EQ(KernelsOfWords(words)[0].flops, 2.0 * 4096 * 2048 * 7168);
  EXPECT_EQ(KernelsOfWords(words)[0].bytes,
            2.0 * (4096.0 * 7168 + 8 * 2048.0 * 7168 + 4096.0 * 2048));
  EXPECT_EQ(
      Listed("kind: grouped-linear, pass: fwd, type: fp8, rows: 16, n: 32, k: 64, experts: 2"),
      "quantise 16x64 bf16, grouped-gemm 2x8x32x64 fp8");
}

// The host launches a product, and in fp8 a quantization, for each expert.
TEST(SubmoduleKernels, ALoopLaunchesTheProductsOfExperts) {
  const std::string words =
      "kind: grouped-linear, pass: fwd, type: fp8, rows: 4096, n: 2048, k: 7168, experts: 8";
  for (const Kernel& kernel : KernelsOfWords(words)) EXPECT_EQ(kernel.looped, 7);
  for (const Kernel& kernel : KernelsOfWords(words + ", one_kernel: true")) {
    EXPECT_EQ(kernel.looped, 0);
  }
}

// The activation of a gated MLP of 7168 x 2048 in MXFP8, 2 x 33/32 bytes an element that is
// written. Forward: beside the product's result. Backward: its input of 2 x 2 bytes is read, and
// two gradients are written in place of a result of 2 bytes.
TEST(SubmoduleKernels, ProductsOfExpertsRunTheActivation) {
  const std::string words =
      "kind: grouped-linear, type: mxfp8, experts: 8, one_kernel: true, rows: 4096, fused: true, "
      "gated: true, ";
  EXPECT_EQ(Listed(words + "pass: fwd, n: 4096, k: 7168"),
            "quantise 4096x7168 bf16 4.063 B each, grouped-gemm 8x512x4096x7168 mxfp8, "
            "swiglu 4096x2048 bf16 2.063 B each");
  EXPECT_EQ(Listed(words + "pass: dgrad, n: 7168, k: 2048"),
            "quantise 4096x7168 bf16 4.063 B each, grouped-gemm 8x512x2048x7168 mxfp8, "
            "swiglu-backward 4096x2048 bf16 6.125 B each");
  EXPECT_EQ(KernelsOfWords(words + "pass: fwd, n: 4096, k: 7168").back().launches, 0);
  const std::string other = "kind: grouped-linear, type: mxfp8, experts: 8, one_kernel: true, ";
  EXPECT_EQ(Listed(other + "rows: 4096, n: 7168, k: 2048, pass: fwd, fp8_input: true"),
            "grouped-gemm 8x512x7168x2048 mxfp8");
  EXPECT_EQ(Listed(other + "rows: 4096, n: 4096, k: 7168, pass: dgrad, fp8_gradient: true"),
            "grouped-gemm 8x512x7168x4096 mxfp8");
}

TEST(SubmoduleKernels, QuantizationWithoutAKnownScaleReadsTwice) {
  EXPECT_EQ(Listed("kind: quantise, rows: 8, n: 16, fused: true"), "quantise 8x16 bf16");
  EXPECT_EQ(Listed("kind: quantise, rows: 8, n: 16"),
            "row-reduce 8x16 bf16 2 B each, quantise 8x16 bf16");
}

TEST(SubmoduleKernels, LatentAttentionHasNarrowerValues) {
  const std::string words =
      "kind: attention, batch: 1, sequence: 4096, heads: 16, kv_heads: 16, head_dim: 192, "
      "value_dim: 128, causal: true, fused: true";
  const auto kernels = KernelsOfWords(words);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(ShapeString(kernels[0]), "1x4096x16x16x192 value 128 causal bf16");
  const double scores = 16.0 * 4096 * 4096 / 2;
  EXPECT_EQ(kernels[0].flops, 2 * scores * (192 + 128));
  EXPECT_EQ(kernels[1].flops, 2 * scores * (3 * 192 + 2 * 128));
  EXPECT_EQ(kernels[0].bytes, 2.0 * 4096 * 16 * 2 * (192 + 128));
}

// A rank's queries see all keys, with a mask on its last part only. The slices of a
// context-parallel ring together compute as much as one kernel over all keys.
TEST(SubmoduleKernels, ContextParallelSlicesAddUpToTheWhole) {
  const std::string words =
      "kind: attention, pass: fwd, batch: 1, sequence: 1024, heads: 8, kv_heads: 8, head_dim: 128, "
      "fused: true";
  const double whole = KernelsOfWords(words + ", kv_sequence: 4096, causal: true")[0].flops;
  const double own = KernelsOfWords(words + ", causal: true")[0].flops;
  const double others = KernelsOfWords(words + ", kv_sequence: 3072")[0].flops;
  EXPECT_EQ(whole, own + others);
  const GpuData gpu = ShippedGpuData("h100-sxm-80g", kSustained);
  const auto us = [&](const std::string& more) {
    return PredictCalibrated(gpu, KernelsOfWords(words + more)[0])->us;
  };
  EXPECT_GT(us(", kv_sequence: 4096, causal: true"), us(", kv_sequence: 3072"));
  EXPECT_LT(us(", kv_sequence: 4096, causal: true"), us(", kv_sequence: 4096"));
  EXPECT_NEAR(us(", kv_sequence: 8192") / us(", kv_sequence: 4096"), 2, 0.15);
}

TEST(SubmoduleKernels, UnfusedSlicesUseTheKeysOfTheSlice) {
  EXPECT_EQ(
      Listed("kind: attention, pass: fwd, batch: 2, sequence: 64, kv_sequence: 256, heads: 4, "
             "kv_heads: 4, head_dim: 32"),
      "batched-gemm 8x64x256x32 bf16, softmax 512x256 bf16, batched-gemm 8x64x32x256 bf16, "
      "copy 128x128 bf16");
}

TEST(SubmoduleFile, WithoutAPassTheListHasForwardAndBackward) {
  const auto both = ParseSubmoduleWords("kind: norm, name: final, rows: 8, n: 4").value();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].pass, Pass::kForward);
  EXPECT_EQ(both[1].pass, Pass::kBackward);
  EXPECT_EQ(both[1].name, "final");
  EXPECT_EQ(ParseSubmoduleWords("kind: optimizer, elements: 8").value().size(), 1u);
}

TEST(SubmoduleFile, MistakesAreNamed) {
  EXPECT_EQ(ErrorOf("kind: norm, rows: 8, n: 4, k: 2").substr(0, 30),
            "unknown key 'k' in 'submodule'");
  EXPECT_EQ(ErrorOf("kind: norm, rows: 8"), "'submodule' lacks the key 'n'");
  EXPECT_EQ(ErrorOf("kind: attention, batch: 1, sequence: 64, kv_sequence: 32, heads: 1, kv_heads: "
                    "1, head_dim: 8, causal: true"),
            "submodule 'attention' (attention) is causal with 64 queries and only 32 keys");
  EXPECT_EQ(ErrorOf("kind: top-k, rows: 8, n: 4, top_k: 5"),
            "submodule 'top-k' (top-k) picks 5 of 4");
  const auto result = ParseSubmodules(
      "submodules:\n  - {kind: nrm, rows: 8, n: 4}\n  - {kind: linear, rows: 0, n: 4, k: 2}\n",
      "my.yaml");
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.error().diagnostics().size(), 2u);
  EXPECT_EQ(result.error().diagnostics()[0].location.line, 2);
  EXPECT_EQ(result.error().diagnostics()[1].location.line, 3);
}

// The products of these extents overflow an integer, or the time.
TEST(SubmoduleFile, RefusesExtentsWithATooLargeProductAtTheirLine) {
  const auto result = ParseSubmodules(
      "submodules:\n  - {kind: norm, rows: 8, n: 4}\n  - {kind: attention, batch: 4194304, "
      "sequence: 4194304, heads: 4194304, kv_heads: 4194304, head_dim: 4194304}\n"
      "  - {kind: permute, rows: 1099511627776, n: 1, experts: 1099511627776, top_k: 1}\n",
      "my.yaml");
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.error().diagnostics().size(), 2u);
  EXPECT_EQ(result.error().diagnostics()[0].location.line, 3);
  EXPECT_EQ(result.error().diagnostics()[1].location.line, 4);
  EXPECT_EQ(result.error().message(),
            "submodule 'attention' (attention) has extents whose product is too large for any GPU");
}

}  // namespace
}  // namespace drydock
