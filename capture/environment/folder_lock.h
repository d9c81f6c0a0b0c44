// Keeps two processes from making the same folder at the same time.
#ifndef DRYDOCK_CAPTURE_ENVIRONMENT_FOLDER_LOCK_H_
#define DRYDOCK_CAPTURE_ENVIRONMENT_FOLDER_LOCK_H_

#include <functional>
#include <string>

#include "core/base/result.h"

namespace drydock::capture {

// Says what a set-up is doing, in one line without its end. May be null.
using Tell = std::function<void(const std::string& line)>;

// Held as long as the object, or the process, lives. The lock is the file FOLDER.lock, which stays.
class FolderLock {
 public:
  // Waits for the process that has the lock, and tells so. Errors: the file cannot be made.
  static Result<FolderLock> Take(const std::string& folder, const Tell& tell);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;  // -1 once moved from
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_ENVIRONMENT_FOLDER_LOCK_H_
