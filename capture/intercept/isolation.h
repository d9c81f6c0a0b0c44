// Runs a command apart from the network and from other processes.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_ISOLATION_H_
#define DRYDOCK_CAPTURE_INTERCEPT_ISOLATION_H_

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

struct IsolatedCommand {
  std::vector<std::string> words;        // the first is looked up in PATH
  std::string folder;                    // in which it starts; "": this process's
  std::vector<std::string> environment;  // "NAME=value", all of it
  bool quiet = false;                    // stdout is dropped, else it goes to stderr
  int time_limit_s = 600;
  // Called when the command has ended while processes that it started still run: whether there is
  // anything to wait for.
  std::function<bool()> done;
};

struct IsolatedEnd {
  int status = 0;            // 128 + N after signal N
  bool timed_out = false;    // the command itself had not ended
  bool left_running = false;  // processes that it had left behind were ended
  std::string not_isolated;  // the system's reason; "" if it was isolated
};

// All processes that the command has started have ended when this returns, and end when this
// process dies. Errors: the system can start no process.
Result<IsolatedEnd> RunIsolated(const IsolatedCommand& command);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_ISOLATION_H_
