#include "core/model/calls/call_numbers.h"

#include <algorithm>

#include "core/model/calls/grouped_call.h"

namespace drydock {

namespace {

// The name of a group of messages differs from that of a message, as no message has the root -1.
MessageName NameOf(const Op& op, const CommCall& call) {
  if (IsPointToPoint(op)) return {op.tag, call.root, call.peer};
  return {op.tag, -1, static_cast<int>(op.work)};
}

bool IsNamed(const Op& op, const CommCall& call) {
  return IsPointToPoint(op) || InvolvesSubset(call);
}

}  // namespace

std::vector<MessageName> SortedNames(const Workload& workload) {
  std::vector<MessageName> names;
  for (const Program& program : workload.programs) {
    const auto middle = static_cast<ptrdiff_t>(names.size());
    for (const Op& op : program.ops) {
      if (!IsCommunication(op.kind) || !IsNamed(op, workload.calls[op.work])) continue;
      names.push_back(NameOf(op, workload.calls[op.work]));
    }
    std::sort(names.begin() + middle, names.end());
    std::inplace_merge(names.begin(), names.begin() + middle, names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return names;
}

uint64_t CallCounter::Next(int group, const Op& op, const CommCall& call) {
  if (!IsNamed(op, call)) return collectives_[group]++ * 2;
  const auto name = static_cast<uint64_t>(
      std::lower_bound(names_.begin(), names_.end(), NameOf(op, call)) - names_.begin());
  const uint64_t occurrence = occurrences_[{group, name}]++;
  return (occurrence * names_.size() + name) * 2 + 1;
}

}  // namespace drydock
