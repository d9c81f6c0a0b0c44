// "Does compute-sim time what the GPU of a captured program does, and nothing twice?"
#include "capture/kernels/submodules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace drydock::capture {
namespace {

using testing::ElementsAre;

constexpr int kBf16 = 14, kFp32 = 0, kE4m3 = 28;

LoggedProduct Product(int64_t m, int64_t n, int64_t k, bool ta, bool tb) {
  LoggedProduct p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.transpose_a = ta;
  p.transpose_b = tb;
  p.type_a = p.type_b = p.type_d = kBf16;
  p.compute = 68;
  return p;
}

// A linear layer of 512 inputs and 2048 outputs on 1024 tokens.
TEST(Submodules, TheThreeProductsOfALinearLayer) {
  const Submodule forward = ProductSubmodule(Product(2048, 1024, 512, true, false), false);
  EXPECT_EQ(forward.pass, Pass::kForward);
  EXPECT_EQ(forward.type, DataType::kBf16);
  EXPECT_EQ(forward.flops, 2.0 * 1024 * 2048 * 512);
  const auto* linear = forward.As<submodule::Linear>();
  ASSERT_NE(linear, nullptr);
  EXPECT_THAT((std::array{linear->rows, linear->n, linear->k}), ElementsAre(1024, 2048, 512));
  EXPECT_FALSE(linear->bias);
  const Submodule dgrad = ProductSubmodule(Product(512, 1024, 2048, false, false), true);
  EXPECT_EQ(dgrad.pass, Pass::kBackwardActivation);
  linear = dgrad.As<submodule::Linear>();
  EXPECT_THAT((std::array{linear->rows, linear->n, linear->k}), ElementsAre(1024, 2048, 512));
  const Submodule wgrad = ProductSubmodule(Product(512, 2048, 1024, false, true), true);
  EXPECT_EQ(wgrad.pass, Pass::kBackwardWeight);
  linear = wgrad.As<submodule::Linear>();
  EXPECT_THAT((std::array{linear->rows, linear->n, linear->k}), ElementsAre(1024, 2048, 512));
  EXPECT_FALSE(linear->accumulate_fp32);
}

TEST(Submodules, WhatTheProductItselfDoes) {
  LoggedProduct with_bias = Product(2048, 1024, 512, true, false);
  with_bias.epilogue = 4;
  EXPECT_TRUE(ProductSubmodule(with_bias, false).As<submodule::Linear>()->bias);
  EXPECT_TRUE(ProductSubmodule(with_bias, false).As<submodule::Linear>()->fused);
  LoggedProduct main_gradient = Product(512, 2048, 1024, false, true);
  main_gradient.type_d = kFp32;
  EXPECT_TRUE(ProductSubmodule(main_gradient, true).As<submodule::Linear>()->accumulate_fp32);
  // Kernels that quantize are in the log, so the submodule has none of its own.
  LoggedProduct fp8 = Product(2048, 1024, 512, true, false);
  fp8.type_a = fp8.type_b = kE4m3;
  EXPECT_EQ(ProductSubmodule(fp8, false).type, DataType::kFp8);
  EXPECT_TRUE(ProductSubmodule(fp8, false).As<submodule::Linear>()->fp8_input);
  EXPECT_TRUE(ProductSubmodule(fp8, true).As<submodule::Linear>()->fp8_gradient);
  fp8.scales = 2;
  EXPECT_EQ(ProductSubmodule(fp8, false).type, DataType::kMxfp8);
  LoggedProduct batched = Product(1024, 1024, 64, true, false);
  batched.batch = 8;
  const Submodule grouped = ProductSubmodule(batched, true);
  const auto* work = grouped.As<submodule::GroupedLinear>();
  ASSERT_NE(work, nullptr);
  EXPECT_THAT((std::array{work->rows, work->n, work->k, work->experts}),
              ElementsAre(8 * 1024, 1024, 64, 8));
  EXPECT_TRUE(work->one_kernel);
}

// No model of kernels knows these types: the GPU's file states a rate, or not.
TEST(Submodules, ProductsOfRareTypes) {
  constexpr int kFp64 = 1, kInt8 = 3, kComplex = 4;
  LoggedProduct product = Product(2048, 1024, 512, true, false);
  const auto with = [&product](int type) {
    product.type_a = product.type_b = product.type_d = type;
    return ProductSubmodule(product, false);
  };
  const double flops = 2.0 * 1024 * 2048 * 512;
  const Submodule fp64 = with(kFp64);
  EXPECT_TRUE(fp64.Is<submodule::FlopsAndBytes>());
  EXPECT_EQ(fp64.type, DataType::kFp64);
  EXPECT_EQ(fp64.flops, flops);
  EXPECT_EQ(fp64.bytes, Bytes(8 * (2048 * 512 + 1024 * 512 + 2048 * 1024)));
  EXPECT_EQ(with(kInt8).type, DataType::kInt8);
  EXPECT_EQ(with(kInt8).bytes, Bytes(2048 * 512 + 1024 * 512 + 4 * 2048 * 1024));
  EXPECT_EQ(with(kComplex).type, DataType::kFp32);
  EXPECT_EQ(with(kComplex).flops, 4 * flops);
  EXPECT_EQ(with(kBf16).type, DataType::kBf16);
}

std::vector<Submodule> Known(const char* text) { return KnownSubmodules(ParseRange(text)); }

TEST(Submodules, FusedAttention) {
  const auto flash = Known(
      "aten::_scaled_dot_product_flash_attention(BFloat16[2,32,4096,128],BFloat16[2,8,4096,128],"
      "BFloat16[2,8,4096,128],0,true,false,)");
  ASSERT_EQ(flash.size(), 1u);
  EXPECT_EQ(flash[0].pass, Pass::kForward);
  auto work = *flash[0].As<submodule::Attention>();
  EXPECT_THAT((std::array{work.batch, work.sequence, work.heads, work.kv_heads, work.head_dim}),
              ElementsAre(2, 4096, 32, 8, 128));
  EXPECT_TRUE(work.causal);
  EXPECT_TRUE(work.fused);
  EXPECT_FALSE(work.dropout);
  EXPECT_EQ(work.kv_sequence, 0);
  // 2 products of 2 operations, half of the keys.
  EXPECT_EQ(flash[0].flops, 2.0 * 2 * 2 * 32 * 4096 * 4096 * 128 / 2);
  const auto backward = Known(
      "aten::_scaled_dot_product_flash_attention_backward(BFloat16[2,32,4096,128],"
      "BFloat16[2,32,4096,128],BFloat16[2,8,2048,128],BFloat16[2,8,2048,64],BFloat16[2,32,4096,64],"
      "Float[2,32,4096],,,4096,2048,0.1,false,Long[],Long[],)");
  ASSERT_EQ(backward.size(), 1u);
  EXPECT_EQ(backward[0].pass, Pass::kBackward);
  work = *backward[0].As<submodule::Attention>();
  EXPECT_EQ(work.kv_sequence, 2048);
  EXPECT_EQ(work.value_dim, 64);
  EXPECT_TRUE(work.dropout);
  EXPECT_FALSE(work.causal);
  // Three sequences of flash-attn's, one behind the other.
  const auto packed = Known(
      "flash_attn::_flash_attn_varlen_forward(Half[3072,16,64],Half[3072,16,64],Half[3072,16,64],"
      "Int[4],Int[4],1500,1500,0,0.125,true)");
  ASSERT_EQ(packed.size(), 1u);
  work = *packed[0].As<submodule::Attention>();
  EXPECT_THAT((std::array{work.batch, work.sequence, work.heads}), ElementsAre(3, 1024, 16));
  EXPECT_TRUE(work.causal);
  const auto third = Known(
      "flash_attn_3::fwd(BFloat16[2,4096,32,128],BFloat16[2,4096,8,128],BFloat16[2,4096,8,128],,,,,"
      ","
      ",,,,,,,,,,,,,,,0.088,true,-1,-1,0,0,false,,0,,0)");
  ASSERT_EQ(third.size(), 1u);
  work = *third[0].As<submodule::Attention>();
  EXPECT_THAT((std::array{work.batch, work.sequence, work.heads, work.kv_heads}),
              ElementsAre(2, 4096, 32, 8));
  EXPECT_TRUE(work.causal);
  EXPECT_FALSE(work.dropout);
  // Arguments of another version are not guessed at.
  EXPECT_TRUE(Known("aten::_scaled_dot_product_flash_attention(BFloat16[2,32,4096,128])").empty());
}

TEST(Submodules, AttentionInFp32IsItsProducts) {
  const auto products = Known(
      "aten::_scaled_dot_product_efficient_attention(Float[2,4,128,64],Float[2,4,128,64],"
      "Float[2,4,128,32],,true,0,false)");
  ASSERT_EQ(products.size(), 2u);
  EXPECT_EQ(products[0].type, DataType::kFp32);
  const auto* scores = products[0].As<submodule::GroupedLinear>();
  ASSERT_NE(scores, nullptr);
  EXPECT_THAT((std::array{scores->rows, scores->n, scores->k, scores->experts}),
              ElementsAre(8 * 128, 128, 64, 8));
  EXPECT_EQ(products[1].As<submodule::GroupedLinear>()->n, 32);
}

TEST(Submodules, WhatCudnnComputes) {
  const std::array<int64_t, 13> attention = {0, 1, 2, 16, 4, 1024, 2048, 128, 128, kBf16, 1, 0, 7};
  const Submodule backward = LoggedAttention(attention);
  EXPECT_EQ(backward.pass, Pass::kBackward);
  const auto* heads = backward.As<submodule::Attention>();
  ASSERT_NE(heads, nullptr);
  EXPECT_THAT((std::array{heads->batch, heads->sequence, heads->keys(), heads->heads,
                          heads->kv_heads, heads->head_dim}),
              ElementsAre(2, 1024, 2048, 16, 4, 128));
  // 3 x 3 taps with stride 2 over 32 x 32 places of 64 channels to 128: 16 x 16.
  std::array<int64_t, 28> words = {0, 0, 8, 1, 64, 128, 2,  32, 32,    1,     3,  3, 1, 2,
                                   2, 1, 1, 1, 1,  16,  16, 1,  kBf16, kBf16, 68, 1, 0, 7};
  const Submodule forward = LoggedConvolution(words);
  const double flops = 2.0 * 8 * 16 * 16 * 128 * 64 * 9;
  EXPECT_EQ(forward.flops, flops);
  const auto* linear = forward.As<submodule::Linear>();
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(2.0 * static_cast<double>(linear->rows * linear->n * linear->k), flops);
  words[1] = 1;
  const Submodule dgrad = LoggedConvolution(words);
  EXPECT_EQ(dgrad.pass, Pass::kBackwardActivation);
  linear = dgrad.As<submodule::Linear>();
  EXPECT_EQ(2.0 * static_cast<double>(linear->rows * linear->n * linear->k), flops);
  EXPECT_EQ(linear->k, 64);
  words[3] = 64;  // each channel by itself
  words[5] = 64;
  EXPECT_NE(LoggedConvolution(words).As<submodule::Add>(), nullptr);
}

TEST(Submodules, TheLibraryOfAttention) {
  EXPECT_STREQ(AttentionBackendOf("flash_attn_3::bwd"), "flash");
  EXPECT_STREQ(AttentionBackendOf("aten::_scaled_dot_product_flash_attention"), "pytorch");
  EXPECT_STREQ(AttentionBackendOf("aten::_scaled_dot_product_cudnn_attention_backward"), "cudnn");
  EXPECT_EQ(AttentionBackendOf("aten::mm"), nullptr);
}

TEST(Submodules, NormsEmbeddingsAndAdam) {
  const auto norm =
      Known("aten::native_layer_norm(Half[8,512,1024],[1024],Half[1024],Half[1024],1e-05)");
  ASSERT_EQ(norm.size(), 1u);
  EXPECT_EQ(norm[0].As<submodule::Norm>()->rows, 8 * 512);
  EXPECT_EQ(norm[0].As<submodule::Norm>()->n, 1024);
  EXPECT_TRUE(norm[0].As<submodule::Norm>()->bias);
  const auto rms =
      Known("aten::_fused_rms_norm_backward(Half[8,64],Half[8,64],[64],Float[8,1],Half[64])");
  ASSERT_EQ(rms.size(), 1u);
  EXPECT_EQ(rms[0].pass, Pass::kBackward);
  EXPECT_TRUE(rms[0].As<submodule::Norm>()->rms);
  const auto rows = Known("aten::embedding(BFloat16[32000,1024],Long[4,256],-1,false,false)");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].As<submodule::Embedding>()->rows, 1024);
  EXPECT_EQ(rows[0].As<submodule::Embedding>()->k, 32000);
  const auto adam = Known(
      "aten::_fused_adamw_({Float[10]Float[5]},{Float[10]Float[5]},{Float[10]Float[5]},"
      "{Float[10]Float[5]},{},{Float[]Float[]},0.001)");
  ASSERT_EQ(adam.size(), 1u);
  EXPECT_EQ(adam[0].As<submodule::Optimizer>()->elements, 15);
  EXPECT_EQ(adam[0].As<submodule::Optimizer>()->tensors, 2);
  // In bf16: four lists are read, three written.
  const auto half = Known(
      "aten::_fused_adamw_({BFloat16[10]},{BFloat16[10]},{BFloat16[10]},{BFloat16[10]},{},{})");
  ASSERT_EQ(half.size(), 1u);
  EXPECT_EQ(half[0].bytes, Bytes(7 * 20));
}

TEST(Submodules, FunctionsOfExtensions) {
  const auto norm = Known(
      "transformer_engine_torch::rmsnorm_bwd(BFloat16[2,64,512],BFloat16[2,64,512],"
      "Float[128],BFloat16[512],0,false)");
  ASSERT_EQ(norm.size(), 1u);
  EXPECT_EQ(norm[0].pass, Pass::kBackward);
  EXPECT_EQ(norm[0].As<submodule::Norm>()->rows, 128);
  EXPECT_TRUE(norm[0].As<submodule::Norm>()->fused);
  EXPECT_EQ(TrafficOf(ParseRange("amp_C::multi_tensor_adam(65536,Int[1],{Half[10]},{Float[10]},"
                                 "{Float[10]},{Float[10]},0.001)"),
                      {}),
            Bytes(20 + 2 * 120));
}

Bytes Traffic(const char* range, const char* outputs) {
  return TrafficOf(ParseRange(range), ParseValues(outputs));
}

TEST(Submodules, Traffic) {
  EXPECT_EQ(Traffic("aten::add(Float[100],Float[100],1)", "(Float[100])"), Bytes(1200));
  EXPECT_EQ(Traffic("aten::add(Float[10,10],Float[10,10:0,1],1)", "(Float[10,10])"), Bytes(840));
  EXPECT_EQ(Traffic("aten::add_(Float[100],Half[100],1)", "(Float[100])"), Bytes(1000));
  EXPECT_EQ(Traffic("aten::copy_(Float[100],Half[100],false)", "(Float[100])"), Bytes(600));
  EXPECT_EQ(Traffic("aten::fill_(Float[100],0)", "(Float[100])"), Bytes(400));
  EXPECT_EQ(Traffic("aten::sum(Half[64,32],[0],false)", "(Half[32])"), Bytes(4096 + 64));
  EXPECT_EQ(Traffic("aten::index(Float[1000000,8],{Long[4]})", "(Float[4,8])"),
            Bytes(2 * 128 + 32));
  EXPECT_EQ(
      Traffic("aten::index_put_(Float[1000000,8],{Long[4]},Float[4,8],true)", "(Float[1000000,8])"),
      Bytes(3 * (32 + 128)));
  EXPECT_EQ(
      Traffic("aten::nll_loss_forward(Float[64,32000],Long[64],,1,-100)", "(Float[],Float[])"),
      Bytes(1024));
  EXPECT_EQ(Traffic("aten::_foreach_add_({Float[4]Float[6]},{Float[4]Float[6]},1)", "()"),
            Bytes(120));
  EXPECT_EQ(Traffic("aten::mul(Float[100],Float@host[])", "(Float[100])"), Bytes(800));
}

TEST(Submodules, EachLaunchHasItsPart) {
  const std::array<int64_t, 3> blocks = {100, 1, 100};
  // A sort goes over its input once more; a small kernel between counts little.
  EXPECT_THAT(DealOut(ParseRange("aten::sort(Float[1000])"), Bytes(4000), blocks),
              ElementsAre(Bytes(4000), Bytes(40), Bytes(4000)));
  // Each launch on lists has some of the tensors.
  EXPECT_THAT(DealOut(ParseRange("aten::cat({Float[500]Float[505]})"), Bytes(4020), blocks),
              ElementsAre(Bytes(2000), Bytes(20), Bytes(2000)));
  EXPECT_TRUE(DealOut(ParseRange("aten::sort(Float[1000])"), Bytes(4000), {}).empty());
}

TEST(Submodules, AKernelByItsBytes) {
  const Submodule s = TrafficSubmodule(Bytes(4000), true);
  const auto* add = s.As<submodule::Add>();
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->rows * add->n * (add->summands + 1) * SizeOf(s.type).count(), 4000);
  EXPECT_EQ(s.pass, Pass::kBackward);
  EXPECT_EQ(TrafficSubmodule(Bytes(), false).As<submodule::Add>()->n, 1);
}

}  // namespace
}  // namespace drydock::capture
