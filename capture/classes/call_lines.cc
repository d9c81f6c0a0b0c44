#include "capture/classes/call_lines.h"

#include <string_view>
#include <utility>

namespace drydock::capture {
namespace {

// An error lists up to eight mismatches of two ranks each; the first ones are enough.
constexpr size_t kMostRuns = 4;
constexpr std::string_view kLine = "line ";

}  // namespace

std::vector<std::string> LinesOfCalls(const ProcessLog& log) {
  std::vector<std::string> lines;
  // A call that C++ makes by itself, in the backward pass, has no line: its thread marks none.
  std::map<uint32_t, std::pair<std::string, int64_t>> last;  // by thread: line, and its group
  for (const LogEntry& entry : log.entries()) {
    if (entry.kind == EntryKind::kMark) {
      const std::string_view text = log.name(entry.words[0]);
      if (text.starts_with(kLine))
        last[entry.thread] = {std::string(text.substr(kLine.size())), -1};
    } else if (entry.kind == EntryKind::kCall) {
      auto& [line, group] = last[entry.thread];
      if (group < 0) group = entry.words[8];
      lines.push_back(group == entry.words[8] ? line : "");
    }
  }
  return lines;
}

std::string CallLines::Of(const ClassTape& tape, size_t entry) {
  if (entry >= tape.calls.size() || tape.calls[entry] < 0) return "";
  auto known = lines_.find(tape.rank);
  if (known == lines_.end()) {
    if (lines_.size() >= kMostRuns) return "";
    RankProgram program = program_;
    program.marks_lines = true;
    const Result<ProcessLog> log = RunRank(environment_, topology_, program, tape.rank);
    known =
        lines_.emplace(tape.rank, log.ok() ? LinesOfCalls(*log) : std::vector<std::string>()).first;
  }
  const auto call = static_cast<size_t>(tape.calls[entry]);
  if (call >= known->second.size() || known->second[call].empty()) return "";
  return ", " + known->second[call];
}

}  // namespace drydock::capture
