#include "capture/run/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace drydock::capture {
namespace {

constexpr int kCannotStart = 127;
constexpr int kDefaultFileMode = 0644;
// After the limit the program may say where it is: Python's fault handler answers SIGABRT.
constexpr int64_t kLastWords_ns = 2'000'000'000;

int64_t Now() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void OpenAs(const std::string& path, int flags, int number) {
  if (path.empty()) return;
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, kDefaultFileMode);
  if (file < 0) ::_exit(kCannotStart);
  ::dup2(file, number);
}

[[noreturn]] void BecomeProgram(const KeptProgram& program, const sigset_t& mask) {
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  OpenAs("/dev/null", O_RDONLY, STDIN_FILENO);
  OpenAs(program.output, kWrite, STDOUT_FILENO);
  OpenAs(program.errors, kWrite, STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (!program.folder.empty() && ::chdir(program.folder.c_str()) != 0) {
    fprintf(stderr, "cannot enter '%s': %s\n", program.folder.c_str(), strerror(errno));
    ::_exit(kCannotStart);
  }
  std::vector<std::string> words = program.command, variables = program.environment;
  const std::vector<char*> argv = Pointers(&words), envp = Pointers(&variables);
  environ = const_cast<char**>(envp.data());  // execvpe looks into this process's PATH
  ::execvp(argv[0], argv.data());
  fprintf(stderr, "cannot start '%s': %s\n", argv[0], strerror(errno));
  ::_exit(kCannotStart);
}

// Returns the children of this process.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  DIR* all = ::opendir("/proc");
  while (const dirent* entry = all == nullptr ? nullptr : ::readdir(all)) {
    const int process = std::atoi(entry->d_name);
    if (process <= 0) continue;
    FILE* file = std::fopen(fmt::format("/proc/{}/stat", process).c_str(), "r");
    if (file == nullptr) continue;
    char text[512] = {};
    const size_t got = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    // "12 (a name) S 1 ...": the name may have spaces and brackets.
    const char* name_end = std::strrchr(text, ')');
    int parent = 0;
    if (got > 0 && name_end != nullptr && std::sscanf(name_end + 1, " %*c %d", &parent) == 1 &&
        parent == ::getpid()) {
      children.push_back(process);
    }
  }
  if (all != nullptr) ::closedir(all);
  return children;
}

// Processes that have no other parent any more become children of the keeper.
void EndAllChildren() {
  while (true) {
    for (const pid_t child : Children()) ::kill(child, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

class KeeperProcess {
 public:
  KeeperProcess(const KeptProgram& program, int pipe, const sigset_t& signals, const sigset_t& mask)
      : program_(program), pipe_(pipe), signals_(signals), mask_(mask) {}

  [[noreturn]] void Run(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::setpgid(0, 0);  // an interrupt of the terminal is for the tool alone
    const bool orphan = ::getppid() != parent;
    begin_ = Now();
    child_ = orphan ? -1 : ::fork();
    if (child_ == 0) BecomeProgram(program_, mask_);
    if (child_ > 0 && !WaitForEnd()) {
      EndAllChildren();
      RemoveScratch();
      ::_exit(1);
    }
    EndAllChildren();
    if (orphan) RemoveScratch();
    end_.wall_ns = Now() - begin_;
    if (::write(pipe_, &end_, sizeof end_) < 0) RemoveScratch();  // the tool is gone
    ::_exit(0);
  }

 private:
  // Returns false if the tool wants it to end, or is dead.
  bool WaitForEnd() {
    const int64_t limit = int64_t{program_.time_limit_s} * 1'000'000'000;
    while (true) {
      int64_t left = INT64_MAX;
      if (limit > 0) left = begin_ + limit + (end_.timed_out != 0 ? kLastWords_ns : 0) - Now();
      if (left <= 0) {
        if (end_.timed_out != 0) {
          end_.status = SIGKILL;
          return true;
        }
        end_.timed_out = 1;
        ::kill(child_, SIGABRT);
        continue;
      }
      timespec wait = {1, 0};
      if (left < 1'000'000'000) wait = {0, static_cast<long>(left)};
      const int signal = ::sigtimedwait(&signals_, nullptr, &wait);
      if (signal > 0 && signal != SIGCHLD) return false;
      if (Reap()) return true;
    }
  }

  // Returns true if the program has ended. Processes that it started may still run.
  bool Reap() {
    int status = 0;
    rusage used = {};
    pid_t ended = 0;
    while ((ended = ::wait4(-1, &status, WNOHANG, &used)) > 0) {
      if (ended != child_) continue;
      end_.status = status;
      end_.peak_bytes = int64_t{used.ru_maxrss} * 1024;
      return true;
    }
    return false;
  }

  void RemoveScratch() {
    for (const std::string& folder : program_.scratch) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  }

  const KeptProgram& program_;
  int pipe_;
  const sigset_t& signals_;
  const sigset_t& mask_;
  pid_t child_ = -1;
  int64_t begin_ = 0;
  KeptEnd end_;
};

}  // namespace

Result<Keeper> Keeper::Start(const KeptProgram& program) {
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    return Error(fmt::format("cannot start a process: {}", strerror(errno)));
  }
  // From before its birth, the keeper gets signals only where it waits for them.
  sigset_t signals, before;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(pipe[0]);
    KeeperProcess(program, pipe[1], signals, before).Run(parent);
  }
  const int code = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(pipe[1]);
  if (pid < 0) {
    ::close(pipe[0]);
    return Error(fmt::format("cannot start a process: {}", strerror(code)));
  }
  return Keeper(pid, pipe[0]);
}

Keeper::Keeper(Keeper&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), pipe_(std::exchange(other.pipe_, -1)) {}

Keeper& Keeper::operator=(Keeper&& other) noexcept {
  End();
  pid_ = std::exchange(other.pid_, 0);
  pipe_ = std::exchange(other.pipe_, -1);
  return *this;
}

Keeper::~Keeper() { End(); }

void Keeper::End() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (pipe_ >= 0) ::close(pipe_);
  pid_ = 0;
  pipe_ = -1;
}

std::optional<KeptEnd> Keeper::Wait(int milliseconds) {
  pollfd ready = {pipe_, POLLIN, 0};
  if (::poll(&ready, 1, milliseconds) <= 0) return std::nullopt;
  KeptEnd end;
  const ssize_t got = ::read(pipe_, &end, sizeof end);
  if (got != static_cast<ssize_t>(sizeof end)) {
    end = KeptEnd();
    end.status = SIGKILL;  // somebody killed the keeper
  }
  End();
  return end;
}

}  // namespace drydock::capture
