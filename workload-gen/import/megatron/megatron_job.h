// A Megatron-LM command line as a model.yaml: defaults as Megatron has them, values that follow
// from others worked out as it does.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_JOB_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_JOB_H_

#include <map>
#include <string>

#include "core/base/yaml.h"
#include "workload-gen/import/tree/import_notes.h"

namespace drydock {

// The tree that the model.yaml would parse to. `variables` are those of the script that the user
// gave (launch_script.h). Everything wrong at once, each at its place in the script.
Result<YamlNode> MegatronJob(const std::string& text, const std::string& file_name,
                             const std::map<std::string, std::string>& variables, bool strict,
                             ImportNotes* notes);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_MEGATRON_MEGATRON_JOB_H_
