// "Does compute-sim time the products of a captured program?"
#include "capture/kernels/products.h"

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
TEST(Products, TheThreeProductsOfALinearLayer) {
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

TEST(Products, WhatTheProductItselfDoes) {
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
TEST(Products, ProductsOfRareTypes) {
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

TEST(Products, AConvolutionIsItsProduct) {
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

}  // namespace
}  // namespace drydock::capture
