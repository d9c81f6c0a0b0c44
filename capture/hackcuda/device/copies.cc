#include "capture/hackcuda/device/copies.h"

#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"
#include "capture/hackcuda/device/streams.h"

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

}  // namespace

void Copy(void* to, const void* from, size_t bytes, const void* stream, Waits waits) {
  LogCopy(to, from, bytes, stream, waits);
  CopyBytes(to, from, bytes);
}

void CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
              size_t rows, const void* stream) {
  LogCopy(to, from, width * rows, stream, Waits::kIfNotPinned);
  if (width * rows > kKept) return;
  for (size_t row = 0; row < rows; ++row) {
    CopyBytes(static_cast<char*>(to) + row * to_pitch,
              static_cast<const char*>(from) + row * from_pitch, width);
  }
}

void Fill(void* to, int value, size_t bytes, const void* stream) {
  Log(EntryKind::kFill, {static_cast<int64_t>(bytes), StreamNumber(stream)});
  FillBytes(to, value, bytes);
}

}  // namespace drydock::hackcuda
