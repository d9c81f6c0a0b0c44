#include "workload-gen/job/names/other_names.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

TEST(OtherNames, OfMegatronBridgeAndItsTables) {
  for (const char* given : {"mxfp8", "MXFP8", "fp8_mx", "FP8-MX", "bf16_with_mxfp8_mixed"}) {
    EXPECT_EQ(PrecisionFor(given), "precision: fp8 with fp8_recipe: mxfp8") << given;
  }
  for (const char* given : {"blockwise", "fp8_sc", "bf16_with_fp8_subchannel_scaling_mixed"}) {
    EXPECT_EQ(PrecisionFor(given), "precision: fp8 with fp8_recipe: blockwise") << given;
  }
  EXPECT_EQ(PrecisionFor("fp8_cs"), "precision: fp8 with fp8_recipe: tensorwise");
  EXPECT_EQ(PrecisionFor("bf16_with_fp8_current_scaling_mixed"),
            "precision: fp8 with fp8_recipe: tensorwise");
  EXPECT_EQ(PrecisionFor("delayed"), "precision: fp8 with fp8_recipe: delayed");
  for (const char* given : {"NVFP4", "nv-fp4", "fp4", "e2m1", "bf16_with_nvfp4_mixed"}) {
    EXPECT_EQ(PrecisionFor(given), "precision: nvfp4") << given;
  }
  EXPECT_EQ(PrecisionFor("bfloat16"), "precision: bf16");
  EXPECT_EQ(PrecisionFor("fp8_rowwise"),
            "precision: fp8 with framework: fsdp and fsdp.fp8_recipe: rowwise");
}

TEST(OtherNames, OfRecipesAndDispatchers) {
  EXPECT_EQ(Fp8RecipeFor("current"), "fp8_recipe: tensorwise");
  EXPECT_EQ(Fp8RecipeFor("rowwise"), "fsdp.fp8_recipe: rowwise, which needs framework: fsdp");
  EXPECT_EQ(MoeDispatcherFor("deepep"), "moe_dispatcher: flex");
  EXPECT_EQ(MoeDispatcherFor("hybrid-ep"), "moe_dispatcher: hybridep");
}

TEST(OtherNames, UnknownOnesAreLeftToTheSpelling) {
  EXPECT_EQ(PrecisionFor("bf61"), "");
  EXPECT_EQ(PrecisionFor(""), "");
  EXPECT_EQ(Fp8RecipeFor("mxpf8"), "");
  EXPECT_EQ(MoeDispatcherFor("flexx"), "");
}

}  // namespace
}  // namespace drydock
