#include "exec-engine/collective_sweep.h"

#include <algorithm>

namespace drydock {
namespace {

constexpr int64_t kPartAlignment = 16;  // bytes

SweepSize SizeOf(const Sweep& sweep, int64_t bytes) {
  const int64_t element = SizeOf(sweep.type).count();
  const int64_t elements = bytes / element;
  SweepSize size;
  size.call = {sweep.collective, sweep.type, sweep.op, elements, sweep.root, 0, sweep.group_size};
  size.count = elements;
  if (HasParts(sweep.collective)) {
    const int64_t unit = std::max<int64_t>(1, kPartAlignment / element);
    size.count = elements / sweep.group_size / unit * unit;
    size.call.count = size.count * sweep.group_size;
  }
  size.size = size.call.bytes();
  return size;
}

}  // namespace

std::vector<SweepSize> SizesOf(const Sweep& sweep) {
  std::vector<SweepSize> sizes;
  const int64_t last = sweep.largest.count();
  for (int64_t bytes = sweep.smallest.count(); bytes <= last;) {
    sizes.push_back(SizeOf(sweep, bytes));
    if (sweep.factor > 1 ? bytes > last / sweep.factor : bytes > last - sweep.increment.count()) {
      break;
    }
    bytes = sweep.factor > 1 ? bytes * sweep.factor : bytes + sweep.increment.count();
  }
  return sizes;
}

double BusFactor(CollectiveType collective, int group_size) {
  const double n = group_size;
  if (collective == CollectiveType::kAllReduce) return 2 * (n - 1) / n;
  return HasParts(collective) ? (n - 1) / n : 1;
}

}  // namespace drydock
