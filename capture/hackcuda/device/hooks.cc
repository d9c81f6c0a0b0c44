#include "capture/hackcuda/device/hooks.h"

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
void hackcuda_end_op() { Log(EntryKind::kEndOp, {}); }
void hackcuda_mark(const char* text, size_t length) {
  Log(EntryKind::kMark, {NameNumber({text, length})});
}
void hackcuda_answer(int64_t value) { drydock::hackcuda::SetAnswer(value); }
void hackcuda_forget_answer() { drydock::hackcuda::SetAnswer({}); }

void hackcuda_name_key(uint64_t key, const int32_t* ranks, size_t count) {
  drydock::hackcuda::NameKey(key, {ranks, ranks + count});
}
void hackcuda_expect_group(const int32_t* ranks, size_t count) {
  drydock::hackcuda::ExpectGroup({ranks, ranks + count});
}

}  // extern "C"
