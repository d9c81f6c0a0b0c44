// Reads a config.json of Hugging Face as the section `model` of a model.yaml:
// `model: {from: config.json}`.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_CONFIG_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_CONFIG_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// Returns the supported values of model_type, sorted.
const std::vector<std::string>& HfModelTypes();

// Returns the configuration of the text part of a model that has others, else `root`.
YamlNode TextConfigOf(const YamlNode& root);

// Returns the section; each value keeps its place in the configuration. An unknown field goes to
// `notes`. It is an error with `strict`, or if its name looks like that of a size.
Result<YamlNode> ModelFromHfConfig(const YamlNode& root, const std::string& file_name, bool strict,
                                   ImportNotes* notes);
Result<YamlNode> ModelFromHfConfig(const std::string& text, const std::string& file_name,
                                   bool strict, ImportNotes* notes);

// Replaces model.from in `root` by the keys that the file gives (ExpandFrom in tree/job_tree.h).
Status ExpandModelFrom(bool strict, YamlNode* root, ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_HF_HF_CONFIG_H_
