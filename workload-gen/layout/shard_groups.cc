#include "workload-gen/layout/shard_groups.h"

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

Role AddRole(const char* name, Dimension dimension, Workload* workload) {
  const auto role = static_cast<Role>(workload->roles.size());
  workload->roles.push_back({name, dimension});
  workload->group_of_rank.emplace_back(workload->group_of_rank[kDataRole].size(), -1);
  return role;
}

// Divides each group that spans `axes` into parts of `size` consecutive members.
void AssignParts(Role role, const std::vector<std::vector<int>>& groups, int size,
                 Workload* workload) {
  for (const std::vector<int>& group : groups) {
    for (auto from = group.begin(); from != group.end(); from += size) {
      Assign(role, {from, from + size}, workload);
    }
  }
}

}  // namespace

ShardRoles AddShardGroups(const ParallelLayout& layout, int replicas, Workload* workload) {
  if (replicas == 1) return {};
  CHECK(layout.gradient_ranks() % replicas == 0);
  ShardRoles roles;
  roles.shard = AddRole("dp-shard", Dimension::kData, workload);
  roles.replica = AddRole("dp-replicate", Dimension::kData, workload);
  const auto shards = static_cast<size_t>(layout.gradient_ranks() / replicas);
  for (const std::vector<int>& data : EnumerateGroups(layout, "cd")) {
    AssignParts(roles.shard, {data}, static_cast<int>(shards), workload);
    for (size_t shard = 0; shard < shards; ++shard) {
      std::vector<int> copies;
      for (size_t i = shard; i < data.size(); i += shards) copies.push_back(data[i]);
      Assign(roles.replica, copies, workload);
    }
  }
  return roles;
}

ShardRoles AddInstanceGroups(const ParallelLayout& layout, bool experts, Workload* workload) {
  if (layout.instances == 1) return {};
  ShardRoles roles = AddShardGroups(layout, layout.instances, workload);
  if (experts) {
    roles.expert_shard = AddRole("edp-shard", Dimension::kData, workload);
    AssignParts(roles.expert_shard, EnumerateGroups(layout, "d", Grid::kExpert),
                layout.expert_shard_ranks(), workload);
  }
  // An instance has consecutive positions of data parallelism and all of the others.
  roles.instance = AddRole("dp-instance", Dimension::kWorld, workload);
  std::vector<int> ranks;
  for (const std::vector<int>& model : EnumerateGroups(layout, "tep", Grid::kExpert)) {
    ranks.insert(ranks.end(), model.begin(), model.end());
  }
  AssignParts(roles.instance, {ranks}, layout.world() / layout.instances, workload);
  return roles;
}

}  // namespace drydock
