// The keeper of a process: it waits for the process's end, ends whatever that has started, and says
// how it ended. No libraries but C++'s: it also runs inside captured programs.
#ifndef DRYDOCK_CAPTURE_KEEPER_KEPT_PROCESS_H_
#define DRYDOCK_CAPTURE_KEEPER_KEPT_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace drydock::capture {

// How a process ended. Plain data: the keeper sends it through a pipe or a socket.
struct KeptEnd {
  int32_t status = 0;      // of waitpid
  int32_t timed_out = 0;   // 1: it was ended because of the limit
  int64_t peak_bytes = 0;  // resident, of its largest process
  int64_t wall_ns = 0;
};

// Ends a process and its keeper, and leaves its files to whoever sends it.
inline constexpr int kEndAndLeaveFiles = SIGUSR1;

// The signals that a keeper waits for; they have to be blocked from before its birth on.
sigset_t SignalsOfKeeper();

struct KeptFacts {
  int end = -1;                      // where its KeptEnd goes
  std::vector<std::string> scratch;  // folders to remove if the parent of the keeper dies
  int time_limit_s = 0;              // 0: none
  sigset_t mask = {};                // that the kept process gets
};

// Makes this process, a child of `parent`, a keeper, and starts the process that it keeps with
// `fork`. Returns in that process alone; the keeper ends when it does.
//
// The keeper and all that it keeps end if `parent` dies or the keeper gets SIGTERM, SIGINT or
// SIGHUP, and the scratch is removed then.
void KeepChild(const KeptFacts& facts, pid_t parent, pid_t (*fork)());

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_KEEPER_KEPT_PROCESS_H_
