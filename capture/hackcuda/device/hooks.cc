#include "capture/hackcuda/device/hooks.h"

#include <string>

#include "capture/hackcuda/device/absent_ranks.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"

using drydock::hackcuda::EntryKind;
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
void hackcuda_answer(int64_t value) { drydock::hackcuda::SetAnswer(value); }
void hackcuda_forget_answer() { drydock::hackcuda::SetAnswer({}); }

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
