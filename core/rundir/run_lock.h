// Keeps two processes from writing into one run directory, or one directory of a study, at the same
// time. The lock is a flock on DIRECTORY/.lock, which says who holds it; the file goes when the
// holder ends. One that a killed holder leaves is no lock.
#ifndef DRYDOCK_CORE_RUNDIR_RUN_LOCK_H_
#define DRYDOCK_CORE_RUNDIR_RUN_LOCK_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/cli.h"
#include "core/base/result.h"

namespace drydock {

inline constexpr const char* kRunLockName = ".lock";
// By this variable a process tells those that it starts that it holds the lock for them.
inline constexpr const char* kRunLockVariable = "DRYDOCK_RUN_LOCK";

// Held until the object or the process ends. Not thread-safe.
class RunLock {
 public:
  // Whether a directory that does not exist is made. If it is, and stays empty, the lock's end
  // removes it again. If it is not, there is nothing to lock.
  enum class Missing { kMake, kLeave };

  RunLock() = default;  // holds nothing
  // Does not wait. Holds nothing if the directory cannot be made or written: what the tool writes
  // then fails, and says why. Errors: another process has the lock, unless it started this one and
  // let it in.
  static Result<RunLock> Take(const std::string& directory, Missing missing);
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  ~RunLock();

  // Lets processes that this one starts from now on write as well.
  void LetInChildren() const;

  bool held() const { return file_ >= 0; }
  // Why the directory is not locked, though it can be written: "" if it is.
  const std::string& warning() const { return warning_; }

 private:
  void Sign();
  void Close();
  void Release();

  int file_ = -1;
  pid_t process_ = 0;  // a forked process does not end the lock
  std::string path_;
  std::string identity_;  // of the holder: its first line in the file
  std::string warning_;
  std::vector<std::string> made_;  // directories, the innermost first
};

// The lock of a command that writes into `run`; nothing with --check. Reports the lock's warning.
// Call it before anything is read or written.
Result<RunLock> LockRun(const ToolInfo& tool, const CommonOptions& common, const std::string& run,
                        RunLock::Missing missing = RunLock::Missing::kLeave);

}  // namespace drydock

#endif  // DRYDOCK_CORE_RUNDIR_RUN_LOCK_H_
