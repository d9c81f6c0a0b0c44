#include "capture/tape/host_time.h"

#include <algorithm>
#include <unordered_map>

#include "capture/log/fields.h"

namespace drydock::capture {
namespace {

constexpr size_t kLaunchStream = 11;  // word of kLaunch

// The entries that are asked, by place in the log.
std::vector<size_t> AskedIn(const ProcessLog& log, size_t begin, size_t end) {
  std::vector<size_t> asked;
  for (size_t i = begin; i < end; ++i) {
    if (IsAsked(log.entries()[i].kind)) asked.push_back(i);
  }
  return asked;
}

// Numbers of names and communicators differ between runs, and those of groups if one run makes more
// calls at first. Which kernel an operator launches may depend on the addresses of its tensors.
bool AreAlike(const ProcessLog& a_log, const LogEntry& a, const ProcessLog& b_log,
              const LogEntry& b) {
  if (a.kind != b.kind || a.words.size() != b.words.size()) return false;
  if (a.kind == EntryKind::kLaunch) return a.words[kLaunchStream] == b.words[kLaunchStream];
  const std::vector<Field>& fields = FieldsOfKind(a.kind);
  for (size_t i = 0; i < a.words.size(); ++i) {
    if (fields[i].is_name) {
      if (a_log.name(a.words[i]) != b_log.name(b.words[i])) return false;
    } else if (fields[i].name != "communicator" && fields[i].name != "group" &&
               a.words[i] != b.words[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool IsAsked(EntryKind kind) {
  switch (kind) {
    case EntryKind::kLaunch:
    case EntryKind::kProduct:
    case EntryKind::kCopy:
    case EntryKind::kFill:
    case EntryKind::kCall:
    case EntryKind::kLaunchGraph:
      return true;
    default:
      return false;
  }
}

std::vector<int64_t> HostTimes(const ProcessLog& log, size_t begin, size_t end) {
  std::unordered_map<uint32_t, int64_t> last;  // by thread
  std::vector<int64_t> times;
  for (size_t i = begin; i < end; ++i) {
    const LogEntry& entry = log.entries()[i];
    if (!IsAsked(entry.kind)) continue;
    const auto [it, is_first] = last.try_emplace(entry.thread, entry.cpu_ns);
    times.push_back(is_first ? 0 : std::max<int64_t>(entry.cpu_ns - it->second, 0));
    it->second = entry.cpu_ns;
  }
  return times;
}

std::vector<int64_t> HostTimesOf(const ProcessLog& timed, const ProcessLog& log, size_t begin,
                                 size_t end) {
  const std::vector<size_t> wanted = AskedIn(log, begin, end);
  const std::vector<size_t> all = AskedIn(timed, 0, timed.entries().size());
  const size_t before = AskedIn(log, 0, begin).size();
  const size_t after = AskedIn(log, end, log.entries().size()).size();
  const auto fits = [&](size_t first) {
    if (first + wanted.size() > all.size()) return false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!AreAlike(log, log.entries()[wanted[i]], timed, timed.entries()[all[first + i]])) {
        return false;
      }
    }
    return true;
  };
  size_t first = before;
  if (wanted.empty()) return {};
  if (!fits(first)) {
    if (all.size() < after + wanted.size()) return {};
    first = all.size() - after - wanted.size();
    if (!fits(first)) return {};
  }
  return HostTimes(timed, all[first], all[first + wanted.size() - 1] + 1);
}

}  // namespace drydock::capture
