// Reads `layer_types` of a config.json of Hugging Face: the kind of attention of each layer.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_LAYER_TYPES_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_LAYER_TYPES_H_

#include <cstdint>
#include <optional>

#include "core/base/yaml.h"
#include "workload-gen/import/tree/layer_pattern.h"

namespace drydock {

// Returns nothing, and reports why, if a type is unknown, the list does not have `layers` entries,
// or model.yaml cannot state the pattern of windows.
std::optional<WindowPattern> WindowsOfLayerTypes(const YamlNode& types,
                                                 std::optional<int64_t> layers,
                                                 Diagnostics* diagnostics);

// Returns the symbols of model.layer_pattern for a list of "mamba", "attention", "moe" and "mlp".
// Reports other words.
std::optional<std::string> PatternOfBlockTypes(const YamlNode& types, Diagnostics* diagnostics);

// Returns for each layer of a list of "mamba" and "attention" whether it has attention. Reports
// other words, and another number of layers.
std::optional<std::vector<bool>> AttentionOfLayerTypes(const YamlNode& types, int64_t layers,
                                                       Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_LAYER_TYPES_H_
