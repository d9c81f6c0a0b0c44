// Runs a script whose commands start a training program, with stand-ins in place of the launchers,
// and returns what the stand-ins have seen. The script itself really runs: it may write files.
//
// It has no network and no other processes, where the system allows that. HOME and TMPDIR are
// folders of their own, which stay as long as the ScriptRun. It ends when its time is over.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_SCRIPT_RUN_H_
#define DRYDOCK_CAPTURE_INTERCEPT_SCRIPT_RUN_H_

#include <string>
#include <vector>

#include "capture/intercept/stage.h"
#include "core/base/files.h"
#include "core/base/result.h"

namespace drydock::capture {

struct ScriptOptions {
  std::string stand_ins;  // folder of `intercept` and libpreload.so
  ClusterSize cluster;
  std::string python;        // StageFacts::python
  bool keep_home = false;    // HOME is the user's
  bool run_helpers = false;  // StageFacts::run_helpers
  std::string folder;        // in which it runs; "": this process's
  Variables variables;       // set on top of this process's, such as those of a job
  int time_limit_s = 600;
  bool quiet = false;  // the script's stdout is dropped, else it goes to stderr
};

struct ScriptRun {
  StagedDirectory folder;       // of stage.h
  std::vector<SeenCall> calls;  // their environment is the user's, but for what the script changed
  int status = 0;               // of the script
  // Commands of scripts of bash that failed, in order: "run.sh:7: cd data". Where a script ends by
  // one, it is the last.
  std::vector<std::string> failed;
  std::string not_isolated;     // why the script could use the network; "" if it could not
  bool left_running = false;    // it had left processes behind, which were ended
  bool wrote_home = false;      // into its own HOME, which the program will not have
};

// `words`: the command. Errors: it cannot be started; its time is over before it has ended.
Result<ScriptRun> RunScript(const std::vector<std::string>& words, const ScriptOptions& options);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_SCRIPT_RUN_H_
