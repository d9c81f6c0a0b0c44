#include "capture/run/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace drydock::capture {
namespace {

constexpr int kCannotStart = 127;
constexpr int kDefaultFileMode = 0644;

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

[[noreturn]] void BecomeProgram(const KeptProgram& program) {
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  OpenAs("/dev/null", O_RDONLY, STDIN_FILENO);
  OpenAs(program.output, kWrite, STDOUT_FILENO);
  OpenAs(program.errors, kWrite, STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  if (program.passed_file >= 0) ::fcntl(program.passed_file, F_SETFD, 0);
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

}  // namespace

Result<Keeper> Keeper::Start(const KeptProgram& program) {
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    return Error(fmt::format("cannot start a process: {}", strerror(errno)));
  }
  // From before its birth, the keeper gets signals only where it waits for them.
  sigset_t before;
  const sigset_t signals = SignalsOfKeeper();
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(pipe[0]);
    KeepChild({pipe[1], program.scratch, program.time_limit_s, before}, parent, ::fork);
    BecomeProgram(program);
  }
  const int code = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(pipe[1]);
  if (pid < 0) {
    ::close(pipe[0]);
    return Error(fmt::format("cannot start a process: {}", strerror(code)));
  }
  return Keeper(pid, pipe[0], /*is_child=*/true);
}

Keeper::Keeper(Keeper&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      pipe_(std::exchange(other.pipe_, -1)),
      is_child_(other.is_child_) {}

Keeper& Keeper::operator=(Keeper&& other) noexcept {
  End();
  pid_ = std::exchange(other.pid_, 0);
  pipe_ = std::exchange(other.pipe_, -1);
  is_child_ = other.is_child_;
  return *this;
}

Keeper::~Keeper() { End(); }

void Keeper::End() {
  if (pid_ > 0) {
    ::kill(pid_, kEndAndLeaveFiles);
    if (is_child_) {
      while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      }
    } else {
      char rest[sizeof(KeptEnd)];
      while (::read(pipe_, rest, sizeof rest) > 0) {
      }
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
  if (!is_child_) pid_ = 0;  // its number may be another process's by now
  End();
  return end;
}

}  // namespace drydock::capture
