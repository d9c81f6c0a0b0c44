#include "core/rundir/run_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/base/files.h"

namespace drydock {
namespace {

constexpr size_t kMostCommand = 200;  // characters of the holder's command in messages
constexpr int kAttempts = 50;         // at a file that its holder removes, or has yet to sign
constexpr std::chrono::milliseconds kPause(10);

// Another process may remove the file between any two steps, so that the lock is on a file that
// nobody else sees. Its holder then takes it again.
bool IsStillAt(int file, const std::string& path) {
  struct stat opened = {}, present = {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &present) == 0 &&
         opened.st_dev == present.st_dev && opened.st_ino == present.st_ino;
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != 0 ? name : "unknown";
}

// "NUMBER HOST TIME" of this process: no other has the same.
std::string OwnIdentity() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{} {} {}", ::getpid(), HostName(), now);
}

// The command line of this process in one line.
std::string OwnCommand() {
  std::string command;
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  char words[4096];
  const ssize_t size = file < 0 ? 0 : ::read(file, words, sizeof words);
  if (file >= 0) ::close(file);
  for (ssize_t i = 0; i < size; ++i) {
    if (words[i] != 0) command += words[i];
    if (words[i] == 0 && i + 1 < size) command += ' ';
  }
  const size_t folder = command.substr(0, command.find(' ')).rfind('/');
  if (folder != std::string::npos) command.erase(0, folder + 1);
  for (char& c : command) c = c == '\n' ? ' ' : c;
  if (command.size() > kMostCommand) command = command.substr(0, kMostCommand - 3) + "...";
  return command;
}

std::string ContentOf(int file) {
  char text[1024];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  return size <= 0 ? "" : std::string(text, static_cast<size_t>(size));
}

std::string LineOf(const std::string& content, size_t begin) {
  const size_t end = content.find('\n', begin);
  return end == std::string::npos ? "" : content.substr(begin, end - begin);
}

struct Holder {
  std::string identity;  // the first line
  std::string command;
};

// Waits a moment for a holder that has locked the file and not yet written its name.
Holder HolderOf(int file, int attempts) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::string content = ContentOf(file);
    const std::string identity = LineOf(content, 0);
    if (!identity.empty()) return {identity, LineOf(content, identity.size() + 1)};
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

// "process 4711 (simccl runs/x)", with the host if it is not this one.
std::string TextOf(const Holder& holder) {
  const size_t space = holder.identity.find(' ');
  if (space == std::string::npos) return "another process";
  std::string text = "process " + holder.identity.substr(0, space);
  const std::string host =
      holder.identity.substr(space + 1, holder.identity.rfind(' ') - space - 1);
  const bool here = host == HostName();
  if (!here) text += " on " + host;
  if (!holder.command.empty()) text += " (" + holder.command + ")";
  pid_t number = 0;
  std::from_chars(holder.identity.data(), holder.identity.data() + space, number);
  const bool ended = here && number > 0 && ::kill(number, 0) != 0 && errno == ESRCH;
  return ended ? "what was started by " + text + ", which has ended," : text;
}

// Makes the missing directories of the path, as far as it can. Returns them, the innermost first.
std::vector<std::string> Make(const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> missing;
  std::error_code failed;
  fs::path path = directory;
  if (!path.has_filename()) path = path.parent_path();  // "runs/x/"
  while (!path.empty() && fs::symlink_status(path, failed).type() == fs::file_type::not_found) {
    missing.push_back(path.string());
    path = path.parent_path();
  }
  fs::create_directories(directory, failed);
  return missing;
}

// Opens the file, which is made if there is none. Returns -1 and sets errno if that fails.
int Open(const std::string& path) {
  // The name may be that of a pipe or of a link.
  constexpr int kSafe = O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | kSafe, 0666);
  // Another user's file can be locked all the same.
  return file < 0 && errno == EACCES ? ::open(path.c_str(), O_RDONLY | kSafe) : file;
}

bool IsRegular(int file) {
  struct stat info = {};
  return ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
}

// Returns 0, EWOULDBLOCK if another process has the lock, or why there are no locks.
int Lock(int file) {
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

std::string LetInBy() {
  const char* identity = ::getenv(kRunLockVariable);
  return identity == nullptr ? "" : identity;
}

}  // namespace

Result<RunLock> RunLock::Take(const std::string& directory, Missing missing) {
  RunLock lock;
  lock.process_ = ::getpid();
  lock.path_ = directory + "/" + kRunLockName;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (missing == Missing::kMake) {
      std::vector<std::string> made = Make(directory);
      if (!made.empty()) lock.made_ = std::move(made);
    }
    lock.Close();
    lock.file_ = Open(lock.path_);
    if (!lock.held()) {
      // The holder that made the directory has removed it with its lock.
      if (errno == ENOENT && missing == Missing::kMake) continue;
      if (errno != ELOOP) return lock;
    }
    if (!lock.held() || !IsRegular(lock.file_)) {
      return Error("this is the name of the directory's lock and no regular file; remove it",
                   {std::exchange(lock.path_, {}), 0, 0});
    }
    const int code = Lock(lock.file_);
    if (!IsStillAt(lock.file_, lock.path_)) continue;
    if (code == 0) {
      lock.Sign();
      return lock;
    }
    const Holder holder = HolderOf(lock.file_, code == EWOULDBLOCK ? kAttempts : 1);
    if (!holder.identity.empty() && holder.identity == LetInBy()) {
      lock.Close();
      return lock;
    }
    if (code != EWOULDBLOCK) {
      lock.warning_ = fmt::format(
          "warning: the file system of {} has no locks ({}), so two processes that write into "
          "this directory at the same time are not noticed",
          directory, std::strerror(code));
      lock.Sign();
      return lock;
    }
    if (!IsStillAt(lock.file_, lock.path_)) continue;  // the holder has ended meanwhile
    lock.Close();
    return Error(fmt::format("{} is writing into this directory; wait for its end, or give "
                             "another directory",
                             Printable(TextOf(holder))),
                 {directory, 0, 0});
  }
  lock.Close();
  return lock;  // the directory comes and goes; writing into it tells why
}

// Writes who holds the lock. A full disk does not keep it from being one.
void RunLock::Sign() {
  identity_ = OwnIdentity();
  const std::string content = identity_ + "\n" + OwnCommand() + "\n";
  (void)!::ftruncate(file_, 0);
  (void)!::pwrite(file_, content.data(), content.size(), 0);
  RemoveIfUnfinished(path_);
  for (const std::string& made : made_) RemoveIfUnfinished(made);
}

void RunLock::Close() {
  if (held()) ::close(std::exchange(file_, -1));
}

RunLock::RunLock(RunLock&& other) noexcept { *this = std::move(other); }

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  if (this == &other) return *this;
  Release();
  file_ = std::exchange(other.file_, -1);
  process_ = other.process_;
  path_ = std::move(other.path_);
  identity_ = std::move(other.identity_);
  warning_ = std::move(other.warning_);
  made_ = std::exchange(other.made_, {});
  return *this;
}

RunLock::~RunLock() { Release(); }

void RunLock::Release() {
  if (process_ == ::getpid()) {
    // While the lock is held, the file is not another process's.
    if (held() && IsStillAt(file_, path_)) ::unlink(path_.c_str());
    if (held()) ForgetUnfinished(path_);
    for (const std::string& made : made_) {
      ::rmdir(made.c_str());  // fails where something was written
      ForgetUnfinished(made);
    }
  }
  Close();
}

void RunLock::LetInChildren() const {
  if (!held()) return;
  // They keep the lock, too: it does not end before them.
  ::fcntl(file_, F_SETFD, 0);
  ::setenv(kRunLockVariable, identity_.c_str(), /*overwrite=*/1);
}

Result<RunLock> LockRun(const ToolInfo& tool, const CommonOptions& common, const std::string& run,
                        RunLock::Missing missing) {
  if (common.check) return RunLock();
  ASSIGN_OR_RETURN(RunLock lock, RunLock::Take(run, missing));
  if (!lock.warning().empty()) Report(tool, common, lock.warning());
  return lock;
}

}  // namespace drydock
