#include "simccl/hacknccl/recorder/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "collectives.h"
#include "comm.h"
#include "info.h"
#include "simccl/hacknccl/cluster/layout.h"
#include "simccl/hacknccl/hooks.h"

extern char** environ;

namespace drydock {
namespace {

// Pending entries are written at this number, if not before.
constexpr size_t kMaxPending = 512;

// Reads the environment directly: sandbox.cc hides it from everything in this library.
std::string Variable(std::string_view name) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.size() > name.size() && text.substr(0, name.size()) == name &&
        text[name.size()] == '=') {
      return std::string(text.substr(name.size() + 1));
    }
  }
  return {};
}

bool WriteAll(int file, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(file, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

bool ReadAll(int file, void* data, size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::read(file, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

class OpenFile {
 public:
  explicit OpenFile(int file) : file_(file) {}
  ~OpenFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return file_; }

 private:
  int file_;
};

int ConnectTo(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path.data(), path.size());
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (file >= 0 && ::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    return file;
  }
  if (file >= 0) ::close(file);
  return -1;
}

// Never destroyed: see recorder.h.
std::atomic<Recorder*> the_recorder{nullptr};

// Lets NCCL find the recorder's session outside a communicator's, and finishes the log at exit.
struct Registration {
  Registration() {
    SetSessionOutside([] { return Recorder::Get().session(); });
  }
  ~Registration() {
    if (Recorder* recorder = the_recorder.load()) recorder->Finish();
  }
} registration;

}  // namespace

Recorder& Recorder::Get() {
  static Recorder& recorder = *new Recorder;
  the_recorder = &recorder;
  return recorder;
}

Recorder::Recorder() {
  FindCapture();
  if (capture_ == nullptr) {
    reason_ = Connect();
    if (connected()) reason_ = OpenLog();
  }
  if (!connected()) host_ = {};
  MakeSession();
}

void Recorder::FindCapture() {
  using Find = const CaptureApi* (*)();
  const auto find = reinterpret_cast<Find>(::dlsym(RTLD_DEFAULT, "hackcuda_get_capture"));
  if (find != nullptr) capture_ = find();
  if (capture_ == nullptr) return;
  host_ = *capture_->host();
  process_ = static_cast<uint32_t>(capture_->rank);
}

std::string Recorder::Connect() {
  const std::string place = Variable(kRecordVariable);
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos) {
    return "this libnccl.so.2 records what a program calls: start the program with nccl-record";
  }
  socket_ = place.substr(0, colon);
  process_ = static_cast<uint32_t>(strtoul(place.c_str() + colon + 1, nullptr, 10));
  RecordRequest request;
  request.process = process_;
  RecordReply reply;
  std::vector<char> answer;
  if (std::string error = Ask(request, nullptr, &reply, &answer); !error.empty()) return error;
  if (answer.size() != sizeof host_) return "nccl-record and libnccl.so.2 are of different builds";
  memcpy(&host_, answer.data(), sizeof host_);
  return {};
}

std::string Recorder::OpenLog() {
  const std::string name = socket_.substr(0, socket_.rfind('/')) + "/" + std::to_string(process_) +
                           "." + std::to_string(::getpid()) + ".log";
  log_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return log_ >= 0 ? std::string() : "cannot write " + name + ": " + strerror(errno);
}

// One place on one host answers everything that NCCL asks about "this machine".
void Recorder::MakeSession() {
  HostClass host;
  host.compute_capability = host_.compute_capability;
  host.sm_count = host_.sm_count;
  host.memory_bytes = host_.memory_bytes;
  for (int gpu = 0; gpu < host_.gpus; ++gpu) host.gpu_bus_ids.emplace_back(host_.bus_ids[gpu]);
  // Without a launcher NCCL fails at its start, but the layout needs a GPU.
  if (host_.gpus == 0) host.gpu_bus_ids.emplace_back("0000:00:00.0");
  classes_.push_back(std::move(host));
  layout_ = MakeLayout(classes_, {hacknccl_place{0, 0, 0}});
  session_.rank = {&classes_, &layout_, 0};
}

std::string Recorder::Ask(const RecordRequest& request, const void* payload, RecordReply* reply,
                          std::vector<char>* answer) const {
  const char* const ended = "nccl-record, which started this program, has ended";
  const OpenFile connection(ConnectTo(socket_));
  if (connection.get() < 0 || !WriteAll(connection.get(), &request, sizeof request) ||
      !WriteAll(connection.get(), payload, request.bytes) ||
      !ReadAll(connection.get(), reply, sizeof *reply)) {
    return ended;
  }
  answer->resize(reply->bytes);
  if (!ReadAll(connection.get(), answer->data(), answer->size())) return ended;
  return reply->failed != 0 ? std::string(answer->begin(), answer->end()) : std::string();
}

std::string Recorder::Exchange(const RecordRequest& request, const void* own,
                               std::vector<char>* all, uint64_t* serial) {
  if (capture_ != nullptr) {
    all->resize(static_cast<size_t>(request.members) * request.bytes);
    uint64_t given = 0;
    capture_->exchange(&request, own, all->data(), &given);
    if (serial != nullptr) *serial = given;
    return {};
  }
  RecordReply reply;
  if (std::string error = Ask(request, own, &reply, all); !error.empty()) return error;
  if (serial != nullptr) *serial = reply.serial;
  return {};
}

void Recorder::Log(const RecordEntry* entries, size_t count) {
  if (capture_ != nullptr) return capture_->log(entries, count);
  const std::lock_guard<std::mutex> lock(mutex_);
  DropEntriesOfParent();
  AppendCounts(&pending_);
  pending_.insert(pending_.end(), entries, entries + count);
  const bool orders = std::all_of(entries, entries + count, [](const RecordEntry& entry) {
    return entry.kind != RecordKind::kCall && entry.kind != RecordKind::kCommunicator;
  });
  if (!orders || pending_.size() >= kMaxPending) WritePending();
}

void Recorder::Move(const RecordEntry& call, const ncclInfo& info) const {
  if (capture_ == nullptr) return;
  capture_->move(&call, info.sendbuff, info.recvbuff,
                 static_cast<size_t>(ncclTypeSize(info.datatype)), info.comm->nRanks);
}

void Recorder::Finish() {
  const std::lock_guard<std::mutex> lock(mutex_);
  DropEntriesOfParent();
  AppendCounts(&pending_);
  WritePending();
}

void Recorder::WritePending() {
  Write(pending_.data(), pending_.size());
  pending_.clear();
}

// After a fork the parent writes the entries it has issued.
void Recorder::DropEntriesOfParent() {
  if (pending_of_ != ::getpid()) pending_.clear();
  pending_of_ = ::getpid();
}

void Recorder::Count(int device, RecordKind kind) {
  if (device < 0 || device >= RecordHost::kMaxGpus) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  (kind == RecordKind::kKernels ? kernels_ : copies_)[device] += 1;
}

void Recorder::AppendCounts(std::vector<RecordEntry>* entries) {
  const auto append = [entries](RecordKind kind, int device, uint64_t* count) {
    if (*count == 0) return;
    RecordEntry entry;
    entry.kind = kind;
    entry.device = static_cast<int16_t>(device);
    entry.count = std::exchange(*count, 0);
    entries->push_back(entry);
  };
  for (int device = 0; device < host_.gpus; ++device) {
    append(RecordKind::kKernels, device, &kernels_[device]);
    append(RecordKind::kCopies, device, &copies_[device]);
  }
}

// Writes to the file, not to a stream: a program that ends with _exit loses no call. It may lose
// entries that only order calls, if no call follows.
void Recorder::Write(const RecordEntry* entries, size_t count) {
  if (log_ < 0 || count == 0) return;
  if (WriteAll(log_, entries, count * sizeof *entries)) return;
  // An incomplete log would give a wrong answer. nccl-record reports that the process ended.
  const std::string text =
      std::string("libnccl.so.2: cannot write the recording: ") + strerror(errno) + "\n";
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(1);
}

bool Recording() { return !InSession() && Recorder::Get().connected(); }

}  // namespace drydock
