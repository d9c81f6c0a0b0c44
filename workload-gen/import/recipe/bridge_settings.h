// The sections of a ConfigContainer of Megatron-Bridge that replace settings of other sections when
// a run begins: `mixed_precision`, a name or settings, and `comm_overlap`. What a recipe leaves out
// of them has the defaults of Megatron-Bridge of August 2026 (training/mixed_precision.py and
// training/comm_overlap.py).
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_BRIDGE_SETTINGS_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_BRIDGE_SETTINGS_H_

#include <vector>

#include "workload-gen/import/recipe/recipe_reader.h"

namespace drydock {

// The fields that are read here, in the section itself and in those that it replaces.
const std::vector<RecipeKey>& BridgeSettingKeys();

// Adds the arguments of the type of numbers: --bf16, --fp8-format and others.
void AddBridgePrecision(RecipeReader* reader);
// Adds the arguments of overlapped communication.
void AddBridgeOverlap(RecipeReader* reader);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_BRIDGE_SETTINGS_H_
