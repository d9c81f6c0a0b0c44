// Buffers of symbols: each element is a 64-bit number that tells its origin, and a buffer of any
// size is a few runs. Internal to the interpreter.
//
// Element e of member m's input is A(m) + e * B(m) modulo 2^64, where A and B are hashes of m. Sums
// and slices of such runs are runs again. Two sums are equal only if they add the same elements of
// the same members, except when 64-bit hashes collide.
#ifndef DRYDOCK_SIMCCL_PROOF_SYMBOLIC_DATA_H_
#define DRYDOCK_SIMCCL_PROOF_SYMBOLIC_DATA_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace drydock {

// `count` elements; each value is the one before plus `step`.
struct SymbolRun {
  int64_t count = 0;
  uint64_t first = 0, step = 0;

  SymbolRun Part(int64_t begin, int64_t n) const {
    return {n, first + static_cast<uint64_t>(begin) * step, step};
  }
};

// Returns the elements [at, at + count) of a member's input.
SymbolRun InputOf(int member, int64_t at, int64_t count);

// A sequence of runs.
class SymbolData {
 public:
  SymbolData() = default;
  explicit SymbolData(SymbolRun run) { Append(run); }

  int64_t size() const { return size_; }
  const std::vector<SymbolRun>& runs() const { return runs_; }
  void Append(SymbolRun run);
  // Returns the elements [at, at + count).
  SymbolData Part(int64_t at, int64_t count) const;
  // Adds element by element. REQUIRES: the sizes are equal.
  void Add(const SymbolData& other);
  // Returns the first element that differs, if any. REQUIRES: the sizes are equal.
  std::optional<int64_t> FirstDifference(const SymbolData& other) const;

 private:
  // Calls visit(at, a, b) for each longest part in which both sides are one run.
  template <typename Visit>
  static void ForEachPart(const SymbolData& left, const SymbolData& right, const Visit& visit);

  std::vector<SymbolRun> runs_;
  int64_t size_ = 0;
};

// A buffer that remembers what was stored in it.
class SymbolBuffer {
 public:
  // Returns the content of [at, at + count). Where nothing was stored it is `gap(at, count)`, a
  // run.
  template <typename Gap>
  SymbolData Read(int64_t at, int64_t count, const Gap& gap) const {
    SymbolData out;
    const int64_t end = at + count;
    for (auto it = First(at); at < end; ++it) {
      const int64_t next = it == runs_.end() ? end : std::min(it->first, end);
      if (next > at) out.Append(gap(at, next - at));
      at = std::max(at, next);
      if (at == end) break;
      const int64_t take = std::min(end, it->first + it->second.count) - at;
      out.Append(it->second.Part(at - it->first, take));
      at += take;
    }
    return out;
  }
  // Returns the first element of [at, at + count) that was stored, if any.
  std::optional<int64_t> FirstStored(int64_t at, int64_t count) const;
  void Store(int64_t at, const SymbolData& data);

 private:
  using Runs = std::map<int64_t, SymbolRun>;  // by begin
  // Returns the first run that ends after `at`.
  Runs::const_iterator First(int64_t at) const;
  void Clear(int64_t at, int64_t end);

  Runs runs_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_SYMBOLIC_DATA_H_
