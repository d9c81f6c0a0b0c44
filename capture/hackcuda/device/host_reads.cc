#include "capture/hackcuda/device/host_reads.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <string>

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

}  // namespace

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
