// Divides the data-parallel ranks of a layout into `replicas` shard groups (HSDP). The consecutive
// ranks of a shard group hold one model. With one replica, the shard group is the data-parallel
// group.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_GROUPS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_GROUPS_H_

#include "core/model/workload.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/layout/process_groups.h"

namespace drydock {

struct ShardRoles {
  Role shard = kDataRole;    // ranks that together hold one model
  Role replica = kDataRole;  // ranks that hold the same shard
};

// Adds both roles to the workload. REQUIRES: BuildGroups made its groups.
ShardRoles AddShardGroups(const ParallelLayout& layout, int replicas, Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_GROUPS_H_
