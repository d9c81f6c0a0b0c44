#include "capture/classes/broadcasts.h"

#include <optional>

#include "capture/tape/groups.h"
#include "core/nccl/recording.h"

namespace drydock::capture {
namespace {

// Processes share broadcasts of at most so many elements: those of 64 KiB in bytes.
constexpr int64_t kFewElements = 64 << 10;

}  // namespace

LogBroadcasts FindBroadcasts(const ProcessLog& log) {
  LogBroadcasts found;
  const Result<LogGroups> groups = ReadGroups(log);
  if (!groups.ok()) return found;
  found.groups = groups->groups;
  std::set<std::pair<int, int>> roots;  // communicators and members
  for (const LogEntry& entry : log.entries()) {
    if (entry.kind == EntryKind::kMark) {
      found.unknown = found.unknown || log.name(entry.words[0]).starts_with("unknown broadcast");
    }
    if (entry.kind != EntryKind::kCall) continue;
    const bool broadcast =
        static_cast<RecordFunction>(entry.words[0]) == RecordFunction::kBroadcast;
    const int64_t rank = entry.words[4], root = entry.words[5], elements = entry.words[7];
    const auto communicator = groups->by_number.find(entry.words[6]);
    if (!broadcast || rank == root || elements > kFewElements ||
        communicator == groups->by_number.end()) {
      continue;
    }
    roots.emplace(communicator->second, static_cast<int>(root));
  }
  const auto memberships = MembershipsIn(found.groups, log.rank());
  for (const auto& [index, member] : roots) {
    const TapeCommunicator& communicator = groups->communicators[static_cast<size_t>(index)];
    if (static_cast<size_t>(member) >= communicator.members.size()) continue;
    const auto& own = memberships[static_cast<size_t>(communicator.group)];
    if (!own.has_value()) continue;
    found.roots.emplace(own->kind, communicator.members[static_cast<size_t>(member)]);
  }
  return found;
}

}  // namespace drydock::capture
