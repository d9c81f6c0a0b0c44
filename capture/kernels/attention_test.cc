// "Does compute-sim time the fused attention of a captured program?"
#include "capture/kernels/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace drydock::capture {
namespace {

using testing::ElementsAre;

constexpr int kBf16 = 14;

std::vector<Submodule> Known(const char* text) { return AttentionSubmodules(ParseRange(text)); }

TEST(Attention, FusedAttention) {
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

TEST(Attention, AttentionInFp32IsItsProducts) {
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

TEST(Attention, OfCudnn) {
  const std::array<int64_t, 13> attention = {0, 1, 2, 16, 4, 1024, 2048, 128, 128, kBf16, 1, 0, 7};
  const Submodule backward = LoggedAttention(attention);
  EXPECT_EQ(backward.pass, Pass::kBackward);
  const auto* heads = backward.As<submodule::Attention>();
  ASSERT_NE(heads, nullptr);
  EXPECT_THAT((std::array{heads->batch, heads->sequence, heads->keys(), heads->heads,
                          heads->kv_heads, heads->head_dim}),
              ElementsAre(2, 1024, 2048, 16, 4, 128));
}

TEST(Attention, TheLibraryOfAttention) {
  EXPECT_STREQ(AttentionBackendOf("flash_attn_3::bwd"), "flash");
  EXPECT_STREQ(AttentionBackendOf("aten::_scaled_dot_product_flash_attention"), "pytorch");
  EXPECT_STREQ(AttentionBackendOf("aten::_scaled_dot_product_cudnn_attention_backward"), "cudnn");
  EXPECT_EQ(AttentionBackendOf("aten::mm"), nullptr);
}

}  // namespace
}  // namespace drydock::capture
