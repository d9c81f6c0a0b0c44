#include "exec-engine/collective-perf/collective_sweep.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {
namespace {

constexpr int64_t kPartAlignment = 16;  // bytes

double BusFactor(CollectiveType collective, int group_size) {
  const double n = group_size;
  if (collective == CollectiveType::kAllReduce) return 2 * (n - 1) / n;
  return HasParts(collective) ? (n - 1) / n : 1;
}

// Expresses the members' messages as an all-to-all-v, for which NCCL gets the same calls.
void SendToNext(SweepSize* size) {
  CommCall& call = size->call;
  call.collective = CollectiveType::kAllToAllV;
  const auto n = static_cast<size_t>(call.group_size);
  call.pair_counts.assign(n * n, 0);
  for (size_t m = 0; m < n; ++m) call.pair_counts[m * n + (m + 1) % n] = size->count;
}

// Returns the largest sum that one member sends or receives. `of` gives what each pair sends.
template <typename Of>
int64_t Busiest(size_t n, const Of& of) {
  int64_t largest = 0;
  for (size_t i = 0; i < n; ++i) {
    int64_t sent = 0, received = 0;
    for (size_t j = 0; j < n; ++j) {
      sent += of(i, j);
      received += of(j, i);
    }
    largest = std::max({largest, sent, received});
  }
  return largest;
}

// Divides the size by the weights, so that the buffer of the busiest member has the size.
void CutByWeights(const std::vector<int64_t>& weights, SweepSize* size) {
  CommCall& call = size->call;
  const auto n = static_cast<size_t>(call.group_size);
  const auto weight = [&](size_t i, size_t j) { return weights[i * n + j]; };
  const int64_t busiest = Busiest(n, weight);
  for (const int64_t w : weights) {
    call.pair_counts.push_back(
        static_cast<int64_t>(static_cast<__int128>(size->count) * w / busiest));
  }
  const auto count = [&](size_t i, size_t j) { return call.pair_counts[i * n + j]; };
  call.count = size->count = Busiest(n, count);
  const int64_t to_others =
      Busiest(n, [&](size_t i, size_t j) { return i == j ? 0 : count(i, j); });
  if (call.count == 0) return;
  size->bus_factor = static_cast<double>(to_others) / static_cast<double>(call.count);
}

SweepSize SizeOf(const Sweep& sweep, const CommCall& kind, int64_t bytes) {
  const int64_t element = SizeOf(kind.type).count();
  SweepSize size;
  size.call = kind;
  size.call.count = size.count = bytes / element;
  size.bus_factor = BusFactor(kind.collective, kind.group_size);
  if (HasParts(kind.collective)) {
    const int64_t unit = std::max<int64_t>(1, kPartAlignment / element);
    size.count = size.count / kind.group_size / unit * unit;
    size.call.count = size.count * kind.group_size;
  }
  if (kind.collective == CollectiveType::kSendRecv) SendToNext(&size);
  if (kind.collective == CollectiveType::kAllToAllV) CutByWeights(sweep.weights, &size);
  size.size = size.call.bytes();
  return size;
}

void AddSizes(const Sweep& sweep, const CommCall& kind, std::vector<SweepSize>* sizes) {
  const int64_t last = sweep.largest.count();
  for (int64_t bytes = sweep.smallest.count(); bytes <= last;) {
    sizes->push_back(SizeOf(sweep, kind, bytes));
    if (sweep.factor > 1 ? bytes > last / sweep.factor : bytes > last - sweep.increment.count()) {
      break;
    }
    bytes = sweep.factor > 1 ? bytes * sweep.factor : bytes + sweep.increment.count();
  }
}

}  // namespace

Status CheckSweepLength(const Sweep& sweep) {
  const size_t ops = Reduces(sweep.collective) ? sweep.ops.size() : 1;
  const size_t roots = HasRoot(sweep.collective) ? std::max<size_t>(1, sweep.roots.size()) : 1;
  const auto rows_of_size = static_cast<int64_t>(sweep.types.size() * ops * roots);
  if (rows_of_size > kMaxRows) {
    return Error(fmt::format(
        "{} types, {} reductions and {} roots are {} rows for each size; a table has at most {}; "
        "write fewer of them (-d, -o, -r)",
        sweep.types.size(), ops, roots, rows_of_size, kMaxRows));
  }
  if (sweep.factor > 1) return OkStatus();
  const int64_t range = sweep.largest.count() - sweep.smallest.count();
  const int64_t sizes = range / sweep.increment.count() + 1;
  if (sizes <= kMaxRows / rows_of_size) return OkStatus();
  const int64_t steps = std::max<int64_t>(1, kMaxRows / rows_of_size - 1);
  return Error(
      fmt::format("-b {} -e {} -i {} are {} sizes; a table has at most {} rows; write -i {} or "
                  "more, or a factor (-f 2)",
                  sweep.smallest.count(), sweep.largest.count(), sweep.increment.count(), sizes,
                  kMaxRows, (range + steps - 1) / steps));
}

std::vector<SweepSize> SizesOf(const Sweep& sweep) {
  CommCall kind;
  kind.collective = sweep.collective;
  kind.group_size = sweep.group_size;
  kind.buffers = sweep.buffers;
  const size_t ops = Reduces(kind.collective) ? sweep.ops.size() : 1;
  const size_t roots = HasRoot(kind.collective) ? sweep.roots.size() : 1;
  std::vector<SweepSize> sizes;
  for (const DataType type : sweep.types) {
    kind.type = type;
    for (size_t op = 0; op < ops; ++op) {
      kind.op = sweep.ops[op];
      for (size_t root = 0; root < roots; ++root) {
        kind.root = sweep.roots[root];
        AddSizes(sweep, kind, &sizes);
      }
    }
  }
  return sizes;
}

}  // namespace drydock
