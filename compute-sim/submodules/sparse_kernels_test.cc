// "Which kernels does sparse attention run, and how do they grow with the sequence?" Arithmetic is
// computed by hand.
#include <gtest/gtest.h>

#include "compute-sim/submodules/submodule_file.h"
#include "compute-sim/submodules/submodule_kernels.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

std::vector<Kernel> KernelsOfWords(const std::string& words) {
  const std::vector<Submodule> submodules = ParseSubmoduleWords(words).value();
  return KernelsOf(submodules.front(), ShippedAssumptions(), Fp8Layouts::kOne).value();
}

double FlopsOf(const std::string& words) {
  double flops = 0;
  for (const Kernel& kernel : KernelsOfWords(words)) flops += kernel.flops;
  return flops;
}

// The products with picked or seen keys among the kernels.
std::string Products(const std::string& words) {
  std::string text;
  for (const Kernel& kernel : KernelsOfWords(words)) {
    if (kernel.kind != KernelKind::kSparseProduct) continue;
    text += (text.empty() ? "" : ", ") + ShapeString(kernel);
  }
  return text;
}

std::string Words(const std::string& kind, const std::string& more, int keys = 4096) {
  return "kind: " + kind + ", rows: " + std::to_string(keys) +
         ", kv_sequence: " + std::to_string(keys) + ", top_k: 2048, " + more;
}

// 4096 queries see 2048.5 keys on average, and pick 2048 - 2048 * 2047 / 8192 = 1536.25.
TEST(SparseKernels, AttentionReadsThePickedKeys) {
  const std::string shape = "heads: 128, head_dim: 576, value_dim: 512, fused: true";
  EXPECT_EQ(Products(Words("sparse-attention", "pass: fwd, " + shape)),
            "4096x128x1536x1088x1152x278528x1 bf16");
  EXPECT_EQ(Products(Words("sparse-attention", "pass: bwd, " + shape)),
            "4096x128x1536x2752x3456x557056x1 bf16");
  // TileLang runs over all places, and computes the output again.
  EXPECT_EQ(Products(Words("sparse-attention", "pass: bwd, tilelang: true, " + shape)),
            "4096x128x2048x1088x1152x278528x1 bf16, 4096x128x2048x2752x3456x557056x1 bf16");
}

TEST(SparseKernels, KernelsPadHeads) {
  const auto heads = [](const std::string& more) {
    const std::string text =
        Products(Words("sparse-attention", "head_dim: 576, value_dim: 512, fused: true, " + more));
    return text.substr(5, text.find('x', 5) - 5);
  };
  EXPECT_EQ(heads("heads: 16"), "64");
  EXPECT_EQ(heads("heads: 64"), "64");
  EXPECT_EQ(heads("heads: 192"), "192");
  EXPECT_EQ(heads("heads: 8, tilelang: true"), "16");
  EXPECT_EQ(heads("heads: 32, tilelang: true"), "32");
}

// The indexer scores all keys that a query sees; its gradients are those of the picked keys.
TEST(SparseKernels, AnIndexerScoresAllKeysAndLearnsFromPicked) {
  const std::string index = "heads: 64, head_dim: 128, fused: true, ";
  EXPECT_EQ(FlopsOf(Words("sparse-index", index + "pass: fwd")), 2.0 * 4096 * 64 * 2049 * 128);
  EXPECT_EQ(FlopsOf(Words("sparse-index", index + "pass: bwd")), 6.0 * 4096 * 64 * 2049 * 128);
  EXPECT_EQ(FlopsOf(Words("sparse-index", index + "pass: bwd, picked_only: true")),
            6.0 * 4096 * 64 * 1536 * 128);
}

// Of 4096 keys in 4 samples, a query sees 512.5 on average, and picks all of them. The scores of
// all keys are written; TileLang runs over all 2048 places.
TEST(SparseKernels, PackedSamplesAreSeenApart) {
  const std::string index = "heads: 64, head_dim: 128, fused: true, samples: 4, ";
  EXPECT_EQ(FlopsOf(Words("sparse-index", index + "tilelang: true, pass: fwd")),
            2.0 * 4096 * 64 * 513 * 128);
  const std::string by_heads = Words("sparse-index", index + "by_heads: true, pass: fwd");
  EXPECT_EQ(FlopsOf(by_heads), 2.0 * 4096 * 64 * 4096 * 128) << "also of neighbors";
  const std::string core = "heads: 128, head_dim: 576, value_dim: 512, fused: true, samples: 4";
  EXPECT_EQ(Products(Words("sparse-attention", "pass: fwd, " + core)),
            "4096x128x513x1088x1152x278528x1 bf16");
  EXPECT_EQ(Products(Words("sparse-attention", "pass: fwd, tilelang: true, " + core)),
            "4096x128x2048x1088x1152x278528x1 bf16");
}

// Without cuDNN's kernel, PyTorch multiplies all keys in fp32, head after head, in four pieces of
// 1 GiB of scores: 64 heads' products, and three operators of each product.
TEST(SparseKernels, ScoresOfOneHeadAfterAnother) {
  const std::string index =
      "kind: sparse-index, rows: 8192, kv_sequence: 131072, heads: 64, head_dim: 128, top_k: 2048, "
      "fused: true, by_heads: true, pass: ";
  EXPECT_EQ(Products(index + "fwd"), "");
  EXPECT_NE(Products(index + "bwd"), "");
  const double scores = 8192.0 * 131072 * 64;
  EXPECT_EQ(FlopsOf(index + "fwd"), 2 * scores * 128);
  int launches = 0;
  double bytes = 0;
  for (const Kernel& kernel : KernelsOfWords(index + "fwd")) {
    launches += kernel.launches;
    if (kernel.kind == KernelKind::kElementwise && kernel.launches == 4 * 64) bytes += kernel.bytes;
  }
  EXPECT_EQ(bytes, (8 + 8 + 12) * scores);
  EXPECT_GT(launches, 4 * 64 * 5);
}

// Before cuDNN's backward, queries, output and its gradient are padded to 64 heads and copied
// twice.
TEST(SparseKernels, CopiesOfTheRowsThatPickedAKey) {
  const auto copied = [](const std::string& more) {
    double bytes = 0;
    for (const Kernel& kernel : KernelsOfWords(Words("sparse-attention",
                                                     "heads: 16, head_dim: 576, value_dim: 512, "
                                                     "fused: true, pass: bwd" +
                                                         more))) {
      if (kernel.kind == KernelKind::kCopy) bytes += kernel.bytes;
    }
    return bytes;
  };
  // Two more pads, two copies of each, of 16 heads the gradient of the queries, and the picks.
  const double once = 4.0 * 4096 * 64;
  EXPECT_EQ(copied(", skips_rows: true") - copied(""),
            once * (576 + 512) + 2 * once * (576 + 2 * 512) + 4.0 * 4096 * 16 * 576 +
                2 * 8.0 * 4096 * 2048);
}

// All heads read the same keys, which are cast once; of several sequences, they are copied for each
// head.
TEST(SparseKernels, UnfusedHeadsShareTheirKeys) {
  const auto bytes_of = [](const std::string& kind, KernelKind kernels, const std::string& more) {
    double bytes = 0;
    for (const Kernel& kernel : KernelsOfWords(Words(kind, "heads: 16, head_dim: 64" + more))) {
      if (kernel.kind == kernels) bytes += kernel.bytes;
    }
    return bytes;
  };
  const double scores = 4096.0 * 4096 * 16, cast = 2 + 4;
  EXPECT_EQ(bytes_of("sparse-attention", KernelKind::kCast, ", value_dim: 64"),
            cast * (4096.0 * 64 * (16 + 1) + scores));
  EXPECT_EQ(bytes_of("sparse-target", KernelKind::kCast, ""), cast * 4096.0 * 64 * (16 + 16));
  EXPECT_EQ(bytes_of("sparse-attention", KernelKind::kCopy, ", value_dim: 64, batch: 2") -
                bytes_of("sparse-attention", KernelKind::kCopy, ", value_dim: 64"),
            2 * 4096.0 * 16 * 64 * (8 + 4));
}

// Four times the sequence: with 2048 picks, each of four times the queries picks little more, but
// the indexer sees four times the keys.
TEST(SparseKernels, TheIndexerGrowsWithTheSquareAndAttentionDoesNot) {
  const std::string attention = "heads: 128, head_dim: 576, value_dim: 512, fused: true";
  const std::string index = "heads: 64, head_dim: 128, fused: true";
  const double picks = FlopsOf(Words("sparse-attention", attention, 65536)) /
                       FlopsOf(Words("sparse-attention", attention, 16384));
  EXPECT_NEAR(picks, 4 * 2016.0 / 1920, 0.01);
  const double scores =
      FlopsOf(Words("sparse-index", index, 65536)) / FlopsOf(Words("sparse-index", index, 16384));
  EXPECT_NEAR(scores, 16, 0.01);
}

// PyTorch's operators multiply the whole square in fp32.
TEST(SparseKernels, UnfusedKernelsMaskTheSquare) {
  EXPECT_EQ(FlopsOf(Words("sparse-index", "heads: 64, head_dim: 128, pass: fwd")),
            2.0 * 4096 * 4096 * 64 * 128);
  const std::string shape = "heads: 16, head_dim: 576, value_dim: 512";
  EXPECT_EQ(FlopsOf(Words("sparse-attention", shape)), 2.0 * 4096 * 4096 * 16 * (576 + 512));
  EXPECT_EQ(FlopsOf(Words("sparse-attention", shape + ", pass: bwd")),
            4.0 * 4096 * 4096 * 16 * (576 + 512));
  int fp32 = 0;
  for (const Kernel& kernel : KernelsOfWords(Words("sparse-attention", shape))) {
    if (kernel.type == DataType::kFp32) ++fp32;
    EXPECT_NE(kernel.kind, KernelKind::kSparseProduct);
  }
  EXPECT_EQ(fp32, 1);  // the scores; the product with the values has 16 bits
}

// A product of all extents would be too large for 131,072 keys, but no kernel has it.
TEST(SparseKernels, Extents) {
  const std::string long_words =
      "kind: sparse-attention, pass: fwd, rows: 131072, kv_sequence: 131072, heads: 128, "
      "head_dim: 576, top_k: 2048, value_dim: 512, fused: true";
  EXPECT_TRUE(ParseSubmoduleWords(long_words).ok());
  const auto wide =
      ParseSubmoduleWords(Words("sparse-attention", "heads: 1, head_dim: 64, value_dim: 65"));
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.error().message(),
            "submodule 'sparse-attention' (sparse-attention) has a value_dim 65 that is more than "
            "head_dim 64, of which it is a part");
  for (const std::string kind : {"sparse-index", "sparse-target", "sparse-attention"}) {
    const std::string shape = kind == "sparse-attention" ? ", value_dim: 64" : "";
    const auto packed =
        ParseSubmoduleWords(Words(kind, "heads: 1, head_dim: 64, samples: 4097" + shape));
    ASSERT_FALSE(packed.ok()) << kind;
    EXPECT_EQ(packed.error().message(), "submodule '" + kind + "' (" + kind +
                                            ") packs 4097 samples in a kv_sequence of 4096; give "
                                            "at most 4096");
  }
}

// The loss of all keys also needs the sums of a softmax over all keys, which PyTorch computes in
// fp32; that of picked keys has them from attention, and TileLang finds them in a pass of its own.
TEST(SparseKernels, TargetsOfTheIndexer) {
  const std::string shape = "heads: 128, head_dim: 576, fused: true, pass: fwd, ";
  const double product = 2.0 * 4096 * 128 * 576;
  EXPECT_EQ(FlopsOf(Words("sparse-target", shape + "picked_only: true")), product * 1536);
  EXPECT_EQ(FlopsOf(Words("sparse-target", shape + "picked_only: true, tilelang: true")),
            2 * product * 2048);
  EXPECT_EQ(FlopsOf(Words("sparse-target", shape)), product * (4096 + 2049));
}

}  // namespace
}  // namespace drydock
