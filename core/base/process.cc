#include "core/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <thread>

#include "core/base/files.h"

extern char** environ;

namespace drydock {
namespace {

constexpr size_t kShown = 2000;   // bytes of a failed program's output
constexpr time_t kLong = 3600;    // seconds; a wait that a signal ends
constexpr time_t kPatience = 10;  // seconds that a program has to end after an interrupt

// The words as execv takes them; valid as long as they are.
std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Error CannotStart(const std::string& program, int code) {
  return Error(fmt::format("cannot start '{}': {}", program, strerror(code)));
}

// Returns what waitpid tells of the end of a child.
int Await(pid_t child) {
  int told = 0;
  while (::waitpid(child, &told, 0) < 0 && errno == EINTR) {
  }
  return told;
}

// Starts a program that ends with this process at the latest. `prepare` runs in the new process.
template <typename Prepare>
Result<pid_t> Start(const std::vector<std::string>& words, const Prepare& prepare) {
  const std::vector<char*> argv = Pointers(words);
  int ends[2];  // closed by execvp, or the new process writes why it failed
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error(fmt::format("pipe: {}", strerror(errno)));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);  // the parent died before prctl
    prepare();
    ::execvp(argv[0], argv.data());
    const int failed = errno;
    (void)!::write(ends[1], &failed, sizeof failed);
    ::_exit(1);
  }
  int failed = child < 0 ? errno : 0;
  ::close(ends[1]);
  if (child > 0) {
    while (::read(ends[0], &failed, sizeof failed) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  if (failed == 0) return child;
  if (child > 0) Await(child);
  return CannotStart(words.front(), failed);
}

// Writes each line that comes from `from` to standard error with one call. Returns whether a line
// had "error:".
bool ForwardLines(int from) {
  bool said_error = false;
  std::string text;
  const auto write_out = [&](size_t size) {
    said_error |= text.substr(0, size).find("error:") != std::string::npos;
    for (size_t at = 0; at < size;) {
      const ssize_t written = ::write(STDERR_FILENO, text.data() + at, size - at);
      if (written < 0 && errno != EINTR) break;  // nobody reads
      at += written < 0 ? 0 : static_cast<size_t>(written);
    }
    text.erase(0, size);
  };
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(from, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
    const size_t end = text.rfind('\n');
    if (end != std::string::npos) write_out(end + 1);
  }
  if (!text.empty()) write_out(text.size());
  return said_error;
}

// The signals that end a run, without those that the caller ignores, as nohup does with SIGHUP.
sigset_t Interrupts() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present = {};
    ::sigaction(signal, nullptr, &present);
    if (present.sa_handler != SIG_IGN) ::sigaddset(&signals, signal);
  }
  return signals;
}

}  // namespace

std::string ValueOf(const Variables& variables, const std::string& name) {
  for (const auto& [known, value] : variables) {
    if (known == name) return value;
  }
  return "";
}

bool Has(const Variables& variables, const std::string& name) {
  return std::any_of(variables.begin(), variables.end(),
                     [&](const auto& variable) { return variable.first == name; });
}

void Set(Variables* variables, const std::string& name, const std::string& value) {
  for (auto& [known, present] : *variables) {
    if (known != name) continue;
    present = value;
    return;
  }
  variables->emplace_back(name, value);
}

void Unset(Variables* variables, const std::string& name) {
  std::erase_if(*variables, [&](const auto& variable) { return variable.first == name; });
}

Variables OwnEnvironment() {
  Variables variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string variable = *at;
    const size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    variables.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return variables;
}

std::string WorkingFolder() {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::current_path(failed);
  return failed ? "/" : folder.string();
}

std::string FolderOfExecutable() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length <= 0 ? "." : DirectoryOf(std::string(path, static_cast<size_t>(length)));
}

std::string FindProgram(const std::string& program, const std::string& path,
                        const std::string& but_not) {
  const auto starts = [](const std::string& file) {  // a folder can be "executed", too
    std::error_code failed;
    return ::access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, failed);
  };
  if (program.find('/') != std::string::npos) return starts(program) ? program : "";
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    if (folder != but_not && starts(file)) return file;
  }
  return "";
}

int ExitStatusOf(int told) { return WIFEXITED(told) ? WEXITSTATUS(told) : 128 + WTERMSIG(told); }

int WaitForEnd(pid_t child) { return ExitStatusOf(Await(child)); }

Result<std::string> RunCommand(const std::vector<std::string>& words) {
  const std::vector<char*> argv = Pointers(words);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error(fmt::format("pipe: {}", strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    said.append(buffer, static_cast<size_t>(got));
  }
  ::close(ends[0]);
  if (failed != 0) return CannotStart(words.front(), failed);
  if (WaitForEnd(child) == 0) return said;
  return Error(fmt::format("'{}' failed:\n{}", words.front(), said.substr(0, kShown)));
}

Result<int> RunShown(const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const pid_t child, Start(words, [] {}));
  return WaitForEnd(child);
}

Result<GroupEnd> RunGroup(const std::vector<std::string>& words, bool by_line) {
  int errors[2] = {-1, -1};
  if (by_line && ::pipe2(errors, O_CLOEXEC) != 0) {
    return Error(fmt::format("pipe: {}", strerror(errno)));
  }
  const sigset_t interrupts = Interrupts();
  sigset_t watched = interrupts, before;
  ::sigaddset(&watched, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &watched, &before);  // they wait until sigtimedwait takes them
  const Result<pid_t> child = Start(words, [&] {
    ::setpgid(0, 0);
    if (by_line) ::dup2(errors[1], STDERR_FILENO);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  });
  if (by_line) ::close(errors[1]);
  if (!child.ok()) {
    if (by_line) ::close(errors[0]);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return child.error();
  }
  GroupEnd end;
  std::thread forwarder;
  if (by_line) forwarder = std::thread([&] { end.said_error = ForwardLines(errors[0]); });
  constexpr int kEnding[] = {SIGINT, SIGTERM, SIGKILL};
  size_t sent = 0;
  int told = 0;
  for (pid_t ended = 0; ended == 0;) {
    // While nothing was sent, only a signal ends the wait.
    const timespec patience = {sent == 0 ? kLong : kPatience, 0};
    const int signal = ::sigtimedwait(&watched, nullptr, &patience);
    const bool late = signal < 0 && errno == EAGAIN && sent > 0;
    if ((late || ::sigismember(&interrupts, signal) == 1) && sent < std::size(kEnding)) {
      end.interrupted = true;
      ::kill(-*child, kEnding[sent++]);
    }
    ended = ::waitpid(*child, &told, WNOHANG);
    if (ended < 0 && errno == EINTR) ended = 0;
  }
  if (end.interrupted) ::kill(-*child, SIGTERM);  // processes of the group that ignored SIGINT
  if (by_line) {
    forwarder.join();  // ends when the last process of the group has closed its end
    ::close(errors[0]);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  end.status = ExitStatusOf(told);
  return end;
}

Status RunBeside(const std::string& name, const std::vector<std::string>& arguments) {
  const std::string path = FolderOfExecutable() + "/" + name;
  std::vector<std::string> words = {path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = Pointers(words);
  pid_t child = 0;
  const int code = ::posix_spawn(&child, path.c_str(), nullptr, nullptr, argv.data(), environ);
  if (code != 0) return Error(fmt::format("cannot run {}: {}", name, std::strerror(code)), {path});
  const int told = Await(child);
  if (WIFSIGNALED(told)) {
    return Error(fmt::format("{} was ended by signal {}", name, WTERMSIG(told)), {path});
  }
  if (WEXITSTATUS(told) != 0) {
    return Error(fmt::format("{} ended with exit status {}", name, WEXITSTATUS(told)), {path});
  }
  return OkStatus();
}

}  // namespace drydock
