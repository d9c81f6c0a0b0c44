#include "simccl/tokens/token_costs.h"

#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

constexpr char kTable[] =
    "deepep:\n"
    "  h100: {start: 30 us, rate: 16 GB/s, rate_between_hosts: 10 GB/s, source: a}\n"
    "hybridep:\n"
    "  h100: {start: 20 us, rate: 32 GB/s, rate_between_hosts: 31 GB/s, source: b}\n";

GpuSpec Gpu(const std::string& name, const std::string& reference) {
  GpuSpec gpu;
  gpu.name = name;
  gpu.reference = reference;
  return gpu;
}

TEST(TokenCosts, AreFoundByGpuOrItsReference) {
  const TokenCostTable table = *ParseTokenCosts(kTable, "t.yaml");
  const TokenCosts own = *FindTokenCosts(table, "deepep", Gpu("h100", ""));
  EXPECT_EQ(own.start, Time::Us(30));
  EXPECT_EQ(own.rate_between_hosts, Bandwidth::BitsPerSecond(80'000'000'000));
  EXPECT_EQ(FindTokenCosts(table, "hybridep", Gpu("h200", "h100"))->rate,
            Bandwidth::BitsPerSecond(256'000'000'000));
  EXPECT_EQ(FindTokenCosts(table, "deepep", Gpu("v100", "")).error().message(),
            TokenCostsPath() + " has no costs of deepep on v100; it has those of h100");
}

TEST(TokenCosts, MistakesAreLocated) {
  std::string text = kTable;
  text.replace(text.find("10 GB/s"), 7, "10 KB/s");
  EXPECT_EQ(ParseTokenCosts(text, "t.yaml").error().ToString(),
            "t.yaml:2:59: error: 'rate_between_hosts' is less than 1 MB/s\n"
            "    h100: {start: 30 us, rate: 16 GB/s, rate_between_hosts: 10 KB/s, source: a}\n"
            "                                                            ^");
}

TEST(TokenCosts, ShippedTableIsRead) {
  const std::string path = "configs/token-exchange.yaml";
  const TokenCostTable table = *ParseTokenCosts(*ReadFile(path), path);
  for (const char* library : {"deepep", "hybridep"}) {
    for (const char* gpu : {"h100-sxm-80g", "b200-sxm-180g"}) {
      EXPECT_TRUE(FindTokenCosts(table, library, Gpu(gpu, "")).ok()) << library << " " << gpu;
    }
  }
}

}  // namespace
}  // namespace drydock
