// Reads the log of a captured process (entry.h).
#ifndef DRYDOCK_CAPTURE_LOG_LOG_FILE_H_
#define DRYDOCK_CAPTURE_LOG_LOG_FILE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/log/entry.h"
#include "core/base/result.h"

namespace drydock::capture {

struct LogEntry {
  EntryKind kind = EntryKind::kName;
  uint32_t thread = 0;
  int64_t wall_ns = 0, cpu_ns = 0;
  std::span<const int64_t> words;
};

// Immutable once read. Entries refer to the file's content, which the log owns; a log can be moved,
// not copied.
class ProcessLog {
 public:
  // Errors: the file cannot be read, is of another build, or is damaged.
  static Result<ProcessLog> Read(const std::string& path);
  static Result<ProcessLog> Parse(std::string content, const std::string& path);
  ProcessLog(ProcessLog&&) = default;
  ProcessLog& operator=(ProcessLog&&) = default;

  // Writes what Read reads: logs of many ranks do not fit into memory.
  Status Write(const std::string& path) const;

  int rank() const { return rank_; }
  int process() const { return process_; }
  // Without names.
  const std::vector<LogEntry>& entries() const { return entries_; }
  // The text with this number. REQUIRES: an entry has it in a field of names.
  std::string_view name(int64_t number) const { return names_[static_cast<size_t>(number)]; }

 private:
  ProcessLog() = default;
  static Result<ProcessLog> ParseWords(std::vector<int64_t> words, size_t bytes,
                                       const std::string& path);

  std::vector<int64_t> words_;  // the header and the entries
  int rank_ = -1, process_ = 0;
  std::vector<LogEntry> entries_;
  std::vector<std::string_view> names_;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LOG_LOG_FILE_H_
