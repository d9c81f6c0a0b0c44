#include "capture/classes/broadcasts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "capture/tape/groups.h"
#include "core/nccl/recording.h"

namespace drydock::capture {
namespace {

// Processes share broadcasts of at most so many elements: those of 64 KiB in bytes.
constexpr int64_t kFewElements = 64 << 10;

// The group and the member of "value MEMBER GROUP", which Python's hooks write of what this rank
// received from a member.
std::optional<std::pair<size_t, int>> RootOfValue(std::string_view mark,
                                                  const std::vector<TapeGroup>& groups) {
  constexpr std::string_view kValue = "value ";
  if (!mark.starts_with(kValue)) return std::nullopt;
  mark.remove_prefix(kValue.size());
  int member = 0;
  const auto [end, failed] = std::from_chars(mark.data(), mark.data() + mark.size(), member);
  if (failed != std::errc() || end == mark.data() + mark.size()) return std::nullopt;
  mark.remove_prefix(static_cast<size_t>(end - mark.data()) + 1);
  const auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const TapeGroup& known) { return known.name == mark; });
  if (group == groups.end()) return std::nullopt;
  return std::pair(static_cast<size_t>(group - groups.begin()), member);
}

}  // namespace

LogBroadcasts FindBroadcasts(const ProcessLog& log) {
  LogBroadcasts found;
  const Result<LogGroups> groups = ReadGroups(log);
  if (!groups.ok()) return found;
  found.groups = groups->groups;
  std::set<std::pair<size_t, int>> roots;  // groups and their members
  for (const LogEntry& entry : log.entries()) {
    if (entry.kind == EntryKind::kMark) {
      const std::string_view mark = log.name(entry.words[0]);
      found.unknown = found.unknown || mark.starts_with("unknown broadcast");
      if (const auto root = RootOfValue(mark, found.groups)) roots.insert(*root);
    }
    if (entry.kind != EntryKind::kCall) continue;
    const bool broadcast =
        static_cast<RecordFunction>(entry.words[0]) == RecordFunction::kBroadcast;
    const int64_t rank = entry.words[4], root = entry.words[5], elements = entry.words[7];
    const auto number = groups->by_number.find(entry.words[6]);
    if (!broadcast || rank == root || elements > kFewElements || number == groups->by_number.end())
      continue;
    const TapeCommunicator& communicator =
        groups->communicators[static_cast<size_t>(number->second)];
    if (static_cast<size_t>(root) >= communicator.members.size()) continue;
    roots.emplace(static_cast<size_t>(communicator.group),
                  communicator.members[static_cast<size_t>(root)]);
  }
  const auto memberships = MembershipsIn(found.groups, log.rank());
  for (const auto& [group, member] : roots) {
    if (memberships[group].has_value()) found.roots.emplace(memberships[group]->kind, member);
  }
  return found;
}

}  // namespace drydock::capture
