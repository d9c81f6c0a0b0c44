#include "capture/keeper/kept_process.h"

#include <dirent.h>
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

namespace drydock::capture {
namespace {

// After the limit the program may say where it is: Python's fault handler answers SIGABRT.
constexpr int64_t kLastWords_ns = 2'000'000'000;

int64_t Now() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Returns the children of this process.
std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  DIR* all = ::opendir("/proc");
  while (const dirent* entry = all == nullptr ? nullptr : ::readdir(all)) {
    const int process = std::atoi(entry->d_name);
    if (process <= 0) continue;
    FILE* file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "r");
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
  explicit KeeperProcess(const KeptFacts& facts) : facts_(facts), signals_(SignalsOfKeeper()) {}

  // Returns in the kept process alone.
  void Run(pid_t parent, pid_t (*fork)()) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::setpgid(0, 0);  // an interrupt of the terminal is for the tool alone
    const bool orphan = ::getppid() != parent;
    begin_ = Now();
    child_ = orphan ? -1 : fork();
    if (child_ == 0) {
      ::sigprocmask(SIG_SETMASK, &facts_.mask, nullptr);
      return;
    }
    if (child_ > 0 && !WaitForEnd()) {
      EndAllChildren();
      if (!leaves_files_) RemoveScratch();
      ::_exit(1);
    }
    EndAllChildren();
    if (orphan) RemoveScratch();
    end_.wall_ns = Now() - begin_;
    if (::write(facts_.end, &end_, sizeof end_) < 0) RemoveScratch();  // the tool is gone
    ::_exit(0);
  }

 private:
  // Returns false if the tool wants it to end, or is dead.
  bool WaitForEnd() {
    const int64_t limit = int64_t{facts_.time_limit_s} * 1'000'000'000;
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
      leaves_files_ = signal == kEndAndLeaveFiles;
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
    for (const std::string& folder : facts_.scratch) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  }

  const KeptFacts& facts_;
  const sigset_t signals_;
  bool leaves_files_ = false;
  pid_t child_ = -1;
  int64_t begin_ = 0;
  KeptEnd end_;
};

}  // namespace

sigset_t SignalsOfKeeper() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, kEndAndLeaveFiles}) {
    ::sigaddset(&signals, signal);
  }
  return signals;
}

void KeepChild(const KeptFacts& facts, pid_t parent, pid_t (*fork)()) {
  KeeperProcess(facts).Run(parent, fork);
}

}  // namespace drydock::capture
