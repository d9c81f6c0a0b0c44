#include "capture/run/fork_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "capture/log/entry.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

constexpr int kPoll_ms = 200;
constexpr int kFileMode = 0644;

// A file that is closed with this object.
class File {
 public:
  explicit File(int number) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

Error CannotStart() { return Error(fmt::format("cannot start a process: {}", strerror(errno))); }

// A new file with the content of another one, which is written on.
Result<File> ContinueFile(const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const std::string before, ReadFile(from));
  File file(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode));
  std::string_view left = before;
  while (file.number() >= 0 && !left.empty()) {
    const ssize_t wrote = ::write(file.number(), left.data(), left.size());
    if (wrote < 0) break;
    left.remove_prefix(static_cast<size_t>(wrote));
  }
  if (file.number() < 0 || !left.empty()) {
    return Error(fmt::format("cannot be written: {}", strerror(errno)), {to, 0, 0});
  }
  return file;
}

bool Send(int socket, std::string text, const std::array<int, ForkRequest::kFiles>& files) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof files)] = {};
  iovec data = {text.data(), text.size()};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* passed = CMSG_FIRSTHDR(&message);
  passed->cmsg_level = SOL_SOCKET;
  passed->cmsg_type = SCM_RIGHTS;
  passed->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(passed), files.data(), sizeof files);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

}  // namespace

Result<std::unique_ptr<ForkServer>> ForkServer::Start(KeptProgram program,
                                                      const std::vector<std::string>& names,
                                                      const std::function<bool()>& may_wait) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return CannotStart();
  File own(ends[0]), other(ends[1]);
  program.passed_file = other.number();
  program.environment.push_back(
      fmt::format("{}={} {}", kForkServerVariable, other.number(), fmt::join(names, " ")));
  ASSIGN_OR_RETURN(Keeper keeper, Keeper::Start(program));
  std::unique_ptr<ForkServer> server(
      new ForkServer(std::move(program), std::move(keeper), own.Release()));
  ::close(other.Release());
  if (!server->WaitUntilReady(may_wait)) server.reset();
  return server;
}

ForkServer::~ForkServer() { ::close(socket_); }

bool ForkServer::WaitUntilReady(const std::function<bool()>& may_wait) {
  while (may_wait()) {
    std::array<pollfd, 2> files = {{{socket_, POLLIN, 0}, {keeper_.file(), POLLIN, 0}}};
    if (::poll(files.data(), files.size(), kPoll_ms) <= 0) continue;
    char ready = 0;
    if (files[0].revents != 0) return ::recv(socket_, &ready, 1, MSG_DONTWAIT) == 1;
    if (files[1].revents != 0) return false;
  }
  return false;
}

Result<Keeper> ForkServer::StartRank(const Variables& variables, const std::string& output,
                                     const std::string& errors, int time_limit_s) {
  std::string text = std::to_string(time_limit_s) + '\0';
  for (const auto& [name, value] : variables) text += name + "=" + value + '\0';
  if (text.size() > ForkRequest::kMostBytes) return Error("the variables of a rank are too long");
  ASSIGN_OR_RETURN(const File output_file, ContinueFile(program_.output, output));
  ASSIGN_OR_RETURN(const File errors_file, ContinueFile(program_.errors, errors));
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return CannotStart();
  File own(ends[0]);
  {
    const File other(ends[1]);
    if (!Send(socket_, std::move(text),
              {other.number(), output_file.number(), errors_file.number()})) {
      return CannotStart();
    }
  }
  int32_t keeper = 0;
  if (::recv(own.number(), &keeper, sizeof keeper, MSG_WAITALL) != sizeof keeper) {
    return Error("the process that ranks are forks of has died");
  }
  return Keeper::OfOther(keeper, own.Release());
}

}  // namespace drydock::capture
