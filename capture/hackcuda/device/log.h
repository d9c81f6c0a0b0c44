// Writes the log of this process (capture/log/entry.h). Without a launcher nothing is written.
//
// Thread-safe. The log lives as long as the process: static destructors call CUDA.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_LOG_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_LOG_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "capture/log/entry.h"

namespace drydock::hackcuda {

using capture::EntryKind;

void Log(EntryKind kind, std::initializer_list<int64_t> words);

// Returns how many kernels and products of this thread the log has.
int64_t WorksOfThread();

// Returns the number of a text, which it logs the first time.
int64_t NameNumber(std::string_view text);

// Between these calls the thread works for the capture: CPU times of its entries leave that out.
// Calls nest. Long work may take more than some microseconds.
enum class Work : int { kShort, kLong };
void PauseClock(Work work);
void ResumeClock();

// Logs that the program called a function that libhackcuda does not understand, and says so on
// stderr the first time.
void Refuse(const char* library, const char* function);

// The process, as its launcher describes it. Without one, it has no GPU.
const capture::CapturedProcess& Process();

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_LOG_H_
