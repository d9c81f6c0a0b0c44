// Keeps NCCL's warnings as the reason of a failure; drops the rest. Stands in for NCCL's debug.cc.
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
}  // namespace

namespace drydock {

std::string TakeWarnings() {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(warnings, {});
}

}  // namespace drydock

void ncclDebugLog(ncclDebugLogLevel level, unsigned long, const char*, int, const char* format,
                  ...) {
  if (level != NCCL_LOG_WARN || ncclDebugNoWarn != 0) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard<std::mutex> lock(mutex);
  if (!warnings.empty()) warnings += '\n';
  warnings += text;
  snprintf(ncclLastError, sizeof ncclLastError, "%s", text);
}

void ncclSetThreadName(std::thread&, const char*, ...) {}
void ncclResetDebugInitInternal() {}
void ncclResetDebugInit() {}
