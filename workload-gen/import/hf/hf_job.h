// Reads a training run from a config.json alone. A config.json describes a model and nothing of its
// training, so the rest of the run is assumed, each key under its name.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_JOB_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_JOB_H_

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/base/yaml.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// Tokens of a step that the assumed global batch amounts to.
inline constexpr int64_t kAssumedStepTokens = int64_t{1} << 22;

// True if the tree is that of a config.json, not of a model.yaml.
bool IsHfConfig(const YamlNode& root);

// Returns the tree of a model.yaml: the model of the configuration, and assumed values for the
// rest, which `notes` lists. The parallel degrees are those of one GPU; FitLayout chooses others.
Result<YamlNode> JobFromHfConfig(const YamlNode& root, const std::string& file_name, bool strict,
                                 ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_JOB_H_
