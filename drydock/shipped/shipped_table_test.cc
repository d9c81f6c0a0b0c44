#include "drydock/shipped/shipped_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drydock/shipped/shipped_files.h"

namespace drydock {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(ShippedTable, HasALineForEachGpu) {
  const Result<std::string> table = GpuTable();
  ASSERT_TRUE(table.ok());
  for (const std::string& name : ShippedNames(ShippedKind::kGpu)) {
    EXPECT_THAT(*table, HasSubstr("\n" + name + " ")) << name;
  }
  // The specification: 85.9 GB (81920 MiB), 2039 GB/s, 312 TFLOPS, no fp8, 300 GB/s.
  EXPECT_THAT(*table, ContainsRegex("a100-sxm-80g +86 +2039 +312 +- +300 +measured\n"));
  EXPECT_THAT(*table, ContainsRegex("h20-sxm-96g .* scaled from h100-sxm-80g\n"));
}

TEST(ShippedTable, HasALineForEachCluster) {
  const Result<std::string> table = ClusterTable();
  ASSERT_TRUE(table.ok());
  for (const std::string& name : ShippedNames(ShippedKind::kCluster)) {
    EXPECT_THAT(*table, HasSubstr("\n" + name + " ")) << name;
  }
  EXPECT_THAT(
      *table,
      ContainsRegex("dgx-a100-80g-8 +8 +64 +8 x a100-sxm-80g +8 x 200 Gb/s +rail-optimised\n"));
}

TEST(ShippedTable, SaysWhatAModelIs) {
  const Result<std::string> table = ModelTable();
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(*table, ContainsRegex("\ngpt-22b +GPT 22B on 8 A100\n"));
}

}  // namespace
}  // namespace drydock
