// A process of a captured program, and whatever that starts, under a keeper: a process between this
// one and the program. The keeper ends with everything below it, also where this process is killed.
#ifndef DRYDOCK_CAPTURE_RUN_KEEPER_H_
#define DRYDOCK_CAPTURE_RUN_KEEPER_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

// What to start.
struct KeptProgram {
  std::vector<std::string> command;      // the first word is looked up in PATH
  std::vector<std::string> environment;  // "NAME=VALUE", whole
  std::string folder;                    // that it runs in; empty: this process's
  std::string output, errors;            // files of stdout and stderr; empty: this process's
  std::vector<std::string> scratch;      // folders to remove if this process dies
  int time_limit_s = 0;                  // 0: none
};

// How it ended. Plain data: the keeper sends it through a pipe.
struct KeptEnd {
  int32_t status = 0;      // of waitpid
  int32_t timed_out = 0;   // 1: it was ended because of the limit
  int64_t peak_bytes = 0;  // resident, of its largest process
  int64_t wall_ns = 0;
};

class Keeper {
 public:
  // REQUIRES: this process has one thread, which lives as long as the program.
  static Result<Keeper> Start(const KeptProgram& program);
  Keeper(Keeper&& other) noexcept;
  Keeper& operator=(Keeper&& other) noexcept;
  // Ends a program that still runs.
  ~Keeper();

  // Waits at most this long. Empty: it still runs.
  std::optional<KeptEnd> Wait(int milliseconds);
  // A file that is ready to read when it has ended; for poll().
  int file() const { return pipe_; }

 private:
  Keeper(pid_t pid, int pipe) : pid_(pid), pipe_(pipe) {}
  void End();
  pid_t pid_ = 0;
  int pipe_ = -1;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_RUN_KEEPER_H_
