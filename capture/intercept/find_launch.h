// From the words behind "drydock capture ... --" to what they start.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_FIND_LAUNCH_H_
#define DRYDOCK_CAPTURE_INTERCEPT_FIND_LAUNCH_H_

#include <optional>
#include <string>
#include <vector>

#include "capture/intercept/script_run.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

struct FoundLaunches {
  std::vector<Launch> launches;     // in the order of the script; each once
  std::vector<std::string> notes;   // what the user has to know of them
  std::optional<ScriptRun> script;  // if a script has run; keeps the files that it has written
};

// Launchers and Python are read, and nothing runs; everything else is a script and runs. Python
// without a launcher is one rank, unless the environment has RANK and WORLD_SIZE. Errors: nothing
// is launched, and why; a launcher that is wrong or leaves open what it starts.
Result<FoundLaunches> FindLaunches(const std::vector<std::string>& words,
                                   const ScriptOptions& options);

// The environment of this process.
Variables OwnEnvironment();

// Whether FindLaunches would execute these words.
bool IsScript(const std::vector<std::string>& words);

// Errors: more ranks or hosts than the cluster has; the message has both numbers.
Status CheckFits(const Launch& launch, const ClusterSize& cluster, const std::string& cluster_file);

// One line: what it starts, on how many hosts.
std::string Describe(const Launch& launch);

// Makes the launch of a command of which two ranks have been seen: what differs has to be a number
// of the rank. Adds to `notes` the variables that differ otherwise. Errors: words that differ
// otherwise.
Status MergeRanks(const Launch& other, int other_rank, Launch* first,
                  std::vector<std::string>* notes);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_FIND_LAUNCH_H_
