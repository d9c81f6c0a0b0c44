#include "capture/tape/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace drydock::capture {
namespace {

std::string_view TakeWord(std::string_view* text) {
  const size_t end = std::min(text->find(' '), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return word;
}

// A communicator whose group is not known yet.
struct Joined {
  size_t communicator = 0;
  std::vector<int> ranks;
  std::string group;  // empty: a group that the program is making
};

std::vector<int> PositionsOf(const std::vector<int>& ranks, const TapeGroup& group) {
  std::vector<int> positions;
  for (const int rank : ranks) {
    const auto it = std::find(group.ranks.begin(), group.ranks.end(), rank);
    if (it == group.ranks.end()) return {};
    positions.push_back(static_cast<int>(it - group.ranks.begin()));
  }
  return positions;
}

}  // namespace

std::vector<int> RanksOf(std::string_view list) {
  std::vector<int> ranks;
  const char* at = list.data();
  const char* const end = at + list.size();
  const auto number = [&](int* value) {
    const auto [next, error] = std::from_chars(at, end, *value);
    if (error != std::errc()) return false;
    at = next;
    return true;
  };
  while (at != end) {
    int first = 0, last = 0, step = 1;
    if (!number(&first)) return {};
    last = first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(&last)) return {};
      if (at != end && *at == ':') {
        ++at;
        if (!number(&step)) return {};
      }
    }
    if (first < 0 || last < first || step < 1) return {};
    for (int rank = first; rank <= last; rank += step) ranks.push_back(rank);
    if (at == end) break;
    if (*at++ != ',') return {};
  }
  return ranks;
}

Result<LogGroups> ReadGroups(const ProcessLog& log) {
  LogGroups read;
  std::vector<Joined> waiting;
  const std::vector<LogEntry>& entries = log.entries();
  const int64_t start = entries.empty() ? 0 : entries.front().wall_ns;
  std::unordered_map<std::string, int> by_name;
  const auto join = [&](const Joined& joined, int group) {
    TapeCommunicator& own = read.communicators[joined.communicator];
    const TapeGroup& its = read.groups[static_cast<size_t>(group)];
    std::vector<int> positions = PositionsOf(joined.ranks, its);
    if (positions.empty()) return false;
    own.group = group;
    own.members = std::move(positions);
    return true;
  };
  for (const LogEntry& entry : entries) {
    if (entry.kind == EntryKind::kCommunicator) {
      read.by_number[entry.words[0]] = static_cast<int>(read.communicators.size());
      TapeCommunicator made;
      made.group = -1;
      made.made = Time::Ns(entry.wall_ns - start);
      read.communicators.push_back(made);
      continue;
    }
    if (entry.kind != EntryKind::kMark) continue;
    std::string_view text = log.name(entry.words[0]);
    const std::string_view what = TakeWord(&text);
    if (what == "group") {
      TapeGroup group;
      group.name = TakeWord(&text);
      group.ranks = RanksOf(TakeWord(&text));
      group.description = text;
      const auto number = static_cast<int>(read.groups.size());
      if (!by_name.emplace(group.name, number).second) continue;
      read.groups.push_back(std::move(group));
      std::erase_if(waiting, [&](const Joined& joined) {
        const bool is_own = joined.group.empty() ? joined.ranks == read.groups.back().ranks
                                                 : joined.group == read.groups.back().name;
        return is_own && join(joined, number);
      });
    } else if (what == "ranks" && !read.communicators.empty()) {
      Joined joined;
      joined.communicator = read.communicators.size() - 1;
      joined.ranks = RanksOf(TakeWord(&text));
      joined.group = text;
      const auto known = by_name.find(joined.group);
      if (known == by_name.end() || !join(joined, known->second)) waiting.push_back(joined);
    }
  }
  for (const Joined& joined : waiting) {
    if (joined.ranks.empty()) {
      return Error(fmt::format(
          "rank {} joins a communicator of NCCL whose ranks no process group of PyTorch tells",
          log.rank()));
    }
    auto it = std::find_if(read.groups.begin(), read.groups.end(),
                           [&](const TapeGroup& group) { return group.ranks == joined.ranks; });
    if (it == read.groups.end()) {
      read.groups.push_back(
          {fmt::format("communicator {}", joined.communicator), "", joined.ranks});
      it = read.groups.end() - 1;
    }
    join(joined, static_cast<int>(it - read.groups.begin()));
  }
  return read;
}

}  // namespace drydock::capture
