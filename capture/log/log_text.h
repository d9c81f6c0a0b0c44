// A log as text, one entry a line: "launch kernel=vectorized_add grid_x=4 ... stream=0".
#ifndef DRYDOCK_CAPTURE_LOG_LOG_TEXT_H_
#define DRYDOCK_CAPTURE_LOG_LOG_TEXT_H_

#include <string>

#include "capture/log/log_file.h"

namespace drydock::capture {

struct LogTextOptions {
  // Begins each line with the time since the first entry and the thread's CPU time, in us. Without
  // times, two captures of a program have the same text.
  bool with_times = false;
};

std::string TextOf(const ProcessLog& log, const LogEntry& entry);
std::string LogText(const ProcessLog& log, const LogTextOptions& options);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LOG_LOG_TEXT_H_
