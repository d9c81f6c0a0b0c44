#include "compute-sim/submodules/kernel_assumptions.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

TEST(KernelAssumptions, ShippedFileIsRead) {
  const std::string path = "configs/kernels.yaml";
  EXPECT_EQ(ParseKernelAssumptions(*ReadFile(path), path)->fused_norm_partial_sums, 256);
}

TEST(KernelAssumptions, MistakesAreLocated) {
  EXPECT_EQ(ParseKernelAssumptions("kernels: {fused_norm_partial_sums: 0, source: a}\n", "k.yaml")
                .error()
                .ToString(),
            "k.yaml:1:36: error: 'fused_norm_partial_sums' is 0; it must be between 1 and "
            "1099511627776\n"
            "  kernels: {fused_norm_partial_sums: 0, source: a}\n"
            "                                     ^");
}

}  // namespace
}  // namespace drydock
