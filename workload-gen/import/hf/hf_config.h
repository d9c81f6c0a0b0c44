// A Hugging Face config.json as the `model` section of a model.yaml: `model: {from: config.json}`.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_CONFIG_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_CONFIG_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// The values of model_type that are understood, sorted.
const std::vector<std::string>& HfModelTypes();

// The section, each value at its place in the configuration. A field that is not known goes to
// `notes`; with `strict`, and where its name says that it is a size, it is an error.
Result<YamlNode> ModelFromHfConfig(const std::string& text, const std::string& file_name,
                                   bool strict, ImportNotes* notes);

// Replaces `from` in the section `model` of `root` by what that file says; what the section says
// itself counts more. The path is relative to the file that names it. Nothing without a `from`.
Status ExpandModelFrom(bool strict, YamlNode* root, ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_CONFIG_H_
