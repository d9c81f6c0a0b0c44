// The data-parallel ranks of a layout in `replicas` groups that each hold one whole model between
// them (HSDP). Ranks next to each other share a model; with one replica the shard group is the
// data-parallel group.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_GROUPS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_GROUPS_H_

#include "core/model/workload.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/layout/process_groups.h"

namespace drydock {

struct ShardRoles {
  Role shard = kDataRole;    // ranks that hold one model between them
  Role replica = kDataRole;  // ranks that hold the same part of it
};

// Adds both roles to a workload whose groups BuildGroups made.
ShardRoles AddShardGroups(const ParallelLayout& layout, int replicas, Workload* workload);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_SHARD_GROUPS_H_
