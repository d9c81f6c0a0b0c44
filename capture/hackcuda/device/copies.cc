#include "capture/hackcuda/device/copies.h"

#include "capture/hackcuda/device/host_reads.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"
#include "capture/hackcuda/device/streams.h"
#include "capture/hackcuda/device/unknown_values.h"

namespace drydock::hackcuda {
namespace {

using capture::Side;

void LogCopy(const void* to, const void* from, size_t bytes, const void* stream, Waits waits) {
  const Side target = PlaceOf(to).side, source = PlaceOf(from).side;
  const bool is_pageable = target == Side::kHost || source == Side::kHost;
  const bool does_wait = waits == Waits::kAlways || (waits == Waits::kIfNotPinned && is_pageable);
  Log(EntryKind::kCopy, {static_cast<int64_t>(source), static_cast<int64_t>(target),
                         static_cast<int64_t>(bytes), StreamNumber(stream), does_wait ? 1 : 0});
}

void CopyValues(char* to, size_t to_pitch, const char* from, size_t from_pitch, size_t width,
                size_t rows) {
  const bool to_device = PlaceOf(to).side == Side::kDevice;
  const bool from_device = PlaceOf(from).side == Side::kDevice;
  const bool is_kept = width * rows <= kKept;
  Values least;
  for (size_t row = 0; row < rows; ++row) {
    char* const target = to + row * to_pitch;
    const char* const source = from + row * from_pitch;
    if (is_kept || rows == 1 || !to_device) CopyBytes(target, source, width);
    Values values;
    if (from_device) values = ValuesAt(source, width);
    if (values.knowledge > least.knowledge) least = values;
    if (!is_kept) values = {Knowledge::kUnknown, NameNumber("a large copy")};
    if (to_device) SetValues(target, width, values);
  }
  if (!from_device || to_device) return;
  TakeRead(to, width * rows, least);
  if (is_kept && rows == 1) KeepOrReplayRead(to, width);
}

}  // namespace

void Copy(void* to, const void* from, size_t bytes, const void* stream, Waits waits) {
  LogCopy(to, from, bytes, stream, waits);
  CopyValues(static_cast<char*>(to), 0, static_cast<const char*>(from), 0, bytes, 1);
}

void CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
              size_t rows, const void* stream) {
  LogCopy(to, from, width * rows, stream, Waits::kIfNotPinned);
  CopyValues(static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width,
             rows);
}

void Fill(void* to, int value, size_t bytes, const void* stream) {
  Log(EntryKind::kFill, {static_cast<int64_t>(bytes), StreamNumber(stream)});
  FillBytes(to, value, bytes);
  const bool is_kept = value == 0 || bytes <= kKept;
  SetValues(to, bytes,
            is_kept ? Values() : Values{Knowledge::kUnknown, NameNumber("a large fill")});
}

}  // namespace drydock::hackcuda
