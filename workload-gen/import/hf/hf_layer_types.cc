#include "workload-gen/import/hf/hf_layer_types.h"

#include <fmt/format.h>

#include <vector>

namespace drydock {

std::optional<WindowPattern> WindowsOfLayerTypes(const YamlNode& types,
                                                 std::optional<int64_t> layers,
                                                 Diagnostics* diagnostics) {
  std::vector<int> windows;
  for (const YamlNode& item : types.items) {
    windows.push_back(item.scalar == "sliding_attention" ? 1 : 0);
    if (item.scalar == "sliding_attention" || item.scalar == "full_attention") continue;
    diagnostics->Add(item.ErrorHere(
        fmt::format("'{}' is not a layer type; valid values are full_attention, sliding_attention",
                    item.scalar)));
    return std::nullopt;
  }
  if (layers.has_value() && *layers != static_cast<int64_t>(windows.size())) {
    diagnostics->Add(types.ErrorHere(fmt::format(
        "'layer_types' lists {} layers; num_hidden_layers is {}", windows.size(), *layers)));
    return std::nullopt;
  }
  const std::optional<WindowPattern> pattern = AsWindowPattern(windows);
  if (!pattern.has_value()) {
    diagnostics->Add(
        types.ErrorHere("model.yaml can only state windows with n layers without one at the start, "
                        "then every n-th"));
  }
  return pattern;
}

std::optional<std::string> PatternOfBlockTypes(const YamlNode& types, Diagnostics* diagnostics) {
  std::string pattern;
  for (const YamlNode& item : types.items) {
    const std::string& word = item.scalar;
    const char symbol = word == "mamba"       ? 'M'
                        : word == "attention" ? '*'
                        : word == "moe"       ? 'E'
                        : word == "mlp"       ? '-'
                                              : '?';
    if (symbol == '?') {
      diagnostics->Add(item.ErrorHere(fmt::format(
          "'{}' is not a layer type; valid values are mamba, attention, moe, mlp", word)));
      return std::nullopt;
    }
    pattern += symbol;
  }
  return pattern;
}

std::optional<std::vector<bool>> AttentionOfLayerTypes(const YamlNode& types, int64_t layers,
                                                       Diagnostics* diagnostics) {
  const std::optional<std::string> pattern = PatternOfBlockTypes(types, diagnostics);
  if (!pattern.has_value()) return std::nullopt;
  if (static_cast<int64_t>(pattern->size()) != layers) {
    diagnostics->Add(types.ErrorHere(
        fmt::format("{} layers are listed; num_hidden_layers is {}", pattern->size(), layers)));
    return std::nullopt;
  }
  std::vector<bool> attends;
  for (const char symbol : *pattern) attends.push_back(symbol == '*');
  return attends;
}

}  // namespace drydock
