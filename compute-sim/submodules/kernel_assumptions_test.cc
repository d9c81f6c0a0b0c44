#include "compute-sim/submodules/kernel_assumptions.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

TEST(KernelAssumptions, ShippedFileIsRead) {
  const std::string path = "configs/kernels.yaml";
  const KernelAssumptions assumptions = *ParseKernelAssumptions(*ReadFile(path), path);
  EXPECT_EQ(assumptions.fused_norm_partial_sums, 256);
  EXPECT_GT(assumptions.chunk_products.tensor, 0);
  EXPECT_GT(assumptions.chunk_products.error, 0.1) << "nothing is measured";
  EXPECT_GT(assumptions.sparse_products.memory, 0);
  EXPECT_GT(assumptions.sparse_products.error, 0.1) << "nothing is measured";
}

TEST(KernelAssumptions, MistakesAreLocated) {
  EXPECT_EQ(ParseKernelAssumptions(
                "kernels:\n  fused_norm_partial_sums: 0\n  source: a\n"
                "  chunk_products: {tensor_share: 2, memory_share: 0.5, error: 0.4, source: a}\n"
                "  sparse_products: {tensor_share: 1, memory_share: 0, error: 0.4, source: a}\n",
                "k.yaml")
                .error()
                .ToString(),
            "k.yaml:2:28: error: 'fused_norm_partial_sums' is 0; it must be between 1 and "
            "1099511627776\n"
            "    fused_norm_partial_sums: 0\n"
            "                             ^\n"
            "k.yaml:4:34: error: expected a share above 0, at most 1\n"
            "    chunk_products: {tensor_share: 2, memory_share: 0.5, error: 0.4, source: a}\n"
            "                                   ^\n"
            "k.yaml:5:52: error: expected a share above 0, at most 1\n"
            "    sparse_products: {tensor_share: 1, memory_share: 0, error: 0.4, source: a}\n"
            "                                                     ^");
}

}  // namespace
}  // namespace drydock
