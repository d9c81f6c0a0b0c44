#include "core/model/call_numbers.h"

#include <algorithm>

namespace drydock {

std::vector<int32_t> SortedTags(const Workload& workload) {
  std::vector<int32_t> tags;
  for (const Program& program : workload.programs) {
    for (const Op& op : program.ops) {
      if (IsPointToPoint(op)) tags.push_back(op.tag);
    }
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  }
  return tags;
}

uint64_t CallCounter::Next(int group, const Op& op, int sender) {
  if (!IsPointToPoint(op)) return collectives_[group]++ * 2;
  const auto tag =
      static_cast<uint64_t>(std::lower_bound(tags_.begin(), tags_.end(), op.tag) - tags_.begin());
  const uint64_t occurrence = occurrences_[{group, sender, tag}]++;
  return ((occurrence * tags_.size() + tag) * 2 + (sender != 0 ? 1 : 0)) * 2 + 1;
}

}  // namespace drydock
