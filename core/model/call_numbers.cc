#include "core/model/call_numbers.h"

#include <algorithm>

namespace drydock {

namespace {

MessageName NameOf(const Op& op, const CommCall& call) { return {op.tag, call.root, call.peer}; }

}  // namespace

std::vector<MessageName> SortedNames(const Workload& workload) {
  std::vector<MessageName> names;
  for (const Program& program : workload.programs) {
    const auto middle = static_cast<ptrdiff_t>(names.size());
    for (const Op& op : program.ops) {
      if (IsPointToPoint(op)) names.push_back(NameOf(op, workload.calls[op.work]));
    }
    std::sort(names.begin() + middle, names.end());
    std::inplace_merge(names.begin(), names.begin() + middle, names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return names;
}

uint64_t CallCounter::Next(int group, const Op& op, const CommCall& call) {
  if (!IsPointToPoint(op)) return collectives_[group]++ * 2;
  const auto name = static_cast<uint64_t>(
      std::lower_bound(names_.begin(), names_.end(), NameOf(op, call)) - names_.begin());
  const uint64_t occurrence = occurrences_[{group, name}]++;
  return (occurrence * names_.size() + name) * 2 + 1;
}

}  // namespace drydock
