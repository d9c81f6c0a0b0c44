// Buffers that hold symbols: each element a 64-bit number that says where it came from, so that a
// buffer of any size is a few runs. Internal to the interpreter.
//
// Element e of member m's input is A(m) + e * B(m) modulo 2^64, with A and B hashed from m: sums
// and slices of such runs are runs again, and two sums are equal only if the same elements of the
// same members went into them (but for a coincidence of 64-bit hashes).
#ifndef DRYDOCK_SIMCCL_PROOF_SYMBOLIC_DATA_H_
#define DRYDOCK_SIMCCL_PROOF_SYMBOLIC_DATA_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace drydock {

// `count` elements whose values go up by `step`.
struct SymbolRun {
  int64_t count = 0;
  uint64_t first = 0, step = 0;

  SymbolRun Part(int64_t begin, int64_t n) const {
    return {n, first + static_cast<uint64_t>(begin) * step, step};
  }
};

// The elements [at, at + count) of a member's input, wherever it has them.
SymbolRun InputOf(int member, int64_t at, int64_t count);

// One after another.
class SymbolData {
 public:
  SymbolData() = default;
  explicit SymbolData(SymbolRun run) { Append(run); }

  int64_t size() const { return size_; }
  const std::vector<SymbolRun>& runs() const { return runs_; }
  void Append(SymbolRun run);
  // The elements [at, at + count).
  SymbolData Part(int64_t at, int64_t count) const;
  // Element by element; of equal size.
  void Add(const SymbolData& other);
  // The first element that differs; none if all are equal. Of equal size.
  std::optional<int64_t> FirstDifference(const SymbolData& other) const;

 private:
  // Calls visit(at, a, b) for the longest parts in which both are one run.
  template <typename Visit>
  static void ForEachPart(const SymbolData& left, const SymbolData& right, const Visit& visit);

  std::vector<SymbolRun> runs_;
  int64_t size_ = 0;
};

// What was stored where.
class SymbolBuffer {
 public:
  // What [at, at + count) holds; where nothing was stored, `gap(at, count)`, a run.
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
  // The first element of [at, at + count) that was stored.
  std::optional<int64_t> FirstStored(int64_t at, int64_t count) const;
  void Store(int64_t at, const SymbolData& data);

 private:
  using Runs = std::map<int64_t, SymbolRun>;  // by where they begin
  // The first run that ends after `at`.
  Runs::const_iterator First(int64_t at) const;
  void Clear(int64_t at, int64_t end);

  Runs runs_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_PROOF_SYMBOLIC_DATA_H_
