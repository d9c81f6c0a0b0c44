// What the commands of studies share: their directory, their processes, their progress.
#ifndef DRYDOCK_STUDY_STUDY_RUN_H_
#define DRYDOCK_STUDY_STUDY_RUN_H_

#include <chrono>
#include <cstddef>
#include <string>

#include "core/base/result.h"
#include "core/rundir/run_lock.h"

namespace drydock {

// Creates the directory of a study and locks it. Errors: it cannot be created, or another study has
// it.
Result<RunLock> ClaimStudy(const ToolInfo& tool, const CommonOptions& common,
                           const std::string& directory);

// `jobs`, or one for each core if it is 0.
int JobsOr(int jobs);

// Shows how far a study is, and when it will be done: in one line of a terminal, or with a line of
// its own every 30 s in a log. Without a thread, because a study forks its workers.
class StudyProgress {
 public:
  StudyProgress(const ToolInfo& tool, const CommonOptions& common);

  // `what` is counted: "points". Rate and end are those since it was first given.
  void Show(const std::string& what, size_t done, size_t of);
  // Clears the line.
  void End() const;

 private:
  using Clock = std::chrono::steady_clock;

  const std::string tool_;
  const bool quiet_, terminal_;
  const std::chrono::milliseconds interval_;
  std::string what_;
  size_t done_before_ = 0;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace drydock

#endif  // DRYDOCK_STUDY_STUDY_RUN_H_
