// What the host reads back from a GPU without that anybody computed it. Programs may branch on such
// values, so the log has each of these reads, with the line of the program.
//
// Thread-safe.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_HOST_READS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_HOST_READS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/hackcuda/device/unknown_values.h"

namespace drydock::hackcuda {

// What this thread's reads of at most 8 bytes give in place of the memory of the GPU: a number that
// a kernel would have found.
void SetAnswer(int64_t value, Values values);
void ForgetAnswer();

// This thread's other reads are a library's own: the program sees only what follows from them.
void IgnoreReads(bool ignores);

// The host has read `bytes` from a GPU to the place `to`. Puts an answer there, if there is one.
// Logs the read if nobody computed the values.
void TakeRead(void* to, size_t bytes, Values values);

// The run of a rank that records operators keeps what the host reads in the folder of the capture
// (kValuesVariable). The run that measures the host computes no values: it gets these, so that
// the program takes the same branches. Once a read differs in size, the rest is as it comes.
void KeepOrReplayRead(void* to, size_t bytes);

// Calls `finder` for each read that is logged, on its thread; it tells the line by SetLine. Null:
// lines are not known.
void SetLineFinder(void (*finder)());
void SetLine(std::string_view line);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_HOST_READS_H_
