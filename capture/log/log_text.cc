#include "capture/log/log_text.h"

#include <fmt/format.h>

#include <map>

#include "capture/log/fields.h"

namespace drydock::capture {
namespace {

constexpr const char* kSides[] = {"host", "pinned", "device"};

bool IsPoll(EntryKind kind) {
  return kind == EntryKind::kAskEvent || kind == EntryKind::kAskStream;
}

// What depends on when a thread of the framework asks.
bool Wavers(const ProcessLog& log, const LogEntry& entry) {
  return IsPoll(entry.kind) ||
         (entry.kind == EntryKind::kMark && log.name(entry.words[0]).starts_with("memory "));
}

// Fields whose words differ between runs.
bool IsArbitrary(EntryKind kind, const std::string& field) {
  return field == "communicator" || field == "key" ||
         (field == "address" && kind == EntryKind::kAllocateHost);
}

}  // namespace

int64_t LogTextWriter::NumberOf(const LogEntry& entry, const std::string& field, int64_t word) {
  if (field == "event") {
    if (entry.kind == EntryKind::kRecordEvent) records_[word] = ++last_record_;
    return records_[word];
  }
  if (!IsArbitrary(entry.kind, field)) return word;
  return static_cast<int64_t>(
      numbers_.emplace(std::pair(field, word), numbers_.size()).first->second);
}

std::string LogTextWriter::TextOf(const LogEntry& entry) {
  std::string line(FieldsOf(entry.kind).name);
  const std::vector<Field>& fields = FieldsOfKind(entry.kind);
  for (size_t i = 0; i < fields.size(); ++i) {
    const int64_t word = NumberOf(entry, fields[i].name, entry.words[i]);
    const bool is_side = entry.kind == EntryKind::kCopy && i < 2 && word >= 0 && word < 3;
    line += fmt::format(" {}={}", fields[i].name,
                        fields[i].is_name ? std::string(log_.name(word))
                        : is_side         ? kSides[word]
                                          : std::to_string(word));
  }
  return line;
}

std::string LogText(const ProcessLog& log, const LogTextOptions& options) {
  std::string text;
  LogTextWriter writer(log);
  // Threads in the order in which they appear, as the system's numbers differ between runs.
  std::map<uint32_t, size_t> threads;
  const int64_t start = log.entries().empty() ? 0 : log.entries().front().wall_ns;
  for (const LogEntry& entry : log.entries()) {
    if (!options.with_times && Wavers(log, entry)) continue;
    const size_t thread = threads.emplace(entry.thread, threads.size()).first->second;
    if (options.with_times) {
      text += fmt::format("{:.3f} {:.3f} ", static_cast<double>(entry.wall_ns - start) / 1e3,
                          static_cast<double>(entry.cpu_ns) / 1e3);
    }
    text += fmt::format("t{} {}\n", thread, writer.TextOf(entry));
  }
  return text;
}

}  // namespace drydock::capture
