#include "capture/tape/host_time.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "capture/log/fields.h"

namespace drydock::capture {
namespace {

// Differences between two runs beyond which they are not compared; the time to compare them grows
// with this number.
constexpr int kMostDifferences = 4000;
constexpr double kLeastCommon = 0.9;

// What two runs ask for is compared by tokens. Numbers of names, communicators and groups differ
// between runs. Which variant of an elementwise kernel an operator launches depends on the
// addresses of its tensors.
uint64_t TokenOf(const ProcessLog& log, const LogEntry& entry) {
  const auto mix = [](uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 29);
  };
  const std::hash<std::string_view> hash_of;
  auto token = static_cast<uint64_t>(entry.kind) + 1;
  const std::vector<Field>& fields = FieldsOfKind(entry.kind);
  const bool is_launch = entry.kind == EntryKind::kLaunch;
  for (size_t i = 0; i < entry.words.size(); ++i) {
    const std::string& field = fields[i].name;
    if (fields[i].is_name) {
      const std::string_view name = log.name(entry.words[i]);
      const bool has_variants = name.find("elementwise_kernel") != std::string_view::npos;
      token = mix(token, has_variants ? 0 : hash_of(name));
    } else if (is_launch ? field == "stream" : field != "communicator" && field != "group") {
      token = mix(token, static_cast<uint64_t>(entry.words[i]));
    }
  }
  return token;
}

struct Asked {
  std::vector<uint64_t> tokens;
  std::vector<int64_t> times;
};

Asked AskedIn(const ProcessLog& log) {
  Asked asked;
  asked.times = HostTimes(log, 0, log.entries().size());
  for (const LogEntry& entry : log.entries()) {
    if (IsAsked(entry.kind)) asked.tokens.push_back(TokenOf(log, entry));
  }
  return asked;
}

size_t CountAsked(const ProcessLog& log, size_t begin, size_t end) {
  const auto& entries = log.entries();
  return static_cast<size_t>(
      std::count_if(entries.begin() + static_cast<std::ptrdiff_t>(begin),
                    entries.begin() + static_cast<std::ptrdiff_t>(end),
                    [](const LogEntry& entry) { return IsAsked(entry.kind); }));
}

// Aligns all of `a` with the beginning of `b` by the fewest insertions and deletions (Myers 1986).
// Returns the partner in `b` of each element of `a`, or -1; nothing if there are too many
// differences.
std::vector<int> Align(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  // reached[d][k + d]: how far into `a` d differences get on the diagonal k, a's place less b's.
  std::vector<std::vector<int>> reached;
  int diagonal = 0;
  bool is_done = false;
  for (int d = 0; d <= kMostDifferences && !is_done; ++d) {
    reached.emplace_back(static_cast<size_t>(2 * d + 1), -1);
    for (int k = -d; k <= d; k += 2) {
      int x = 0;
      if (d > 0) {
        const std::vector<int>& before = reached[static_cast<size_t>(d) - 1];
        const auto at = [&](int other) {
          return std::abs(other) <= d - 1 ? before[static_cast<size_t>(other + d - 1)] : -1;
        };
        const int deleted = at(k - 1) >= 0 ? at(k - 1) + 1 : -1, inserted = at(k + 1);
        x = std::max(deleted, inserted);
      }
      if (x < 0 || x > n || x - k > m || x - k < 0) continue;
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      reached.back()[static_cast<size_t>(k + d)] = x;
      if (x == n) {
        diagonal = k;
        is_done = true;
        break;
      }
    }
  }
  if (!is_done) return {};
  std::vector<int> partners(a.size(), -1);
  int x = n;
  for (int d = static_cast<int>(reached.size()) - 1; d >= 0; --d) {
    int before = 0, from = 0;  // where this stretch of equal elements begins, and how it is reached
    if (d > 0) {
      const std::vector<int>& earlier = reached[static_cast<size_t>(d) - 1];
      const auto at = [&](int other) {
        return std::abs(other) <= d - 1 ? earlier[static_cast<size_t>(other + d - 1)] : -1;
      };
      const int deleted = at(diagonal - 1) >= 0 ? at(diagonal - 1) + 1 : -1;
      from = deleted >= at(diagonal + 1) ? diagonal - 1 : diagonal + 1;
      before = std::max(deleted, at(diagonal + 1));
    }
    for (int i = before; i < x; ++i) partners[static_cast<size_t>(i)] = i - diagonal;
    x = from < diagonal ? before - 1 : before;
    diagonal = from;
  }
  return partners;
}

}  // namespace

bool IsAsked(EntryKind kind) {
  switch (kind) {
    case EntryKind::kLaunch:
    case EntryKind::kProduct:
    case EntryKind::kAttention:
    case EntryKind::kConvolution:
    case EntryKind::kTraffic:
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
  for (size_t i = 0; i < end; ++i) {
    const LogEntry& entry = log.entries()[i];
    if (!IsAsked(entry.kind)) continue;
    const auto [it, is_first] = last.try_emplace(entry.thread, entry.cpu_ns);
    if (i >= begin) times.push_back(is_first ? 0 : std::max<int64_t>(entry.cpu_ns - it->second, 0));
    it->second = entry.cpu_ns;
  }
  return times;
}

std::optional<std::vector<int64_t>> HostTimesIn(const ProcessLog& timed, const ProcessLog& log,
                                                size_t begin, size_t end) {
  Asked own = AskedIn(log), other = AskedIn(timed);
  const size_t before = CountAsked(log, 0, begin), count = CountAsked(log, begin, end);
  // The runs are compared from the end of theirs that is nearer to the iteration.
  size_t first = before;
  const size_t after = own.tokens.size() - before - count;
  const bool is_reversed = after < before;
  if (is_reversed) {
    first = after;
    for (Asked* asked : {&own, &other}) {
      std::reverse(asked->tokens.begin(), asked->tokens.end());
      std::reverse(asked->times.begin(), asked->times.end());
    }
  }
  own.tokens.resize(first + count);
  const std::vector<int> partners = Align(own.tokens, other.tokens);
  if (partners.empty()) return std::nullopt;
  std::vector<int64_t> times(count, -1);
  int64_t own_sum = 0, other_sum = 0;
  size_t common = 0;
  for (size_t i = 0; i < count; ++i) {
    const int partner = partners[first + i];
    if (partner < 0) continue;
    times[i] = other.times[static_cast<size_t>(partner)];
    own_sum += own.times[first + i];
    other_sum += times[i];
    ++common;
  }
  if (static_cast<double>(common) < kLeastCommon * static_cast<double>(count)) return std::nullopt;
  const double scale =
      own_sum > 0 ? static_cast<double>(other_sum) / static_cast<double>(own_sum) : 1;
  for (size_t i = 0; i < count; ++i) {
    if (times[i] < 0) {
      times[i] = static_cast<int64_t>(static_cast<double>(own.times[first + i]) * scale);
    }
  }
  if (is_reversed) std::reverse(times.begin(), times.end());
  return times;
}

}  // namespace drydock::capture
