#include "capture/hackcuda/device/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace drydock::hackcuda {
namespace {

using capture::EntryHeader;
using capture::LogHeader;

// The log is mapped whole; its file grows in steps. Pages that nobody wrote take no room.
constexpr size_t kMaxBytes = size_t{1} << 40;
constexpr size_t kStep = size_t{64} << 20;

int64_t Now(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * int64_t{1000000000} + t.tv_nsec;
}

// CPU time of this thread that is the capture's own. Reading CPU time takes the system longer than
// most of what is measured, so short work is measured by the wall clock.
struct OwnClock {
  int64_t own_ns = 0;
  int64_t last_ns = 0;  // the last time that an entry got
  int pauses = 0;
  int64_t paused_wall = 0;  // when the thread began to work for the capture
  int64_t paused_cpu = -1;  // the same, of work that may take long; -1: not read
};
thread_local OwnClock own_clock;

// Another process may interrupt what is short.
constexpr int64_t kLongestShortWork = 20'000;

// Ranges only surround what takes time: they have the time of the entry before them.
bool IsRange(EntryKind kind) { return kind == EntryKind::kBeginOp || kind == EntryKind::kEndOp; }

thread_local int64_t works = 0;

bool IsWork(EntryKind kind) { return kind >= EntryKind::kLaunch && kind <= EntryKind::kTraffic; }

int64_t CpuTimeOf(EntryKind kind) {
  if (own_clock.pauses == 0 && !IsRange(kind)) {
    own_clock.last_ns = Now(CLOCK_THREAD_CPUTIME_ID) - own_clock.own_ns;
  }
  return own_clock.last_ns;
}

class Writer {
 public:
  // Never destroyed.
  static Writer& Get() {
    static Writer& writer = *new Writer;
    return writer;
  }

  const capture::CapturedProcess& process() const { return process_; }

  void Append(EntryKind kind, const int64_t* words, size_t count) {
    const int64_t wall = Now(CLOCK_MONOTONIC), cpu = CpuTimeOf(kind);
    const std::lock_guard<std::mutex> lock(mutex_);
    AppendLocked(kind, wall, cpu, words, count);
  }

  int64_t Number(std::string_view text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto known = names_.find(text); known != names_.end()) return known->second;
    const auto it = names_.emplace(text, static_cast<int64_t>(names_.size())).first;
    const size_t length = std::min<size_t>(text.size(), capture::kMaxText);
    std::vector<int64_t> words(2 + (length + 7) / 8);
    words[0] = it->second;
    words[1] = static_cast<int64_t>(length);
    memcpy(&words[2], text.data(), length);
    AppendLocked(EntryKind::kName, 0, 0, words.data(), words.size());
    return it->second;
  }

 private:
  Writer() {
    const char* folder = getenv(capture::kCaptureVariable);
    if (folder == nullptr || folder[0] == '\0') return;
    folder_ = folder;
    const std::string path = folder_ + "/process";
    FILE* file = fopen(path.c_str(), "rb");
    if (file == nullptr || fread(&process_, sizeof process_, 1, file) != 1) {
      fprintf(stderr, "libhackcuda: cannot read %s: %s\n", path.c_str(), strerror(errno));
      process_ = {};
      folder_.clear();
    }
    if (file != nullptr) fclose(file);
    // A child that goes on without exec, such as a worker of a data loader, is no rank.
    pthread_atfork(nullptr, nullptr, [] { Get().Close(); });
  }

  void Close() {
    new (&mutex_) std::mutex;  // another thread of the parent may have held it
    folder_.clear();
    header_ = nullptr;
  }

  bool Open() {
    if (header_ != nullptr) return true;
    if (folder_.empty()) return false;
    const std::string path = folder_ + "/" + std::to_string(getpid()) + ".log";
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void* at = file_ < 0 || posix_fallocate(file_, 0, kStep) != 0
                   ? MAP_FAILED
                   : mmap(nullptr, kMaxBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                          file_, 0);
    if (at == MAP_FAILED) {
      fprintf(stderr, "libhackcuda: cannot write %s: %s\n", path.c_str(), strerror(errno));
      folder_.clear();
      return false;
    }
    size_ = kStep;
    header_ = static_cast<LogHeader*>(at);
    memcpy(header_->magic, capture::kLogMagic, sizeof header_->magic);
    header_->process = getpid();
    header_->rank = process_.rank;
    return true;
  }

  void AppendLocked(EntryKind kind, int64_t wall, int64_t cpu, const int64_t* words, size_t count) {
    if (!Open()) return;
    const size_t bytes = sizeof(EntryHeader) + count * sizeof *words;
    const size_t end = sizeof(LogHeader) + header_->bytes + bytes;
    if (end > size_) {
      // A full disk would kill the process at the next write to the mapping.
      if (posix_fallocate(file_, static_cast<off_t>(size_), kStep) != 0) {
        fprintf(stderr, "libhackcuda: no space left for the log in %s\n", folder_.c_str());
        _exit(capture::kNoSpace);
      }
      size_ += kStep;
    }
    static thread_local const auto thread = static_cast<uint32_t>(syscall(SYS_gettid));
    char* at = reinterpret_cast<char*>(header_ + 1) + header_->bytes;
    const EntryHeader entry = {kind, static_cast<uint16_t>(count), thread, wall, cpu};
    memcpy(at, &entry, sizeof entry);
    if (count > 0) memcpy(at + sizeof entry, words, count * sizeof *words);
    header_->bytes += bytes;
  }

  capture::CapturedProcess process_;
  std::string folder_;  // empty: nothing is written
  std::mutex mutex_;
  int file_ = -1;
  LogHeader* header_ = nullptr;
  size_t size_ = 0;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> names_;
};

}  // namespace

void Log(EntryKind kind, std::initializer_list<int64_t> words) {
  if (IsWork(kind)) ++works;
  Writer::Get().Append(kind, words.begin(), words.size());
}

int64_t WorksOfThread() { return works; }

int64_t NameNumber(std::string_view text) { return Writer::Get().Number(text); }

void PauseClock(Work work) {
  if (own_clock.pauses++ == 0) {
    own_clock.paused_wall = Now(CLOCK_MONOTONIC);
    own_clock.paused_cpu = -1;
  }
  if (work == Work::kLong && own_clock.paused_cpu < 0) {
    const int64_t since = Now(CLOCK_MONOTONIC) - own_clock.paused_wall;
    own_clock.paused_cpu = Now(CLOCK_THREAD_CPUTIME_ID) - std::min(since, kLongestShortWork);
  }
}

void ResumeClock() {
  if (--own_clock.pauses > 0) return;
  own_clock.own_ns +=
      own_clock.paused_cpu >= 0
          ? Now(CLOCK_THREAD_CPUTIME_ID) - own_clock.paused_cpu
          : std::min(Now(CLOCK_MONOTONIC) - own_clock.paused_wall, kLongestShortWork);
}

void Refuse(const char* library, const char* function) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& said = *new std::set<std::string>;
  Log(EntryKind::kRefuse, {NameNumber(library), NameNumber(function)});
  const std::lock_guard<std::mutex> lock(mutex);
  if (said.insert(function).second) {
    fprintf(stderr, "libhackcuda: %s: %s is not available in a capture\n", library, function);
  }
}

const capture::CapturedProcess& Process() { return Writer::Get().process(); }

}  // namespace drydock::hackcuda

// Functions that a stand-in does not know (capture/standins) end here.
extern "C" __attribute__((visibility("default"))) long hackcuda_refuse(const char* library,
                                                                       const char* function,
                                                                       long status) {
  drydock::hackcuda::Refuse(library, function);
  return status;
}
