// Finds the command line of a training run in a launch script, or in a file that has only
// arguments. shell_script.h states how a script is followed.
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
  std::string text;                  // the known characters
  std::string unresolved;            // "$NODES": a part of the word that is not known; else ""
  std::string why;                   // why it is not known; "" if no line of the script assigns it
  std::string variable;              // "NODES": that a user may give instead; may be ""
  size_t known = std::string::npos;  // characters of `text` before the part that is not known
  bool wide = false;                 // that part may be several words, or none
  bool not_assigned = false;         // no line that runs assigns it: its caller may give it
  Location location;
  std::string source_line;

  Error ErrorHere(const std::string& message) const {
    return Error(message, location, source_line);
  }
  // For a word with a part that is not known: "$NODES is not known: the script does not assign it;
  // give it with --variable NODES=VALUE".
  std::string Unknown() const;
};

struct LaunchLine {
  // How the file spells arguments that it does not give under their own name: "model.num_layers".
  std::map<std::string, std::string> keys;
  ScriptWord script;  // "pretrain_gpt.py"; empty for a bare list of arguments
  std::vector<ScriptWord> arguments;
  int64_t gpus = 0;                        // that the launcher starts; 0: not stated
  // Arguments of the script that it reads and that nobody gives: "$1 (ENV)", by number.
  std::vector<std::string> missing_arguments;
  // Variables that the script reads, but assigns on another path only; they count as empty.
  std::vector<std::string> empty_variables;
  std::vector<std::string> nccl_settings;  // NCCL_... that the script sets
  ScriptWord cublas_workspace;             // CUBLAS_WORKSPACE_CONFIG; empty: not set
  // The NVTE_... that choose Transformer Engine's attention, how it quantizes and whether it fuses
  // experts, by name, from the script or the user. "": the script does not define the value.
  std::map<std::string, std::string> engine_settings;
};

// True for the variables of LaunchLine::engine_settings.
bool IsEngineSetting(const std::string& name);

// `variables`: values that the user gives to variables of the script; "1" is its argument $1, "@"
// all of its arguments. Reads the files beside the script that it sources.
Result<LaunchLine> ReadLaunchScript(const std::string& text, const std::string& file_name,
                                    const std::map<std::string, std::string>& variables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_LAUNCH_SCRIPT_H_
