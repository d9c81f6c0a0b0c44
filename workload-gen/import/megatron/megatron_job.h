// Turns a command line of Megatron-LM into a model.yaml. Defaults and computed values are those of
// Megatron-LM.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_JOB_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_JOB_H_

#include <map>
#include <string>

#include "core/base/yaml.h"
#include "workload-gen/import/megatron/megatron_arguments.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// Returns the tree of the model.yaml. `variables` are values that the user gives to variables of
// the script (launch_script.h). Reports all mistakes at once, each at its place in the script.
Result<YamlNode> MegatronJob(const LaunchLine& line, const std::string& file_name,
                             const ArgumentRules& rules, ImportNotes* notes);
// The same for the text of a launch script or of a list of arguments.
Result<YamlNode> MegatronJob(const std::string& text, const std::string& file_name,
                             const std::map<std::string, std::string>& variables,
                             const ArgumentRules& rules, ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_JOB_H_
