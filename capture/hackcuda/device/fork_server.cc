#include "capture/hackcuda/device/fork_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/log.h"
#include "capture/keeper/kept_process.h"

namespace drydock::hackcuda {
namespace {

using capture::ForkRequest;
using capture::KeptFacts;

// Texts that each end with a zero.
std::vector<std::string_view> Split(std::string_view texts) {
  std::vector<std::string_view> all;
  while (!texts.empty()) {
    const std::string_view text = texts.substr(0, texts.find('\0'));
    all.push_back(text);
    texts.remove_prefix(std::min(texts.size(), text.size() + 1));
  }
  return all;
}

bool IsOneThread() {
  struct stat facts = {};
  return ::stat("/proc/self/task", &facts) == 0 && facts.st_nlink == 3;  // ".", "..", the thread
}

bool HasChildren() {
  siginfo_t child = {};
  return ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
}

std::vector<int> OpenFiles() {
  std::vector<int> files;
  DIR* all = ::opendir("/proc/self/fd");
  if (all == nullptr) return files;
  while (const dirent* entry = ::readdir(all)) {
    const int file = std::atoi(entry->d_name);
    if (file > STDERR_FILENO && file != ::dirfd(all)) files.push_back(file);
  }
  ::closedir(all);
  return files;
}

bool IsFile(int file) {
  struct stat facts = {};
  return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
}

// Pipes and sockets have another end, which knows of one process. Each rank would have had the
// files that were `inherited`.
bool HasConnections(const std::vector<int>& inherited) {
  const std::vector<int> files = OpenFiles();
  return std::any_of(files.begin(), files.end(), [&](int file) {
    struct stat facts = {};
    if (std::find(inherited.begin(), inherited.end(), file) != inherited.end()) return false;
    if (::fstat(file, &facts) != 0) return false;
    return !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode) && !S_ISCHR(facts.st_mode);
  });
}

// Memory that forks would share, such as a lock of Python's multiprocessing. Each has a log of its
// own.
bool SharesMemory() {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return true;
  char line[4096 + 256];
  bool shares = false;
  const std::string log = LogPath();
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    char rights[8] = {};
    if (std::sscanf(line, "%*s %7s", rights) != 1 || rights[1] != 'w' || rights[3] != 's') continue;
    shares |= log.empty() || std::strstr(line, log.c_str()) == nullptr;
  }
  std::fclose(maps);
  return shares;
}

// Opens files anew: forks would move each other's place in them.
void OpenFilesAnew() {
  for (const int file : OpenFiles()) {
    if (!IsFile(file)) continue;
    const int flags = ::fcntl(file, F_GETFL), on_exec = ::fcntl(file, F_GETFD);
    const off_t place = ::lseek(file, 0, SEEK_CUR);
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    const int anew = ::open(path.c_str(), (flags & (O_ACCMODE | O_APPEND)) | O_CLOEXEC);
    if (anew < 0) continue;  // its rights have changed since
    ::lseek(anew, place, SEEK_SET);
    ::dup3(anew, file, (on_exec & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
    ::close(anew);
  }
}

class ForkServer {
 public:
  // Never destroyed.
  static ForkServer& Get() {
    static ForkServer& server = *new ForkServer;
    return server;
  }

  bool waits() const { return waits_; }
  bool tells(const char* name) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](const std::string& own) { return own == name; });
  }

  const char* Serve() {
    // "FILE NAME NAME ..."
    const char* given = ::secure_getenv(capture::kForkServerVariable);
    if (given == nullptr || given[0] == '\0') return nullptr;
    std::string_view words = given;
    socket_ = std::atoi(given);
    for (size_t space = words.find(' '); space != std::string_view::npos;) {
      words.remove_prefix(space + 1);
      space = words.find(' ');
      names_.emplace_back(words.substr(0, space));
      texts_ += names_.back() + '\0';
    }
    ::unsetenv(capture::kForkServerVariable);
    ::fcntl(socket_, F_SETFD, FD_CLOEXEC);
    inherited_ = OpenFiles();
    waits_ = true;
    return texts_.c_str();
  }

  const char* variables() const { return variables_.empty() ? nullptr : variables_.data(); }

  // Returns in a rank.
  void Wait() {
    waits_ = false;
    if (!IsOneThread() || HasChildren() || HasConnections(inherited_) || SharesMemory()) ::_exit(0);
    const char ready = 1;
    if (::send(socket_, &ready, sizeof ready, MSG_NOSIGNAL) != sizeof ready) ::_exit(0);
    while (true) {
      pollfd next = {socket_, POLLIN, 0};
      ::poll(&next, 1, -1);
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      int files[ForkRequest::kFiles] = {};
      const std::string request = Receive(files);
      if (request.empty()) ::_exit(0);  // the launcher wants no more
      if (Fork(request, files)) return;
      for (const int file : files) ::close(file);
    }
  }

 private:
  // Returns the text of a request and its files; "" at the end.
  std::string Receive(int* files) const {
    std::string text(ForkRequest::kMostBytes, '\0');
    alignas(cmsghdr) char control[CMSG_SPACE(ForkRequest::kFiles * sizeof(int))] = {};
    iovec data = {text.data(), text.size()};
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = 0;
    while ((got = ::recvmsg(socket_, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    const cmsghdr* passed = CMSG_FIRSTHDR(&message);
    if (got <= 0 || passed == nullptr || passed->cmsg_type != SCM_RIGHTS) return "";
    memcpy(files, CMSG_DATA(passed), ForkRequest::kFiles * sizeof(int));
    text.resize(static_cast<size_t>(got));
    return text;
  }

  // Returns true in the rank. Its keeper is a fork, too, and goes on here until the rank ends.
  bool Fork(const std::string& request, const int* files) {
    const std::vector<std::string_view> texts = Split(request);
    sigset_t mask;
    const sigset_t signals = capture::SignalsOfKeeper();
    ::sigprocmask(SIG_BLOCK, &signals, &mask);
    const pid_t parent = ::getpid();
    // _Fork runs no handlers: those of libraries make a child forget what it is.
    const pid_t keeper = ::_Fork();
    if (keeper != 0) {
      ::sigprocmask(SIG_SETMASK, &mask, nullptr);
      return false;
    }
    ::close(socket_);
    const int32_t own = ::getpid();
    if (::write(files[ForkRequest::kEnd], &own, sizeof own) != sizeof own) ::_exit(1);
    KeptFacts facts;
    facts.end = files[ForkRequest::kEnd];
    facts.time_limit_s = std::atoi(texts.front().data());
    facts.mask = mask;
    const int64_t cpu_ns = CpuTimeOfThread();
    capture::KeepChild(facts, parent, ::_Fork);
    OpenFilesAnew();
    ::dup2(files[ForkRequest::kOutput], STDOUT_FILENO);
    ::dup2(files[ForkRequest::kErrors], STDERR_FILENO);
    for (int i = 0; i < ForkRequest::kFiles; ++i) ::close(files[i]);
    for (size_t i = 1; i < texts.size(); ++i) {
      const std::string text(texts[i]);
      const size_t equals = text.find('=');
      ::setenv(text.substr(0, equals).c_str(), text.c_str() + equals + 1, 1);
      variables_ += text + '\0';
    }
    variables_ += '\0';
    ContinueLog(cpu_ns);
    return true;
  }

  int socket_ = -1;
  bool waits_ = false;
  std::vector<int> inherited_;  // files that were open from the start, and the socket
  std::vector<std::string> names_;
  std::string texts_;      // the names
  std::string variables_;  // of the rank
};

}  // namespace

void BecomeRank() {
  if (ForkServer::Get().waits()) ForkServer::Get().Wait();
}

}  // namespace drydock::hackcuda

const char* hackcuda_serve_forks() { return drydock::hackcuda::ForkServer::Get().Serve(); }

const char* hackcuda_become_rank() {
  drydock::hackcuda::BecomeRank();
  return drydock::hackcuda::ForkServer::Get().variables();
}

// The C library's, for all libraries of the program: one may ask for its rank.
namespace {

char* FindVariable(const char* name) {
  const size_t length = strlen(name);
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    if (strncmp(*at, name, length) == 0 && (*at)[length] == '=') return *at + length + 1;
  }
  return nullptr;
}

}  // namespace

HACKCUDA_EXPORT char* getenv(const char* name) noexcept {
  using drydock::hackcuda::ForkServer;
  if (ForkServer::Get().waits() && ForkServer::Get().tells(name)) drydock::hackcuda::BecomeRank();
  return FindVariable(name);
}
