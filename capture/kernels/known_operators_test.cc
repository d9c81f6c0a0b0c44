// "Which submodules stand for operators whose kernels are known?"
#include "capture/kernels/known_operators.h"

#include <gtest/gtest.h>

namespace drydock::capture {
namespace {

std::vector<Submodule> Known(const char* text) { return KnownSubmodules(ParseRange(text)); }

TEST(KnownOperators, NormsEmbeddingsAndAdam) {
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

TEST(KnownOperators, FunctionsOfExtensions) {
  const auto norm = Known(
      "transformer_engine_torch::rmsnorm_bwd(BFloat16[2,64,512],BFloat16[2,64,512],"
      "Float[128],BFloat16[512],0,false)");
  ASSERT_EQ(norm.size(), 1u);
  EXPECT_EQ(norm[0].pass, Pass::kBackward);
  EXPECT_EQ(norm[0].As<submodule::Norm>()->rows, 128);
  EXPECT_TRUE(norm[0].As<submodule::Norm>()->fused);
}

}  // namespace
}  // namespace drydock::capture
