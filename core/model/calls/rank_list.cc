#include "core/model/calls/rank_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scan.h"

namespace drydock {
namespace {

constexpr size_t kMaxRanks = 1 << 20;

struct Range {
  int first = 0, last = 0, stride = 1;
};

Result<Range> ParseRange(std::string_view piece, std::string_view text) {
  Range r;
  if (ScanNumbers(piece, {""}, {&r.first})) {
    r.last = r.first;
  } else if (!ScanNumbers(piece, {"", "-"}, {&r.first, &r.last}) &&
             !ScanNumbers(piece, {"", "-", ":"}, {&r.first, &r.last, &r.stride})) {
    return Error(
        fmt::format("'{}' is not a list of ranks: '{}' is neither a rank, as in '5', nor a range, "
                    "as in '0-15' or '0-63:8'",
                    text, piece));
  }
  if (r.last < r.first) {
    return Error(fmt::format("'{}' is not a list of ranks: '{}' runs backwards", text, piece));
  }
  if (r.stride < 1) {
    return Error(fmt::format("'{}' is not a list of ranks: '{}' has stride 0", text, piece));
  }
  return r;
}

// Returns the number of ranks, from `begin` on, that one range can describe.
size_t RunFrom(const std::vector<int>& ranks, size_t begin) {
  size_t end = begin + 1;
  if (end == ranks.size() || ranks[end] <= ranks[begin]) return 1;
  const int stride = ranks[end] - ranks[begin];
  while (end < ranks.size() && ranks[end] - ranks[end - 1] == stride) ++end;
  return stride == 1 || end - begin > 2 ? end - begin : 1;
}

}  // namespace

Result<std::vector<int>> ParseRanks(std::string_view text) {
  std::vector<int> ranks;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    ASSIGN_OR_RETURN(const Range range, ParseRange(text.substr(begin, end - begin), text));
    for (int64_t rank = range.first; rank <= range.last; rank += range.stride) {
      if (ranks.size() == kMaxRanks) {
        return Error(fmt::format("'{}' are more than {} ranks", text, kMaxRanks));
      }
      ranks.push_back(static_cast<int>(rank));
    }
    begin = end + 1;
  }
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return Error(fmt::format("'{}' names rank {} twice", text, *twice));
  return ranks;
}

Status CheckRanks(const std::vector<int>& ranks, int rank_count) {
  for (const int rank : ranks) {
    if (rank < rank_count) continue;
    return Error(fmt::format("there is no rank {}: the cluster has {} GPUs, ranks 0 to {}", rank,
                             rank_count, rank_count - 1));
  }
  return OkStatus();
}

std::string RanksText(const std::vector<int>& ranks, size_t pieces) {
  std::string text;
  size_t shown = 0;
  for (size_t begin = 0; begin < ranks.size(); ++shown) {
    if (shown > 0) text += ", ";
    if (shown == pieces) return text + "...";
    const size_t count = RunFrom(ranks, begin);
    text += fmt::format("{}", ranks[begin]);
    if (count > 1) {
      text += fmt::format("-{}", ranks[begin + count - 1]);
      const int stride = ranks[begin + 1] - ranks[begin];
      if (stride != 1) text += fmt::format(":{}", stride);
    }
    begin += count;
  }
  return text;
}

std::string FirstRanksText(const std::vector<int>& ranks) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < ranks.size() && i < kShown; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  return ranks.size() > kShown ? text + ", ..." : text;
}

}  // namespace drydock
