#include "capture/environment/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace drydock::capture {

Result<FolderLock> FolderLock::Take(const std::string& folder, const Tell& tell) {
  constexpr mode_t kMode = 0644;
  const std::string path = folder + ".lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file < 0) return Error(fmt::format("cannot be made: {}", strerror(errno)), {path, 0, 0});
  FolderLock lock(file);
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK && tell) {
    tell(fmt::format("another process makes {}; waits for its end", folder));
  }
  while (::flock(file, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    return Error(fmt::format("cannot be locked: {}", strerror(errno)), {path, 0, 0});
  }
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : file_(other.file_) { other.file_ = -1; }

FolderLock::~FolderLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace drydock::capture
