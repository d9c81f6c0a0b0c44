// Reads a recipe of NeMo or Megatron-Bridge as the arguments of Megatron-LM that say the same.
//
// NeMo 1 and the NeMo launcher have a section `trainer` beside `model`; a ConfigContainer of
// Megatron-Bridge has `train` and `optimizer`. Every key must be known. A key whose value decides a
// time and that cannot be generated is an error.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_H_

#include <map>
#include <string>

#include "core/base/yaml.h"
#include "workload-gen/import/shell/launch_script.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// True for a file with the sections of either.
bool IsRecipe(const YamlNode& root);

// The map of the GEMMs that Transformer Engine overlaps; null if the recipe has none.
const YamlNode* OverlapMapOf(const YamlNode& root);

// `variables`: values for references that the file does not define, such as ${data_dir}, and for
// keys that they replace, such as "trainer.precision". With `strict`, keys of small effect are
// errors. Reports all mistakes at once, each at its place.
Result<LaunchLine> ReadRecipe(const YamlNode& root, const std::string& file_name,
                              const std::map<std::string, std::string>& variables, bool strict,
                              ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_RECIPE_RECIPE_H_
