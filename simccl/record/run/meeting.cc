#include "simccl/record/run/meeting.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace drydock {
namespace {

constexpr int kBacklog = 4096;
// Far above any exchange of NCCL: a split of a communicator gathers 8 bytes per rank.
constexpr uint32_t kMaxBytes = 1u << 20;
constexpr int32_t kMaxMembers = 1 << 20;
constexpr size_t kShown = 8;

bool WriteAll(int file, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::send(file, at, bytes, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<RecordMeeting>> RecordMeeting::Open(const std::string& path,
                                                           std::vector<RecordHost> hosts,
                                                           RecordEvents* events) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error("the name is too long for a socket; set TMPDIR to a shorter one", {path, 0, 0});
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0 ||
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket, kBacklog) != 0) {
    const std::string reason = std::strerror(errno);
    if (socket >= 0) ::close(socket);
    return Error("cannot listen: " + reason, {path, 0, 0});
  }
  return std::unique_ptr<RecordMeeting>(new RecordMeeting(socket, std::move(hosts), events));
}

RecordMeeting::RecordMeeting(int socket, std::vector<RecordHost> hosts, RecordEvents* events)
    : socket_(socket), hosts_(std::move(hosts)), events_(events), waiting_(hosts_.size()) {
  events_->Watch(socket_, [this] { Accept(); });
}

RecordMeeting::~RecordMeeting() {
  for (const auto& [file, connection] : connections_) {
    events_->Forget(file);
    ::close(file);
  }
  for (const auto& [name, exchange] : pending_) {
    for (const int file : exchange.files) {
      if (file >= 0) ::close(file);
    }
  }
  events_->Forget(socket_);
  ::close(socket_);
}

void RecordMeeting::Accept() {
  const int file = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (file < 0) return;
  connections_[file];
  events_->Watch(file, [this, file] { Receive(file); });
}

void RecordMeeting::Receive(int file) {
  std::vector<char>& received = connections_[file].received;
  char buffer[16384];
  const ssize_t got = ::recv(file, buffer, sizeof buffer, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  RecordRequest request;
  if (got > 0) {
    received.insert(received.end(), buffer, buffer + got);
    if (received.size() < sizeof request) return;
    std::memcpy(&request, received.data(), sizeof request);
    if (request.bytes <= kMaxBytes && received.size() < sizeof request + request.bytes) return;
  }
  events_->Forget(file);
  const std::vector<char> whole = std::move(received);
  connections_.erase(file);
  if (got <= 0) {
    ::close(file);  // the process ended while it asked
  } else {
    Serve(file, request, whole.data() + sizeof request);
  }
}

void RecordMeeting::Serve(int file, const RecordRequest& request, const char* payload) {
  if (request.process >= hosts_.size() || request.bytes > kMaxBytes) {
    Refuse(file, "this is not a request of this build's libnccl.so.2");
  } else if (request.ask == RecordAsk::kExchange) {
    Join(file, request, payload);
  } else {
    Answer(file, {0, sizeof(RecordHost), 0}, &hosts_[request.process]);
  }
}

void RecordMeeting::Join(int file, const RecordRequest& request, const char* payload) {
  if (request.members < 1 || request.members > kMaxMembers || request.member < 0 ||
      request.member >= request.members) {
    return Refuse(file, "there is no such rank");
  }
  const Name name = {request.key, request.round};
  Exchange& exchange = pending_[name];
  const auto members = static_cast<size_t>(request.members);
  const auto member = static_cast<size_t>(request.member);
  if (exchange.files.empty()) {
    exchange.purpose =
        std::string(request.purpose, strnlen(request.purpose, sizeof request.purpose));
    exchange.bytes = request.bytes;
    exchange.files.assign(members, -1);
    exchange.processes.assign(members, 0);
    exchange.payloads.resize(members * request.bytes);
  }
  if (exchange.files.size() != members || exchange.bytes != request.bytes) {
    return Refuse(file, fmt::format("this rank expects {} ranks, another rank expects {}", members,
                                    exchange.files.size()));
  }
  if (exchange.files[member] >= 0) {
    return Refuse(file, fmt::format("rank {} has joined already", member));
  }
  exchange.files[member] = file;
  exchange.processes[member] = request.process;
  std::copy_n(payload, request.bytes,
              exchange.payloads.begin() + static_cast<ptrdiff_t>(member * request.bytes));
  waiting_[request.process] += 1;
  if (++exchange.present == members) Finish(name);
}

void RecordMeeting::Finish(const Name& name) {
  const Exchange exchange = std::move(pending_[name]);
  pending_.erase(name);
  exchanges_ += 1;
  const RecordReply reply = {0, static_cast<uint32_t>(exchange.payloads.size()), exchanges_};
  for (size_t member = 0; member < exchange.files.size(); ++member) {
    waiting_[exchange.processes[member]] -= 1;
    Answer(exchange.files[member], reply, exchange.payloads.data());
  }
}

void RecordMeeting::Refuse(int file, const std::string& reason) {
  Answer(file, {1, static_cast<uint32_t>(reason.size()), 0}, reason.data());
}

// Ignores write errors: the launcher notices when a process ends.
void RecordMeeting::Answer(int file, const RecordReply& reply, const void* payload) {
  if (WriteAll(file, &reply, sizeof reply)) (void)WriteAll(file, payload, reply.bytes);
  ::close(file);
}

std::vector<std::string> RecordMeeting::Missing() const {
  std::vector<std::string> lines;
  for (const auto& [name, exchange] : pending_) {
    std::string missing;
    size_t count = 0;
    for (size_t member = 0; member < exchange.files.size(); ++member) {
      if (exchange.files[member] >= 0) continue;
      if (count++ < kShown) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", member);
    }
    if (count > kShown) missing += ", ...";
    lines.push_back(fmt::format("{}: {} of {} ranks have arrived; {} {} not: {}", exchange.purpose,
                                exchange.present, exchange.files.size(), count,
                                count == 1 ? "has" : "have", missing));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace drydock
