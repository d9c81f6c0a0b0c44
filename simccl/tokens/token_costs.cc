#include "simccl/tokens/token_costs.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/spelling.h"
#include "core/base/version.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

constexpr Time kLongestStart = Time::Us(1'000'000);
const Bandwidth kLeastRate = Bandwidth::BitsPerSecond(8'000'000);  // 1 MB/s

TokenCosts ReadCosts(const std::string& gpu, const YamlNode& node, Diagnostics* diagnostics) {
  TokenCosts costs;
  YamlReader reader(node, gpu, diagnostics);
  reader.Read("start", &costs.start);
  if (costs.start > kLongestStart) reader.Fail("start", "'start' is more than a second");
  const std::pair<const char*, Bandwidth*> rates[] = {
      {"rate", &costs.rate}, {"rate_between_hosts", &costs.rate_between_hosts}};
  for (const auto& [key, rate] : rates) {
    reader.Read(key, rate);
    if (reader.Has(key) && *rate < kLeastRate) {
      reader.Fail(key, fmt::format("'{}' is less than 1 MB/s", key));
    }
  }
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  return costs;
}

}  // namespace

Result<TokenCostTable> ParseTokenCosts(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of costs of token exchanges", &diagnostics);
  TokenCostTable table;
  for (const char* library : {"deepep", "hybridep"}) {
    const YamlNode* node = file.Take(library, /*required=*/true);
    if (node == nullptr) continue;
    for (const auto& [gpu, costs] : node->entries) {
      table[library][gpu.scalar] = ReadCosts(gpu.scalar, costs, &diagnostics);
    }
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return table;
}

Result<TokenCosts> FindTokenCosts(const TokenCostTable& table, const std::string& library,
                                  const GpuSpec& gpu) {
  const std::map<std::string, TokenCosts>& gpus = table.at(library);
  for (const std::string& name : {gpu.name, gpu.reference}) {
    const auto found = gpus.find(name);
    if (found != gpus.end()) return found->second;
  }
  std::vector<std::string> names;
  for (const auto& [name, costs] : gpus) names.push_back(name);
  return Error(fmt::format("{} has no costs of {} on {}; it has those of {}", TokenCostsPath(),
                           library, gpu.name, Join(names)));
}

std::string TokenCostsPath() {
  return std::string(kDefaultConfigDirectory) + "/token-exchange.yaml";
}

}  // namespace drydock
