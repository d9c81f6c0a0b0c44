#include "core/schema/tokens/token_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files.h"

namespace drydock {
namespace {

using testing::StartsWith;

constexpr char kTable[] =
    "deepep:\n"
    "  h100: {start: 30 us, rate: 16 GB/s, rate_between_hosts: 10 GB/s, error: 0.1, "
    "error_between_hosts: 0.2, source: a}\n"
    "hybridep:\n"
    "  h100: {start: 20 us, rate: 32 GB/s, rate_between_hosts: 31 GB/s, error: 0.3, "
    "error_between_hosts: 0.4, measured: false, source: b}\n"
    "deepep-low-latency:\n"
    "  h100: {start: 9 us, start_between_hosts: 12 us, rate: 250 GB/s, rate_between_hosts: 240 "
    "GB/s, error: 0.1, error_between_hosts: 0.1, source: c}\n";

GpuSpec Gpu(const std::string& name, const std::string& reference) {
  GpuSpec gpu;
  gpu.name = name;
  gpu.reference = reference;
  return gpu;
}

TEST(TokenCosts, AreFoundByGpuOrItsReference) {
  const TokenCostTable table = *ParseTokenCosts(kTable, "t.yaml");
  const TokenCosts own = *FindTokenCosts(table, BufferKind::kDeepEp, Gpu("h100", ""));
  EXPECT_EQ(own.start, Time::Us(30));
  EXPECT_EQ(own.start_between_hosts, Time::Us(30));
  EXPECT_EQ(own.rate_between_hosts, Bandwidth::BitsPerSecond(80'000'000'000));
  EXPECT_EQ(own.error_between_hosts, 0.2);
  EXPECT_TRUE(own.measured);
  const TokenCosts* hybrid = FindTokenCosts(table, BufferKind::kHybridEp, Gpu("h200", "h100"));
  EXPECT_EQ(hybrid->rate, Bandwidth::BitsPerSecond(256'000'000'000));
  EXPECT_FALSE(hybrid->measured);
  EXPECT_EQ(
      FindTokenCosts(table, BufferKind::kDeepEpLowLatency, Gpu("h100", ""))->start_between_hosts,
      Time::Us(12));
  EXPECT_EQ(FindTokenCosts(table, BufferKind::kDeepEp, Gpu("v100", "")), nullptr);
  EXPECT_EQ(NoTokenCosts(table, BufferKind::kDeepEp, Gpu("v100", "")).message(),
            TokenCostsPath() + " has no costs of deepep on v100; it has those of h100");
}

std::string ErrorWith(const std::string& old_text, const std::string& new_text) {
  std::string text = kTable;
  text.replace(text.find(old_text), old_text.size(), new_text);
  return ParseTokenCosts(text, "t.yaml").error().ToString();
}

TEST(TokenCosts, MistakesAreLocated) {
  EXPECT_THAT(ErrorWith("10 GB/s", "10 KB/s"),
              StartsWith("t.yaml:2:59: error: 'rate_between_hosts' is less than 1 MB/s\n"));
  EXPECT_THAT(
      ErrorWith("0.4", "1.4"),
      StartsWith("t.yaml:4:101: error: 'error_between_hosts' is a share of the time, from 0 "
                 "to 1\n"));
  EXPECT_THAT(ErrorWith("12 us", "12 s"),
              StartsWith("t.yaml:6:44: error: 'start_between_hosts' is more than a second\n"));
}

TEST(TokenCosts, ShippedTableIsRead) {
  const std::string path = "configs/token-exchange.yaml";
  const TokenCostTable table = *ParseTokenCosts(*ReadFile(path), path);
  for (const BufferKind kind :
       {BufferKind::kDeepEp, BufferKind::kHybridEp, BufferKind::kDeepEpLowLatency}) {
    for (const char* gpu : {"h100-sxm-80g", "b200-sxm-180g"}) {
      const TokenCosts* costs = FindTokenCosts(table, kind, Gpu(gpu, ""));
      ASSERT_NE(costs, nullptr) << gpu;
      EXPECT_GT(costs->error, 0) << gpu;
      EXPECT_GE(costs->error_between_hosts, costs->error) << gpu;
      EXPECT_EQ(costs->measured, kind != BufferKind::kHybridEp) << gpu;
    }
  }
}

}  // namespace
}  // namespace drydock
