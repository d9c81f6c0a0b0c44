#include "workload-gen/sharded/shard_groups.h"

#include <algorithm>

#include "core/base/check.h"

namespace drydock {
namespace {

// The group with these members, made if there is none.
int GroupOf(const std::vector<int>& ranks, Workload* workload) {
  const auto place = std::find_if(workload->groups.begin(), workload->groups.end(),
                                  [&](const Group& group) { return group.ranks == ranks; });
  const auto index = static_cast<int>(place - workload->groups.begin());
  if (place == workload->groups.end()) workload->groups.push_back({ranks});
  return index;
}

void Assign(Role role, const std::vector<int>& ranks, Workload* workload) {
  if (ranks.size() < 2) return;
  const int group = GroupOf(ranks, workload);
  for (const int rank : ranks) workload->group_of_rank[role][static_cast<size_t>(rank)] = group;
}

Role AddRole(const char* name, Workload* workload) {
  const auto role = static_cast<Role>(workload->roles.size());
  workload->roles.push_back({name, Dimension::kData});
  workload->group_of_rank.emplace_back(workload->group_of_rank[kDataRole].size(), -1);
  return role;
}

}  // namespace

ShardRoles AddShardGroups(const ParallelLayout& layout, int replicas, Workload* workload) {
  if (replicas == 1) return {};
  CHECK(layout.gradient_ranks() % replicas == 0);
  const ShardRoles roles = {AddRole("dp-shard", workload), AddRole("dp-replicate", workload)};
  const auto shards = static_cast<size_t>(layout.gradient_ranks() / replicas);
  for (const std::vector<int>& data : EnumerateGroups(layout, "cd")) {
    for (size_t begin = 0; begin < data.size(); begin += shards) {
      const auto from = data.begin() + static_cast<std::ptrdiff_t>(begin);
      Assign(roles.shard, {from, from + static_cast<std::ptrdiff_t>(shards)}, workload);
    }
    for (size_t shard = 0; shard < shards; ++shard) {
      std::vector<int> copies;
      for (size_t i = shard; i < data.size(); i += shards) copies.push_back(data[i]);
      Assign(roles.replica, copies, workload);
    }
  }
  return roles;
}

}  // namespace drydock
