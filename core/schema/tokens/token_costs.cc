#include "core/schema/tokens/token_costs.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"

namespace drydock {
namespace {

constexpr Time kLongestStart = Time::Us(1'000'000);
const Bandwidth kLeastRate = Bandwidth::BitsPerSecond(8'000'000);  // 1 MB/s

TokenCosts ReadCosts(const std::string& gpu, const YamlNode& node, Diagnostics* diagnostics) {
  TokenCosts costs;
  YamlReader reader(node, gpu, diagnostics);
  reader.Read("start", &costs.start);
  costs.start_between_hosts = costs.start;
  reader.ReadOptional("start_between_hosts", &costs.start_between_hosts);
  for (const auto& [key, start] : {std::pair("start", costs.start),
                                   std::pair("start_between_hosts", costs.start_between_hosts)}) {
    if (reader.Has(key) && start > kLongestStart) {
      reader.Fail(key, fmt::format("'{}' is more than a second", key));
    }
  }
  const std::pair<const char*, Bandwidth*> rates[] = {
      {"rate", &costs.rate}, {"rate_between_hosts", &costs.rate_between_hosts}};
  for (const auto& [key, rate] : rates) {
    reader.Read(key, rate);
    if (reader.Has(key) && *rate < kLeastRate) {
      reader.Fail(key, fmt::format("'{}' is less than 1 MB/s", key));
    }
  }
  const std::pair<const char*, double*> errors[] = {
      {"error", &costs.error}, {"error_between_hosts", &costs.error_between_hosts}};
  for (const auto& [key, error] : errors) {
    reader.Read(key, error);
    if (!(*error >= 0 && *error <= 1)) {
      reader.Fail(key, fmt::format("'{}' is a share of the time, from 0 to 1", key));
    }
  }
  reader.ReadOptional("measured", &costs.measured);
  std::string source;
  reader.Read("source", &source);
  reader.Finish();
  return costs;
}

const std::string& NameOfKind(BufferKind buffers) {
  return BufferKindNames()[static_cast<size_t>(buffers)];
}

}  // namespace

Result<TokenCostTable> ParseTokenCosts(const std::string& text, const std::string& file_name) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  Diagnostics diagnostics;
  YamlReader file(root, "a file of costs of token exchanges", &diagnostics);
  TokenCostTable table;
  for (int i = 0; i < kBufferKindCount; ++i) {
    const auto kind = static_cast<BufferKind>(i);
    if (!ExchangesTokens(kind)) continue;
    const YamlNode* node = file.Take(NameOfKind(kind), /*required=*/true);
    if (node == nullptr) continue;
    for (const auto& [gpu, costs] : node->entries) {
      table[NameOfKind(kind)][gpu.scalar] = ReadCosts(gpu.scalar, costs, &diagnostics);
    }
  }
  file.Finish();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return table;
}

const TokenCosts* FindTokenCosts(const TokenCostTable& table, BufferKind buffers,
                                 const GpuSpec& gpu) {
  const auto kind = table.find(NameOfKind(buffers));
  if (kind == table.end()) return nullptr;
  for (const std::string& name : {gpu.name, gpu.reference}) {
    const auto found = kind->second.find(name);
    if (found != kind->second.end()) return &found->second;
  }
  return nullptr;
}

Error NoTokenCosts(const TokenCostTable& table, BufferKind buffers, const GpuSpec& gpu) {
  std::vector<std::string> names;
  const auto kind = table.find(NameOfKind(buffers));
  if (kind != table.end()) {
    for (const auto& [name, costs] : kind->second) names.push_back(name);
  }
  return Error(fmt::format("{} has no costs of {} on {}; it has those of {}", TokenCostsPath(),
                           NameOfKind(buffers), gpu.name, Join(names)));
}

std::string TokenCostsPath() { return ConfigDirectory() + "/token-exchange.yaml"; }

Result<TokenCostTable> LoadTokenCosts() {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(TokenCostsPath()));
  return ParseTokenCosts(text, TokenCostsPath());
}

}  // namespace drydock
