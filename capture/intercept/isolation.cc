#include "capture/intercept/isolation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/base/process.h"

namespace drydock::capture {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPoll = std::chrono::milliseconds(10);
// For processes that the command leaves behind, once a launch has been seen: since the last one of
// them has ended, and in all.
constexpr auto kGrace = std::chrono::seconds(2), kMostGrace = std::chrono::seconds(20);
constexpr int kCannotStart = 127;

bool WriteText(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return written;
}

// A network without interfaces but the loopback, which programs expect to work.
void RaiseLoopback() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  ifreq request = {};
  strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  if (::ioctl(socket, SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags |= IFF_UP;
    ::ioctl(socket, SIOCSIFFLAGS, &request);
  }
  ::close(socket);
}

// Leaves the network and, for children, the numbers of processes. Returns 0 or the error's number.
// A superuser needs no namespace of users, in which it could not read others' files.
int LeaveNamespaces() {
  constexpr int kApart = CLONE_NEWNET | CLONE_NEWPID;
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (user != 0 || ::unshare(kApart) != 0) {
    if (::unshare(CLONE_NEWUSER | kApart) != 0) return errno;
    WriteText("/proc/self/setgroups", "deny");
    if (!WriteText("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) ||
        !WriteText("/proc/self/gid_map", fmt::format("{0} {0} 1", group))) {
      return EPERM;
    }
  }
  RaiseLoopback();
  return 0;
}

// Whether LeaveNamespaces works here, tried in a process of its own: some systems allow only its
// first half, after which a process is nobody.
int TryToLeaveNamespaces() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(LeaveNamespaces());
  return child > 0 ? WaitForEnd(child) : EAGAIN;
}

[[noreturn]] void StartCommand(const IsolatedCommand& command) {
  std::vector<char*> argv, environment;
  for (const std::string& word : command.words) argv.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& variable : command.environment) {
    environment.push_back(const_cast<char*>(variable.c_str()));
  }
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(command.quiet ? null : STDERR_FILENO, STDOUT_FILENO);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) {
    fprintf(stderr, "%s: %s\n", command.folder.c_str(), strerror(errno));
    ::_exit(kCannotStart);
  }
  environ = environment.data();  // PATH of the command
  ::execvp(argv[0], argv.data());
  fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
  ::_exit(kCannotStart);
}

// The processes below `top`, which is the first.
std::vector<pid_t> ProcessesBelow(pid_t top) {
  std::vector<pid_t> found = {top};
  for (size_t i = 0; i < found.size(); ++i) {
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", found[i]));
    for (pid_t child = 0; children >> child;) found.push_back(child);
  }
  return found;
}

// Ends what a command has left behind, where no namespace ends with this process. Again and again,
// since a process may start others before its end. A process of another user cannot be ended.
void EndProcessesBelow() {
  const Clock::time_point limit = Clock::now() + kGrace;
  const pid_t own = ::getpid();
  while (Clock::now() < limit) {
    for (const pid_t process : ProcessesBelow(own)) {
      if (process != own) ::kill(process, SIGKILL);
    }
    int status = 0;
    const pid_t found = ::waitpid(-1, &status, WNOHANG);
    if (found < 0 && errno == ECHILD) return;
    if (found == 0) std::this_thread::sleep_for(kPoll);
  }
}

// What the supervisor tells drydock-capture.
struct Told {
  int failed = 0;  // of LeaveNamespaces
  int status = 0;
  bool ended = false, left_running = false;
};

// Waits for the command, then for the processes that it leaves behind, as long as that makes sense
// and the process around it lives.
void Attend(const IsolatedCommand& command, pid_t child, const std::function<bool()>& orphaned,
            Told* told) {
  bool ended = false;
  Clock::time_point end, last;
  for (;;) {
    int status = 0;
    const pid_t found = ::waitpid(-1, &status, WNOHANG);
    if (found < 0 && errno == ECHILD) return;
    if (found > 0) last = Clock::now();
    if (found == child) {
      told->status = ExitStatusOf(status);
      ended = true;
      end = last;
    }
    const Clock::time_point now = Clock::now();
    if (ended && (now - last > kGrace || now - end > kMostGrace) && command.done()) {
      told->left_running = true;
      return;
    }
    if (orphaned()) return;
    if (found == 0) std::this_thread::sleep_for(kPoll);
  }
}

// The process around the command. Where it has namespaces of its own, its child is the first
// process of them, with whose end all others end. Elsewhere its child ends them.
[[noreturn]] void Supervise(const IsolatedCommand& command, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Told told;
  told.failed = TryToLeaveNamespaces();
  if (told.failed == 0) told.failed = LeaveNamespaces();
  if (::write(out, &told, sizeof told) < 0) ::_exit(1);
  const bool apart = told.failed == 0;
  const pid_t supervisor = ::getpid();
  const pid_t first = ::fork();
  if (first == 0) {
    if (apart) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // where it is not the first process anyway
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
    const pid_t child = ::fork();
    if (child == 0) StartCommand(command);
    const auto orphaned = [&] { return !apart && ::getppid() != supervisor; };
    Attend(command, child, orphaned, &told);
    told.ended = !orphaned();
    if (!apart) EndProcessesBelow();
    if (told.ended && ::write(out, &told, sizeof told) < 0) ::_exit(1);
    ::_exit(0);
  }
  WaitForEnd(first);
  ::_exit(0);
}

// Ends the supervisor, and with it all others. `told`: the pipe that they hold open.
void EndAll(pid_t supervisor, int told) {
  ::kill(supervisor, SIGKILL);
  WaitForEnd(supervisor);
  const Clock::time_point limit = Clock::now() + 2 * kGrace;
  for (pollfd end = {told, 0, 0}; (end.revents & POLLHUP) == 0 && Clock::now() < limit;) {
    ::poll(&end, 1, static_cast<int>(kPoll.count()));
  }
}

}  // namespace

Result<IsolatedEnd> RunIsolated(const IsolatedCommand& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error(fmt::format("pipe: {}", strerror(errno)));
  const pid_t supervisor = ::fork();
  if (supervisor < 0) return Error(fmt::format("cannot start a process: {}", strerror(errno)));
  if (supervisor == 0) {
    ::close(ends[0]);
    Supervise(command, ends[1]);
  }
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const Clock::time_point limit = Clock::now() + std::chrono::seconds(command.time_limit_s);
  Told told;
  IsolatedEnd end;
  for (;;) {
    int status = 0;
    const pid_t found = ::waitpid(supervisor, &status, WNOHANG);
    if (found == supervisor) break;
    if (Clock::now() >= limit) {
      EndAll(supervisor, ends[0]);
      end.timed_out = true;
      break;
    }
    std::this_thread::sleep_for(kPoll);
  }
  Told next;
  while (::read(ends[0], &next, sizeof next) == static_cast<ssize_t>(sizeof next)) {
    const int failed = told.failed;
    told = next;
    if (failed != 0) told.failed = failed;
  }
  ::close(ends[0]);
  if (told.ended) end.timed_out = false;
  end.status = told.status;
  end.left_running = told.left_running;
  if (told.failed != 0) end.not_isolated = strerror(told.failed);
  return end;
}

}  // namespace drydock::capture
