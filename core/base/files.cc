#include "core/base/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sha2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>

namespace drydock {
namespace {

// Slots of paths a signal handler may remove: written under a lock, read without one.
constexpr int kUnfinishedSlots = 64;
constexpr int kPathCapacity = 1024;
struct UnfinishedSlot {
  std::atomic<bool> used{false};
  bool directory = false;
  char path[kPathCapacity];
};
UnfinishedSlot g_unfinished[kUnfinishedSlots];
std::mutex g_unfinished_mutex;

void RegisterUnfinished(const std::string& path, bool directory) {
  std::lock_guard<std::mutex> lock(g_unfinished_mutex);
  for (UnfinishedSlot& slot : g_unfinished) {
    if (slot.used || path.size() + 1 > kPathCapacity) continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.directory = directory;
    slot.used = true;
    return;
  }
}

void ForgetUnfinished(const std::string& path) {
  std::lock_guard<std::mutex> lock(g_unfinished_mutex);
  for (UnfinishedSlot& slot : g_unfinished) {
    if (slot.used && path == slot.path) slot.used = false;
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

Status WriteWhole(const std::string& path, const std::string& shown, std::string_view content) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return SystemError("write", shown, errno);
  Status status = WriteAll(fd, content, shown);
  if (::close(fd) != 0 && status.ok()) status = SystemError("write", shown, errno);
  return status;
}

std::string TemporaryNeighbour(const std::string& path) {
  return fmt::format("{}.tmp-{}", path, ::getpid());
}

// Only system calls that a signal handler may make: one level of plain files is all we write.
void RemoveDirectoryContent(const char* path) {
  const int dir = ::open(path, O_RDONLY | O_DIRECTORY);
  if (dir < 0) return;
  if (DIR* stream = ::fdopendir(dir)) {
    while (const dirent* entry = ::readdir(stream)) ::unlinkat(dir, entry->d_name, 0);
    ::closedir(stream);
  }
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SystemError("read", path, errno);
  struct stat info;
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    ::close(fd);
    return SystemError("read", path, EISDIR);
  }
  std::string content;
  if (S_ISREG(info.st_mode)) content.reserve(static_cast<size_t>(info.st_size));
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int code = errno;
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
  const std::string temporary = TemporaryNeighbour(path);
  RegisterUnfinished(temporary, false);
  Status status = WriteWhole(temporary, path, content);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError("write", path, errno);
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  ForgetUnfinished(temporary);
  return status;
}

Result<StagedDirectory> StagedDirectory::Create(const std::string& target) {
  std::string path = TemporaryNeighbour(target);
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  if (::mkdir(path.c_str(), 0755) != 0) return SystemError("create", target, errno);
  RegisterUnfinished(path, true);
  return StagedDirectory(target, std::move(path));
}

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : target_(std::move(other.target_)), path_(std::exchange(other.path_, {})) {}

StagedDirectory::~StagedDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  ForgetUnfinished(path_);
}

Status StagedDirectory::Write(const std::string& name, std::string_view content) {
  return WriteWhole(path_ + "/" + name, target_ + "/" + name, content);
}

Status StagedDirectory::Commit() {
  const std::string old = path_ + ".old";
  std::error_code error;
  std::filesystem::remove_all(old, error);
  const bool had_old = ::rename(target_.c_str(), old.c_str()) == 0;
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    const int code = errno;
    if (had_old) ::rename(old.c_str(), target_.c_str());
    return SystemError("write", target_, code);
  }
  ForgetUnfinished(path_);
  path_.clear();
  std::filesystem::remove_all(old, error);
  return OkStatus();
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return SystemError("create", path, error.value());
  return OkStatus();
}

bool FileExists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string BaseName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string DirectoryOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
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
  for (UnfinishedSlot& slot : g_unfinished) {
    if (!slot.used) continue;
    if (slot.directory) {
      RemoveDirectoryContent(slot.path);
      ::rmdir(slot.path);
    } else {
      ::unlink(slot.path);
    }
  }
}

}  // namespace drydock
