// Reads a YAML file that has arguments of Megatron-LM as a map, as the model_config.yaml files of
// its functional tests:
//
//   ENV_VARS:
//     NVTE_FUSED_ATTN: 1
//   MODEL_ARGS:
//     --num-layers: 24
//     --bf16: true
//
// An argument whose value is true stands alone, one that is false is not given, and a list gives
// several values. ${NAME} is a variable that the user gives. The Python file is the variable
// TRAINING_SCRIPT_PATH, or pretrain_gpt.py.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MODEL_ARGUMENTS_FILE_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MODEL_ARGUMENTS_FILE_H_

#include <map>
#include <string>

#include "core/base/yaml.h"
#include "workload-gen/import/shell/launch_script.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// True for the name of a YAML file.
bool IsYamlName(const std::string& file_name);

// `variables`: values for ${NAME}. Keys of the file that tell how a test is run and judged go to
// `notes`. Errors: an unknown key, another kind of file, a test of inference.
Result<LaunchLine> ReadModelArguments(const YamlNode& root, const std::string& file_name,
                                      const std::map<std::string, std::string>& variables,
                                      ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MODEL_ARGUMENTS_FILE_H_
