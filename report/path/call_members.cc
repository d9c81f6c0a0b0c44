#include "report/path/call_members.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {

CallMembers::CallMembers(const Workload& workload)
    : workload_(workload),
      names_(SortedNames(workload)),
      table_of_rank_(static_cast<size_t>(workload.rank_count()), nullptr) {}

CallMembers::Roles CallMembers::RolesOf(int rank) const {
  Roles roles;
  for (const std::vector<int>& groups : workload_.group_of_rank) {
    const int group = groups[static_cast<size_t>(rank)];
    int16_t first = static_cast<int16_t>(roles.size());
    for (int16_t role = 0; role < first; ++role) {
      if (workload_.group_of_rank[static_cast<size_t>(role)][static_cast<size_t>(rank)] == group) {
        first = role;
      }
    }
    roles.push_back(group < 0 ? int16_t{-1} : first);
  }
  return roles;
}

CallMembers::Table CallMembers::MakeTable(int rank, const Roles& roles) const {
  const auto number = static_cast<size_t>(workload_.class_of_rank[static_cast<size_t>(rank)]);
  const Program& program = workload_.programs[number];
  Table table;
  table.number.resize(program.ops.size());
  CallCounter counter(names_);
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!IsCommunication(op.kind)) continue;
    const int16_t role = roles[op.role];
    table.number[i] = counter.Next(role, op, workload_.calls[op.work]);
    table.entries.push_back({role, table.number[i], i});
  }
  std::sort(table.entries.begin(), table.entries.end());
  return table;
}

const CallMembers::Table& CallMembers::TableOf(int rank) {
  const Table*& table = table_of_rank_[static_cast<size_t>(rank)];
  if (table != nullptr) return *table;
  const Roles roles = RolesOf(rank);
  const std::pair key(workload_.class_of_rank[static_cast<size_t>(rank)], roles);
  auto found = tables_.find(key);
  if (found == tables_.end()) found = tables_.emplace(key, MakeTable(rank, roles)).first;
  table = &found->second;
  return *table;
}

std::vector<CallMembers::Member> CallMembers::Of(int rank, uint32_t op) {
  const auto number = static_cast<size_t>(workload_.class_of_rank[static_cast<size_t>(rank)]);
  const Op& what = workload_.programs[number].ops[op];
  CHECK(IsCommunication(what.kind));
  const int group = workload_.group_of_rank[what.role][static_cast<size_t>(rank)];
  const uint64_t call = TableOf(rank).number[op];
  std::vector<Member> members;
  for (const int other : workload_.groups[static_cast<size_t>(group)].ranks) {
    int16_t role = 0;
    while (workload_.group_of_rank[static_cast<size_t>(role)][static_cast<size_t>(other)] !=
           group) {
      if (++role == static_cast<int16_t>(workload_.roles.size())) break;
    }
    if (role == static_cast<int16_t>(workload_.roles.size())) continue;
    const std::vector<Entry>& entries = TableOf(other).entries;
    const Entry first{role, call, 0};
    for (auto at = std::lower_bound(entries.begin(), entries.end(), first);
         at != entries.end() && at->role == role && at->number == call; ++at) {
      members.push_back({other, at->op});
    }
  }
  return members;
}

}  // namespace drydock
