#include "capture/hackcuda/device/hooks.h"

#include <string>

#include "capture/hackcuda/device/absent_ranks.h"
#include "capture/hackcuda/device/host_reads.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"
#include "capture/hackcuda/device/unknown_values.h"

using drydock::hackcuda::EntryKind;
using drydock::hackcuda::Knowledge;
using drydock::hackcuda::Log;
using drydock::hackcuda::NameNumber;

extern "C" {

void hackcuda_begin_op(const char* text, size_t length) {
  Log(EntryKind::kBeginOp, {NameNumber({text, length})});
}
void hackcuda_end_op(const char* outputs, size_t length) {
  Log(EntryKind::kEndOp, {NameNumber({outputs, length})});
}
void hackcuda_mark(const char* text, size_t length) {
  Log(EntryKind::kMark, {NameNumber({text, length})});
}
void hackcuda_pause_clock(int is_long) {
  using drydock::hackcuda::Work;
  drydock::hackcuda::PauseClock(is_long != 0 ? Work::kLong : Work::kShort);
}
void hackcuda_resume_clock() { drydock::hackcuda::ResumeClock(); }
int64_t hackcuda_name(const char* text, size_t length) { return NameNumber({text, length}); }
void hackcuda_set_values(const void* at, size_t bytes, int knowledge, int64_t origin) {
  drydock::hackcuda::SetValues(at, bytes, {static_cast<Knowledge>(knowledge), origin});
}
void hackcuda_clear(void* at, size_t bytes) {
  drydock::hackcuda::FillBytes(at, 0, bytes);
  drydock::hackcuda::SetValues(at, bytes, {});
}
void hackcuda_forget(void* at, size_t bytes, int64_t origin) {
  if (bytes <= drydock::hackcuda::kKept) drydock::hackcuda::FillBytes(at, 0, bytes);
  drydock::hackcuda::SetValues(at, bytes, {Knowledge::kUnknown, origin});
}
int hackcuda_values(const void* at, size_t bytes, int64_t* origin) {
  const drydock::hackcuda::Values values = drydock::hackcuda::ValuesAt(at, bytes);
  *origin = values.origin;
  return static_cast<int>(values.knowledge);
}
void hackcuda_answer(int64_t value, int knowledge, int64_t origin) {
  drydock::hackcuda::SetAnswer(value, {static_cast<Knowledge>(knowledge), origin});
}
void hackcuda_forget_answer() { drydock::hackcuda::ForgetAnswer(); }
void hackcuda_ignore_reads(int ignores) { drydock::hackcuda::IgnoreReads(ignores != 0); }
int64_t hackcuda_works() { return drydock::hackcuda::WorksOfThread(); }
void hackcuda_set_line_finder(void (*finder)()) { drydock::hackcuda::SetLineFinder(finder); }
void hackcuda_set_line(const char* text, size_t length) {
  drydock::hackcuda::SetLine({text, length});
}

void hackcuda_name_key(uint64_t key, const int32_t* ranks, size_t count, const char* group) {
  drydock::hackcuda::NameKey(key, {ranks, ranks + count}, group != nullptr ? group : "");
}
void hackcuda_expect_group(const int32_t* ranks, size_t count, const char* group) {
  drydock::hackcuda::ExpectGroup({ranks, ranks + count}, group != nullptr ? group : "");
}
void hackcuda_mark_group(const char* name, const char* description, const int32_t* ranks,
                         size_t count) {
  const std::string text = std::string("group ") + name + ' ' +
                           drydock::hackcuda::ListOf({ranks, ranks + count}) + ' ' + description;
  hackcuda_mark(text.data(), text.size());
}

}  // extern "C"
