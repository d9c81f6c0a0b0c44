// The folder in which a script runs with stand-ins of launchers: what drydock-capture puts there
// for the stand-ins, and what they leave there for drydock-capture.
//
//   bin/NAME      a stand-in, found by PATH; its first line names `intercept`
//   intercept     the program behind all names
//   preload.so    sends commands that are started by path to their stand-ins
//   cluster       ClusterSize, the Python to run, the process that owns the folder
//   calls/N       calls in the order in which they were made
//   failed        commands of scripts of bash that have failed, with their lines
//   home, tmp     HOME and TMPDIR of the script
#ifndef DRYDOCK_CAPTURE_INTERCEPT_STAGE_H_
#define DRYDOCK_CAPTURE_INTERCEPT_STAGE_H_

#include <string>
#include <vector>

#include "capture/launch/call.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

struct StageFacts {
  ClusterSize cluster;
  std::string python;        // that runs Python which is no training program; "": the one of PATH
  int owner = 0;             // the process around the script
  bool run_helpers = false;  // Python without a launcher runs, and is no program to capture
};

Status WriteFacts(const std::string& folder, const StageFacts& facts);
Result<StageFacts> ReadFacts(const std::string& folder);

// What a stand-in has seen.
enum class Seen {
  kLaunch,   // a launcher that starts ranks
  kProgram,  // a program of Python that is started by itself or by a step
  kSkipped,  // a command that was not run, as it needs a network or another machine
  kMissing,  // a command that this machine does not have
  kRefused,  // a launcher whose command line is wrong: Call::refused says why
  kMoved,    // a command that ran in another way than there: Call::refused says how
};
struct SeenCall {
  Seen seen = Seen::kLaunch;
  Call call;
};

// Adds a call behind all others. Safe for several processes at a time.
Status AddCall(const std::string& folder, const SeenCall& call);
Result<std::vector<SeenCall>> ReadCalls(const std::string& folder);

// The stand-in of commands that this machine does not have: "missing-command NAME ARGUMENTS".
inline constexpr const char* kMissingName = "missing-command";
// The names of all stand-ins.
const std::vector<std::string>& StandInNames();
// Whether a program of this name or path has a stand-in.
bool IsStandIn(const std::string& program);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_STAGE_H_
