// Stands in for NCCL's debug.cc.
#include "simccl/hacknccl/log/log.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "core.h"
#include "debug.h"

int ncclDebugLevel = NCCL_LOG_INFO;
uint64_t ncclDebugMask = NCCL_ENV;
FILE* ncclDebugFile = stderr;
thread_local int ncclDebugNoWarn = 0;
char ncclLastError[1024] = "";

namespace {
std::mutex mutex;
std::string warnings;
void (*listener)(const char* line) = nullptr;
std::string complaints;

// Returns true if a line about a setting says more than "set by environment to".
bool IsComplaint(const char* text) {
  for (const char* words : {"nvalid", "nknown", "User asked", "too big", "too low", "not valid",
                            "not a valid", "larger than", "No valid", "Unable to recognize"}) {
    if (strstr(text, words) != nullptr) return true;
  }
  return false;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void AddLine(const char* line, std::string* text) {
  if (EndsWith(*text, line)) return;  // NCCL repeats some lines
  if (!text->empty()) *text += '\n';
  *text += line;
}

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

std::string TakeComplaints() {
  const std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(complaints, {});
}

}  // namespace drydock

void ncclDebugLog(ncclDebugLogLevel level, unsigned long flags, const char*, int,
                  const char* format, ...) {
  const bool warns = level == NCCL_LOG_WARN && ncclDebugNoWarn == 0;
  if (!warns && level != NCCL_LOG_INFO) return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const std::lock_guard<std::mutex> lock(mutex);
  if (listener != nullptr) listener(text);
  if (!warns) {
    if ((flags & NCCL_ENV) != 0 && IsComplaint(text)) AddLine(text, &complaints);
    return;
  }
  AddLine(text, &warnings);
  snprintf(ncclLastError, sizeof ncclLastError, "%s", text);
}

void ncclSetThreadName(std::thread&, const char*, ...) {}
void ncclResetDebugInitInternal() {}
NCCL_API(void, ncclResetDebugInit);
void ncclResetDebugInit() {}
