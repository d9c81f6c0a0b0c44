#include "workload-gen/graph/diff/sequence_diff.h"

#include <algorithm>

namespace drydock {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// Walks the stored furthest-reaching points back from (x, y) after `d` edits.
Pairs WalkBack(const std::vector<std::vector<int64_t>>& trace, int64_t x, int64_t y) {
  Pairs pairs;
  for (auto d = static_cast<int64_t>(trace.size()) - 1; d >= 0; --d) {
    const std::vector<int64_t>& v = trace[static_cast<size_t>(d)];
    const auto at = [&v, d](int64_t k) { return v[static_cast<size_t>(k + d + 1)]; };
    const int64_t k = x - y;
    const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
    const int64_t before = down ? k + 1 : k - 1;
    const int64_t x0 = d == 0 ? 0 : at(before);
    const int64_t y0 = d == 0 ? 0 : x0 - before;
    while (x > x0 && y > y0) {
      --x;
      --y;
      pairs.emplace_back(static_cast<uint32_t>(x), static_cast<uint32_t>(y));
    }
    x = x0;
    y = y0;
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

Pairs MatchSequences(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
                     size_t max_edits) {
  // Matches the common prefix and suffix first, which cover most of similar sequences.
  const size_t shorter = std::min(a.size(), b.size());
  size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  Pairs pairs;
  for (size_t i = 0; i < head; ++i) pairs.emplace_back(i, i);
  const auto n = static_cast<int64_t>(a.size() - head - tail);
  const auto m = static_cast<int64_t>(b.size() - head - tail);
  const auto most = std::min<int64_t>(n + m, static_cast<int64_t>(max_edits));
  // trace[d]: for each diagonal k, at k + d + 1, how far along `a` d - 1 edits reach.
  std::vector<std::vector<int64_t>> trace;
  std::vector<int64_t> last = {0, 0, 0};
  int64_t best_x = 0, best_y = 0;
  for (int64_t d = 0; d <= most; ++d) {
    trace.push_back(last);
    std::vector<int64_t> next(static_cast<size_t>(2 * d + 5), 0);
    for (int64_t k = -d; k <= d; k += 2) {
      const auto at = [&last, d](int64_t j) { return last[static_cast<size_t>(j + d + 1)]; };
      int64_t x = d == 0                                         ? 0
                  : k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1)
                                                                 : at(k - 1) + 1;
      int64_t y = x - k;
      while (x < n && y < m &&
             a[head + static_cast<size_t>(x)] == b[head + static_cast<size_t>(y)]) {
        ++x;
        ++y;
      }
      next[static_cast<size_t>(k + d + 2)] = x;
      if (x <= n && y <= m && x + y > best_x + best_y) {
        best_x = x;
        best_y = y;
      }
      if (x >= n && y >= m) {
        best_x = n;
        best_y = m;
        break;
      }
    }
    if (best_x == n && best_y == m) break;
    last = std::move(next);
  }
  if (best_x == n && best_y == m) {
    for (const auto& [x, y] : WalkBack(trace, n, m)) pairs.emplace_back(x + head, y + head);
  }
  for (size_t i = tail; i-- > 0;) {
    pairs.emplace_back(a.size() - 1 - i, b.size() - 1 - i);
  }
  return pairs;
}

}  // namespace drydock
