// What every rank of a launch runs in a capture.
#ifndef DRYDOCK_CAPTURE_COMMAND_RANK_PROGRAM_H_
#define DRYDOCK_CAPTURE_COMMAND_RANK_PROGRAM_H_

#include <string>
#include <vector>

#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// Errors: the launch starts a file that is not there. A file that a script writes for its program
// is there once the script has run.
Status CheckProgram(const Launch& launch);

// The name of the program: "train.py", "torchtitan.train".
std::string NameOfProgram(const Launch& launch);

// The command of every rank, with this Python. A number of the rank inside a word comes from the
// variables that a capture sets for each.
std::vector<std::string> CommandOfRanks(const Launch& launch, const std::string& python);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_COMMAND_RANK_PROGRAM_H_
