#include "core/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sha2.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "core/base/cli.h"

namespace drydock {
namespace {

// Paths that a signal handler removes: written under a lock, read without one.
constexpr int kUnfinishedSlots = 64;
constexpr int kPathCapacity = 4096;
constexpr size_t kMaxFile = size_t{4} << 30;  // no input is near this size
enum class UnfinishedKind : uint8_t {
  kFile,
  kTree,          // a directory with its content
  kFileOrFolder,  // a directory only if it is empty
};
struct UnfinishedSlot {
  std::atomic<bool> used{false};
  UnfinishedKind kind = UnfinishedKind::kFile;
  pid_t process = 0;  // a forked process has a copy of the slots, and leaves them alone
  char path[kPathCapacity];
};
UnfinishedSlot g_unfinished[kUnfinishedSlots];
std::mutex g_unfinished_mutex;

void RegisterUnfinished(const std::string& path, UnfinishedKind kind) {
  std::lock_guard<std::mutex> lock(g_unfinished_mutex);
  for (UnfinishedSlot& slot : g_unfinished) {
    if (slot.used || path.size() + 1 > kPathCapacity) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.kind = kind;
    slot.process = ::getpid();
    slot.used = true;
    return;
  }
}

Error SystemError(std::string_view action, const std::string& path, int code) {
  return Error(fmt::format("cannot {}: {}", action, std::strerror(code)), {path, 0, 0});
}

Status WriteAll(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("write", path, errno);
    content.remove_prefix(static_cast<size_t>(n));
  }
  return OkStatus();
}

// Writes the file `path`; errors name it `shown`. With O_EXCL, removes an existing file first: it
// may be a leftover, or a link to another file.
Status WriteWhole(const std::string& path, const std::string& shown, std::string_view content,
                  int flags = O_CREAT | O_EXCL) {
  if ((flags & O_EXCL) != 0) ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644);
  if (fd < 0) return SystemError("write", shown, errno);
  Status status = WriteAll(fd, content, shown);
  if (::close(fd) != 0 && status.ok()) status = SystemError("write", shown, errno);
  return status;
}

constexpr std::string_view kTemporaryInfix = ".tmp-";

// Returns a path that no other write, of this process or another, uses.
std::string TemporaryPathFor(const std::string& path) {
  static std::atomic<int> count{0};
  return fmt::format("{}{}{}-{}", path, kTemporaryInfix, ::getpid(), ++count);
}

// Whether `name` is one of TemporaryPathFor(`stem`), of a process that no longer runs.
bool IsAbandoned(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (!name.starts_with(kTemporaryInfix)) return false;
  name.remove_prefix(kTemporaryInfix.size());
  const size_t dash = name.find('-');
  pid_t process = 0;
  const char* end = name.data() + std::min(dash, name.size());
  if (std::from_chars(name.data(), end, process).ptr != end || process <= 0) return false;
  if (dash == name.npos || name.find_first_not_of("0123456789", dash + 1) != name.npos)
    return false;
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

// Removes what writes of `path` have left that were killed.
void RemoveAbandoned(const std::string& path) {
  const std::string stem = BaseName(path);
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry(DirectoryOf(path), ignored), end;
       !ignored && entry != end; entry.increment(ignored)) {
    if (!IsAbandoned(entry->path().filename().native(), stem)) continue;
    std::error_code failed;
    std::filesystem::remove_all(entry->path(), failed);
  }
}

// Returns the file that a write to `path` changes: the target of symbolic links, if it exists.
std::string TargetOfLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

// Makes only async-signal-safe calls: no readdir, because it allocates. Closes `dir`.
void RemoveContent(int dir) {
  struct Entry {  // struct linux_dirent64, getdents64(2)
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
  };
  alignas(Entry) char buffer[4096];
  for (;;) {
    const long bytes = ::syscall(SYS_getdents64, dir, buffer, sizeof buffer);
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      at += entry->length;
      if (::strcmp(entry->name, ".") == 0 || ::strcmp(entry->name, "..") == 0) continue;
      if (::unlinkat(dir, entry->name, 0) == 0) continue;
      const int inner = ::openat(dir, entry->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner < 0) continue;
      RemoveContent(inner);
      ::unlinkat(dir, entry->name, AT_REMOVEDIR);
    }
  }
  ::close(dir);
}

void RemoveDirectoryContent(const char* path) {
  const int dir = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) RemoveContent(dir);
}

// Exchanges the directories `from` and `to`, in one step if the file system can.
bool ExchangeDirectories(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  const std::string aside = from + ".old";
  if (::rename(to.c_str(), aside.c_str()) != 0) return false;
  if (::rename(from.c_str(), to.c_str()) == 0) return ::rename(aside.c_str(), from.c_str()) == 0;
  const int code = errno;
  ::rename(aside.c_str(), to.c_str());
  errno = code;
  return false;
}

}  // namespace

void RemoveIfUnfinished(const std::string& path) {
  RegisterUnfinished(path, UnfinishedKind::kFileOrFolder);
}

void ForgetUnfinished(const std::string& path) {
  std::lock_guard<std::mutex> lock(g_unfinished_mutex);
  for (UnfinishedSlot& slot : g_unfinished) {
    if (slot.used && path == slot.path) slot.used = false;
  }
}

Result<std::string> ReadFile(const std::string& path) {
  // Without O_NONBLOCK, a pipe without a writer would block.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return SystemError("read", path, errno);
  struct stat info = {};
  ::fstat(fd, &info);
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    if (S_ISDIR(info.st_mode)) return SystemError("read", path, EISDIR);
    return Error(
        fmt::format("cannot read: it is a {}; copy its content to a file and give that file",
                    S_ISFIFO(info.st_mode) ? "pipe" : "device"),
        {path, 0, 0});
  }
  if (static_cast<size_t>(info.st_size) > kMaxFile) {
    ::close(fd);
    return SystemError("read", path, EFBIG);
  }
  std::string content;
  content.reserve(static_cast<size_t>(info.st_size));
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 || content.size() > kMaxFile) {
      const int code = n < 0 ? errno : EFBIG;
      ::close(fd);
      return SystemError("read", path, code);
    }
    if (n == 0) break;
    content.append(buffer, static_cast<size_t>(n));
  }
  ::close(fd);
  return content;
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  const std::string target = TargetOfLinks(path);
  struct stat info = {};
  if (::stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return SystemError("write", path, EISDIR);
    return WriteWhole(target, path, content, 0);  // write into a pipe or device
  }
  RemoveAbandoned(target);
  const std::string temporary = TemporaryPathFor(target);
  RegisterUnfinished(temporary, UnfinishedKind::kFile);
  Status status = WriteWhole(temporary, path, content);
  if (status.ok() && ::rename(temporary.c_str(), target.c_str()) != 0) {
    status = SystemError("write", path, errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  ForgetUnfinished(temporary);
  return status;
}

Result<StagedDirectory> StagedDirectory::Create(const std::string& target, IsOwned is_owned) {
  RemoveAbandoned(target);
  std::string path = TemporaryPathFor(target);
  RegisterUnfinished(path, UnfinishedKind::kTree);
  if (::mkdir(path.c_str(), 0755) == 0) {
    return StagedDirectory(target, std::move(path), std::move(is_owned));
  }
  const int code = errno;
  ForgetUnfinished(path);
  return SystemError("create", target, code);
}

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      is_owned_(std::move(other.is_owned_)) {}

StagedDirectory::~StagedDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  ForgetUnfinished(path_);
}

Status StagedDirectory::Write(const std::string& name, std::string_view content) {
  return WriteWhole(path_ + "/" + name, target_ + "/" + name, content);
}

// After the exchange, path_ is the older directory.
void StagedDirectory::KeepFilesOfUser() const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (fs::directory_iterator entry(path_, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const fs::path name = entry->path().filename();
    if (is_owned_(name.native())) continue;
    std::error_code failed;
    fs::rename(entry->path(), fs::path(target_) / name, failed);
  }
}

Status StagedDirectory::Commit() {
  struct stat info = {};
  const bool replaces = ::lstat(target_.c_str(), &info) == 0;
  if (replaces && !S_ISDIR(info.st_mode)) return SystemError("write", target_, ENOTDIR);
  const bool done = replaces ? ExchangeDirectories(path_, target_)
                             : ::rename(path_.c_str(), target_.c_str()) == 0;
  if (!done) return SystemError("write", target_, errno);
  std::error_code ignored;
  if (replaces && is_owned_) KeepFilesOfUser();
  if (replaces) std::filesystem::remove_all(path_, ignored);
  ForgetUnfinished(path_);
  path_.clear();
  return OkStatus();
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return SystemError("create", path, error.value());
  return OkStatus();
}

bool FileExists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

namespace {
// Returns "a/b" for "a/b/".
std::filesystem::path WithoutTrailingSlash(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  return last == std::string::npos ? path : path.substr(0, last + 1);
}
}  // namespace

std::string BaseName(const std::string& path) {
  return WithoutTrailingSlash(path).filename().string();
}

std::string DirectoryOf(const std::string& path) {
  const std::string parent = WithoutTrailingSlash(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string Sha256(std::string_view content) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t*>(content.data()), content.size());
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256Final(digest, &context);
  std::string out;
  for (const uint8_t byte : digest) out += fmt::format("{:02x}", byte);
  return out;
}

Result<std::string> Sha256OfFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  return Sha256(content);
}

void RemoveUnfinishedFiles() {
  const pid_t process = ::getpid();
  for (UnfinishedSlot& slot : g_unfinished) {
    if (!slot.used || slot.process != process) continue;
    if (slot.kind == UnfinishedKind::kTree) {
      // Another thread may still be adding files to the directory.
      for (int attempt = 0; attempt < 10; ++attempt) {
        RemoveDirectoryContent(slot.path);
        if (::rmdir(slot.path) == 0 || errno != ENOTEMPTY) break;
      }
    } else {
      ::unlink(slot.path);
    }
  }
  for (UnfinishedSlot& slot : g_unfinished) {
    const bool own = slot.used && slot.process == process;
    if (own && slot.kind == UnfinishedKind::kFileOrFolder) ::rmdir(slot.path);
  }
}

}  // namespace drydock
