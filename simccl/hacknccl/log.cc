// Keeps NCCL's warnings as the reason of a failure; drops the rest, unless somebody listens. Stands
// in for NCCL's debug.cc.
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string>

#include "debug.h"
#include "session.h"

int ncclDebugLevel = NCCL_LOG_WARN;
uint64_t ncclDebugMask = 0;
FILE* ncclDebugFile = stderr;
thread_local int ncclDebugNoWarn = 0;
char ncclLastError[1024] = "";

namespace {
std::mutex mutex;
std::string warnings;
void (*listener)(const char* line) = nullptr;
}  // namespace

namespace drydock {

std::string TakeWarnings() {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(warnings, {});
}

void ListenToLog(void (*listen)(const char* line)) {
  const std::lock_guard<std::mutex> lock(mutex);
  listener = listen;
  ncclDebugMask = NCCL_ALL;
  ncclDebugLevel = NCCL_LOG_INFO;
}

}  // namespace drydock

void ncclDebugLog(ncclDebugLogLevel level, unsigned long, const char*, int, const char* format,
                  ...) {
  const bool warns = level == NCCL_LOG_WARN && ncclDebugNoWarn == 0;
  if (!warns && listener == nullptr) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard<std::mutex> lock(mutex);
  if (listener != nullptr) listener(text);
  if (!warns) return;
  if (!warnings.empty()) warnings += '\n';
  warnings += text;
  snprintf(ncclLastError, sizeof ncclLastError, "%s", text);
}

void ncclSetThreadName(std::thread&, const char*, ...) {}
void ncclResetDebugInitInternal() {}
void ncclResetDebugInit() {}
