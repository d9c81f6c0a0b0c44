// The command line of a training run out of a launch script (shell_words.h and
// shell_script.h say what of the shell is understood), or out of a file that is nothing but
// arguments.
//
// A script is read from top to bottom. The training command is the one that starts a Python file
// through torchrun, python or deepspeed, also inside sh -c "..."; where there are several, the one
// whose file is called pretrain... or train....
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
  std::string unresolved;  // "$NODES": a part of the word that the script does not tell; else ""
  Location location;
  std::string source_line;

  Error ErrorHere(const std::string& message) const {
    return Error(message, location, source_line);
  }
};

struct LaunchLine {
  ScriptWord script;  // "pretrain_gpt.py"; empty for a bare list of arguments
  std::vector<ScriptWord> arguments;
  int64_t gpus = 0;                        // that the launcher starts; 0: it does not say
  std::vector<std::string> nccl_settings;  // NCCL_... that the script sets
};

// `variables`: values of the script's variables that the user gave; also "1" for its argument $1.
Result<LaunchLine> ReadLaunchScript(const std::string& text, const std::string& file_name,
                                    const std::map<std::string, std::string>& variables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_LAUNCH_SCRIPT_H_
