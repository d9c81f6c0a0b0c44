// Divides the data-parallel ranks of a layout into `replicas` shard groups (HSDP), or into the
// instances of Megatron's distributed optimizer. The consecutive ranks of a shard group hold one
// model, or all states. With one replica, the shard group is the data-parallel group.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYOUT_SHARD_GROUPS_H_
#define DRYDOCK_WORKLOAD_GEN_LAYOUT_SHARD_GROUPS_H_

#include "core/model/workload.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/layout/process_groups.h"

namespace drydock {

struct ShardRoles {
  Role shard = kDataRole;    // ranks that together hold one model
  Role replica = kDataRole;  // ranks that hold the same shard
  Role expert_shard = kExpertDataRole;
  Role instance = kWorldRole;  // all ranks of an instance of the optimizer
};

// Adds both roles to the workload. REQUIRES: BuildGroups made its groups.
ShardRoles AddShardGroups(const ParallelLayout& layout, int replicas, Workload* workload);
// Adds the roles of layout.instances; with `experts`, also that of the ranks that hold the same
// experts.
ShardRoles AddInstanceGroups(const ParallelLayout& layout, bool experts, Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYOUT_SHARD_GROUPS_H_
