#include "simccl/record/run/children.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/cli.h"
#include "core/base/process.h"

namespace drydock {
namespace {

constexpr size_t kTailBytes = 2000;

// Runs in the new process: executes the command. If that fails, writes the reason and exits as a
// shell would.
[[noreturn]] void ExecuteCommand(char* const* words, char* const* environment, int stderr_file,
                                 pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before prctl
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_DFL);
  ::dup2(stderr_file, STDERR_FILENO);
  ::execvpe(words[0], words, environment);
  const char* reason = ::strerror(errno);
  for (const char* text :
       {"cannot start ", static_cast<const char*>(words[0]), ": ", reason, "\n"}) {
    (void)!::write(STDERR_FILENO, text, ::strlen(text));
  }
  ::_exit(127);
}

std::vector<std::string> Merge(const Variables& added) {
  std::vector<std::string> all;
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  for (const auto& [name, value] : OwnEnvironment()) {
    if (!Has(added, name)) all.push_back(name + "=" + value);
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

RecordChildren::~RecordChildren() {
  for (const Child& child : children_) {
    if (child.pid > 0) ::kill(child.pid, SIGKILL);
  }
  for (Child& child : children_) {
    if (child.pid > 0) ::waitpid(child.pid, nullptr, 0);
    if (child.stderr_file < 0) continue;
    events_->Forget(child.stderr_file);
    ::close(child.stderr_file);
  }
}

Status RecordChildren::Start(const std::vector<std::string>& command, const Variables& added) {
  std::vector<std::string> words = command;
  std::vector<std::string> variables = Merge(added);
  const std::vector<char*> word_pointers = Pointers(&words);
  const std::vector<char*> variable_pointers = Pointers(&variables);
  int pipe[2] = {-1, -1};
  const pid_t self = ::getpid();
  const bool piped = ::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) == 0;
  if (piped) ::fcntl(pipe[1], F_SETFL, 0);  // the program's end blocks; this end does not
  const pid_t pid = piped ? ::fork() : -1;
  if (pid == 0) ExecuteCommand(word_pointers.data(), variable_pointers.data(), pipe[1], self);
  const int code = errno;
  if (piped) ::close(pipe[1]);
  if (pid < 0) {
    if (piped) ::close(pipe[0]);
    return Error(fmt::format("cannot start process {}: {}", children_.size(), std::strerror(code)));
  }
  const size_t number = children_.size();
  children_.push_back({pid, pipe[0], {}, {}});
  events_->Watch(pipe[0], [this, number] { Forward(number); });
  running_ += 1;
  return OkStatus();
}

void RecordChildren::Forward(size_t number) {
  Child& child = children_[number];
  char buffer[4096];
  const ssize_t got = ::read(child.stderr_file, buffer, sizeof buffer);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    events_->Forget(child.stderr_file);
    ::close(std::exchange(child.stderr_file, -1));
    if (!child.line.empty()) Say(fmt::format("[{}] {}\n", number, std::exchange(child.line, {})));
    return;
  }
  const std::string_view text(buffer, static_cast<size_t>(got));
  child.tail.append(text);
  if (child.tail.size() > kTailBytes) child.tail.erase(0, child.tail.size() - kTailBytes);
  child.line.append(text);
  size_t end = 0;
  while ((end = child.line.find('\n')) != std::string::npos) {
    Say(fmt::format("[{}] {}\n", number, child.line.substr(0, end)));
    child.line.erase(0, end + 1);
  }
}

// Forwards what an ended process left in its pipe. Other processes may still hold the other end.
void RecordChildren::Drain(size_t number) {
  for (size_t before = SIZE_MAX; children_[number].stderr_file >= 0;) {
    Forward(number);
    const size_t now = children_[number].tail.size();
    if (now == before) break;
    before = now;
  }
}

std::string RecordChildren::Describe(size_t number, int status) const {
  std::string text =
      WIFSIGNALED(status)
          ? fmt::format("process {} was killed by signal {} ({})", number, WTERMSIG(status),
                        ::strsignal(WTERMSIG(status)))
          : fmt::format("process {} ended with status {}", number, WEXITSTATUS(status));
  const std::string& tail = children_[number].tail;
  if (!tail.empty()) text += "; the end of its stderr:\n" + tail;
  if (text.back() == '\n') text.pop_back();
  return text;
}

std::optional<std::string> RecordChildren::Reap() {
  std::optional<std::string> failure;
  for (size_t number = 0; number < children_.size(); ++number) {
    Child& child = children_[number];
    int status = 0;
    if (child.pid <= 0 || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.pid = 0;
    running_ -= 1;
    Drain(number);
    if (status != 0 && !failure.has_value()) failure = Describe(number, status);
  }
  return failure;
}

}  // namespace drydock
