// A log as text, one entry a line: "launch kernel=vectorized_add grid_x=4 ... stream=0".
#ifndef DRYDOCK_CAPTURE_LOG_LOG_TEXT_H_
#define DRYDOCK_CAPTURE_LOG_LOG_TEXT_H_

#include <map>
#include <string>
#include <utility>

#include "capture/log/log_file.h"

namespace drydock::capture {

struct LogTextOptions {
  // Begins each line with the time since the first entry and the thread's CPU time, in us. Without
  // times, two captures of a program have the same text: it leaves out what threads of the
  // framework ask from time to time and the peaks of memory, and numbers communicators and
  // addresses of the host as they appear. Frameworks take any event that is free, so an event is
  // known by its record: the n-th of the log.
  bool with_times = false;
};

// Writes the entries of a log, which must outlive it, from the first on.
class LogTextWriter {
 public:
  explicit LogTextWriter(const ProcessLog& log) : log_(log) {}
  std::string TextOf(const LogEntry& entry);

 private:
  const ProcessLog& log_;
  int64_t NumberOf(const LogEntry& entry, const std::string& field, int64_t word);

  std::map<std::pair<std::string, int64_t>, size_t> numbers_;
  std::map<int64_t, int64_t> records_;  // by event: the number of its last record
  int64_t last_record_ = 0;
};

std::string LogText(const ProcessLog& log, const LogTextOptions& options);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LOG_LOG_TEXT_H_
