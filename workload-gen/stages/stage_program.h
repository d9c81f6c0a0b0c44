// Writes the whole program of one pipeline stage: its schedule, layer by layer, and the end of the
// step. All ranks of the stage run it.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_STAGE_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_STAGE_PROGRAM_H_

#include "core/model/workload.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/layout/shard_groups.h"
#include "workload-gen/work/layer_work.h"
#include "workload-gen/work/work_tables.h"

namespace drydock {

Program WriteStageProgram(const TrainingJob& job, const ParallelLayout& layout,
                          const RankWork& work, int stage, const ShardRoles& shards,
                          WorkTables* tables);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_STAGE_PROGRAM_H_
