#include "capture/hackcuda/device/host_reads.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capture/hackcuda/device/log.h"

namespace drydock::hackcuda {
namespace {

struct Answer {
  int64_t value = 0;
  Values values;
};
thread_local std::optional<Answer> answer;
thread_local bool ignores_reads = false;
thread_local std::string line;

std::atomic<void (*)()> line_finder{nullptr};

// Never destroyed.
class KeptReads {
 public:
  static KeptReads& Get() {
    static KeptReads& reads = *new KeptReads;
    return reads;
  }

  void Pass(void* to, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_ == nullptr) return;
    const bool is_whole = replays_ ? Replay(to, bytes) : Keep(to, bytes);
    if (is_whole) return;
    fclose(file_);
    file_ = nullptr;
  }

 private:
  KeptReads() {
    const char* const folder = getenv(capture::kValuesVariable);
    if (folder == nullptr || folder[0] == '\0') return;
    replays_ = getenv(capture::kObserverVariable)[0] == '\0';
    const std::string path = std::string(folder) + "/reads-" + std::to_string(Process().rank);
    file_ = fopen(path.c_str(), replays_ ? "rb" : "wb");
  }

  // The program may end at any time.
  bool Keep(const void* values, size_t bytes) {
    return fwrite(&bytes, sizeof bytes, 1, file_) == 1 &&
           fwrite(values, 1, bytes, file_) == bytes && fflush(file_) == 0;
  }

  bool Replay(void* to, size_t bytes) {
    size_t kept = 0;
    if (fread(&kept, sizeof kept, 1, file_) != 1 || kept != bytes) return false;
    std::vector<char> values(bytes);
    if (fread(values.data(), 1, bytes, file_) != bytes) return false;
    memcpy(to, values.data(), bytes);
    return true;
  }

  std::mutex mutex_;
  FILE* file_ = nullptr;
  bool replays_ = false;
};

}  // namespace

void KeepOrReplayRead(void* to, size_t bytes) {
  if (getenv(capture::kObserverVariable) == nullptr) return;
  PauseClock(Work::kLong);
  KeptReads::Get().Pass(to, bytes);
  ResumeClock();
}

void SetAnswer(int64_t value, Values values) { answer = Answer{value, values}; }
void ForgetAnswer() { answer.reset(); }
void IgnoreReads(bool ignores) { ignores_reads = ignores; }
void SetLineFinder(void (*finder)()) { line_finder = finder; }
void SetLine(std::string_view text) { line = text; }

void TakeRead(void* to, size_t bytes, Values values) {
  if (answer.has_value() && bytes <= sizeof answer->value) {
    memcpy(to, &answer->value, bytes);
    values = answer->values;
  } else if (ignores_reads) {
    return;
  }
  if (values.knowledge == Knowledge::kComputed) return;
  int64_t value = 0;
  if (bytes <= sizeof value) memcpy(&value, to, bytes);
  PauseClock(Work::kLong);
  line.clear();
  if (void (*const finder)() = line_finder) finder();
  Log(EntryKind::kRead, {NameNumber(line), values.origin >= 0 ? values.origin : NameNumber(""),
                         static_cast<int64_t>(bytes), value});
  ResumeClock();
}

}  // namespace drydock::hackcuda
