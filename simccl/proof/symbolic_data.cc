#include "simccl/proof/symbolic_data.h"

#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "core/containers/hash.h"

namespace drydock {
namespace {

// Returns true if `next` continues `run`.
bool Continues(const SymbolRun& run, const SymbolRun& next) {
  return run.step == next.step && run.Part(run.count, 0).first == next.first;
}

}  // namespace

SymbolRun InputOf(int member, int64_t at, int64_t count) {
  const auto m = static_cast<uint64_t>(member);
  const SymbolRun whole = {0, HashOf(2 * m), HashOf(2 * m + 1) | 1};
  return whole.Part(at, count);
}

void SymbolData::Append(SymbolRun run) {
  if (run.count == 0) return;
  size_ += run.count;
  if (!runs_.empty() && Continues(runs_.back(), run)) {
    runs_.back().count += run.count;
  } else {
    runs_.push_back(run);
  }
}

SymbolData SymbolData::Part(int64_t at, int64_t count) const {
  CHECK(at >= 0 && at + count <= size_);
  SymbolData part;
  int64_t begin = 0;
  for (const SymbolRun& run : runs_) {
    const int64_t from = std::max(at, begin), to = std::min(at + count, begin + run.count);
    if (from < to) part.Append(run.Part(from - begin, to - from));
    begin += run.count;
  }
  return part;
}

template <typename Visit>
void SymbolData::ForEachPart(const SymbolData& left, const SymbolData& right, const Visit& visit) {
  CHECK(left.size_ == right.size_);
  int64_t in_left = 0, in_right = 0;  // offsets within the current runs
  size_t l = 0, r = 0;
  for (int64_t at = 0; at < left.size_;) {
    const SymbolRun& a = left.runs_[l];
    const SymbolRun& b = right.runs_[r];
    const int64_t count = std::min(a.count - in_left, b.count - in_right);
    visit(at, a.Part(in_left, count), b.Part(in_right, count));
    at += count;
    if ((in_left += count) == a.count) ++l, in_left = 0;
    if ((in_right += count) == b.count) ++r, in_right = 0;
  }
}

void SymbolData::Add(const SymbolData& other) {
  SymbolData sum;
  ForEachPart(*this, other, [&sum](int64_t, const SymbolRun& a, const SymbolRun& b) {
    sum.Append({a.count, a.first + b.first, a.step + b.step});
  });
  *this = std::move(sum);
}

std::optional<int64_t> SymbolData::FirstDifference(const SymbolData& other) const {
  std::optional<int64_t> found;
  ForEachPart(*this, other, [&found](int64_t at, const SymbolRun& a, const SymbolRun& b) {
    if (found.has_value()) return;
    if (a.first != b.first) {
      found = at;
    } else if (a.count > 1 && a.step != b.step) {
      found = at + 1;
    }
  });
  return found;
}

SymbolBuffer::Runs::const_iterator SymbolBuffer::First(int64_t at) const {
  auto it = runs_.upper_bound(at);
  if (it == runs_.begin()) return it;
  const auto before = std::prev(it);
  return before->first + before->second.count > at ? before : it;
}

std::optional<int64_t> SymbolBuffer::FirstStored(int64_t at, int64_t count) const {
  const auto it = First(at);
  if (count == 0 || it == runs_.end() || it->first >= at + count) return std::nullopt;
  return std::max(at, it->first);
}

void SymbolBuffer::Clear(int64_t at, int64_t end) {
  for (auto it = First(at); it != runs_.end() && it->first < end;) {
    const auto [begin, run] = *it;
    it = runs_.erase(it);
    const int64_t after = begin + run.count;
    if (begin < at) runs_.emplace(begin, run.Part(0, at - begin));
    if (after > end) runs_.emplace(end, run.Part(end - begin, after - end));
  }
}

void SymbolBuffer::Store(int64_t at, const SymbolData& data) {
  Clear(at, at + data.size());
  for (const SymbolRun& run : data.runs()) {
    const auto after = runs_.lower_bound(at);
    if (after != runs_.begin()) {
      SymbolRun& before = std::prev(after)->second;
      if (std::prev(after)->first + before.count == at && Continues(before, run)) {
        before.count += run.count;
        at += run.count;
        continue;
      }
    }
    runs_.emplace_hint(after, at, run);
    at += run.count;
  }
}

}  // namespace drydock
