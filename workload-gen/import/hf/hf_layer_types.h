// `layer_types` of a Hugging Face config.json, which says of each layer what its attention sees.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_LAYER_TYPES_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_LAYER_TYPES_H_

#include <cstdint>
#include <optional>

#include "core/base/yaml.h"
#include "workload-gen/import/tree/layer_pattern.h"

namespace drydock {

// Nothing, and reported, if a type is not known, `layers` is another number, or the windows follow
// no rule that model.yaml can state.
std::optional<WindowPattern> WindowsOfLayerTypes(const YamlNode& types,
                                                 std::optional<int64_t> layers,
                                                 Diagnostics* diagnostics);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_LAYER_TYPES_H_
