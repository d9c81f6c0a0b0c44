// Finds the command line of a training run in a launch script, or in a file that has only
// arguments. shell_words.h and shell_script.h state which parts of the shell are supported.
//
// A script is read from top to bottom. The training command starts a Python file through torchrun,
// python or deepspeed, also inside sh -c "...". If a script has several such commands, the training
// command is the one whose file is named pretrain... or train....
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_LAUNCH_SCRIPT_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_LAUNCH_SCRIPT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

struct ScriptWord {
  std::string text;
  std::string unresolved;  // "$NODES": a part of the word that the script does not define; else ""
  Location location;
  std::string source_line;

  Error ErrorHere(const std::string& message) const {
    return Error(message, location, source_line);
  }
};

struct LaunchLine {
  ScriptWord script;  // "pretrain_gpt.py"; empty for a bare list of arguments
  std::vector<ScriptWord> arguments;
  int64_t gpus = 0;                        // that the launcher starts; 0: not stated
  std::vector<std::string> nccl_settings;  // NCCL_... that the script sets
  ScriptWord cublas_workspace;             // CUBLAS_WORKSPACE_CONFIG; empty: not set
  // The NVTE_... that choose Transformer Engine's attention, how it quantizes and whether it fuses
  // experts, by name, from the script or the user. "": the script does not define the value.
  std::map<std::string, std::string> engine_settings;
};

// `variables`: values that the user gives to variables of the script; "1" is its argument $1.
Result<LaunchLine> ReadLaunchScript(const std::string& text, const std::string& file_name,
                                    const std::map<std::string, std::string>& variables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_LAUNCH_SCRIPT_H_
