// "Do the programs of the sharded frameworks end on all ranks, for each layout?"
#include <gmock/gmock.h>

#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

const std::vector<Overrides> kSharing = {
    {"fsdp.version=2"},
    {"fsdp.version=2", "training.recompute=selective"},
    {"fsdp.version=2", "training.recompute=full", "fsdp.gradient_sync=last-microbatch"},
    {"fsdp.version=2", "fsdp.reshard_after_forward=never", "fsdp.reduce_type=bf16"},
    {"fsdp.version=2", "fsdp.replicas=2"},
    {"fsdp.version=2", "fsdp.backward_prefetch=false"},
    {"fsdp.version=1"},
    {"fsdp.version=1", "fsdp.limit_all_gathers=false", "fsdp.replicas=2"},
    {"training.framework=deepspeed", "zero.stage=1"},
    {"training.framework=deepspeed", "zero.stage=1", "training.precision=fp16"},
    {"training.framework=deepspeed", "zero.stage=2", "zero.reduce_bucket_size=30000"},
    {"training.framework=deepspeed", "zero.stage=2", "zero.overlap_comm=true",
     "zero.reduce_bucket_size=30000"},
    {"training.framework=deepspeed", "zero.stage=3", "training.recompute=full",
     "zero.param_persistence_threshold=64"},
    {"training.framework=deepspeed", "zero.stage=3", "zero.prefetch_bucket_size=9000",
     "zero.max_reuse_distance=20000", "zero.max_live_parameters=90000",
     "zero.param_persistence_threshold=64", "zero.overlap_comm=false"}};

const std::vector<Overrides> kLayouts = {
    {"parallel.data=4", "training.global_batch=24"},
    {"parallel.data=4", "parallel.tensor=2", "parallel.sequence_parallel=true",
     "training.global_batch=16"},
    {"parallel.data=4", "parallel.pipeline=2", "training.global_batch=32"},
    {"parallel.data=4", "parallel.pipeline=2", "parallel.virtual_pipeline=2",
     "training.global_batch=32"},
    {"parallel.data=4", "parallel.pipeline=3", "parallel.first_stage_layers=2",
     "training.global_batch=40"}};

// Counts the GPUs of a layout, two per host.
int HostsOf(const Overrides& overrides) {
  int gpus = 1;
  for (const std::string& text : overrides) {
    for (const char* key : {"parallel.data=", "parallel.tensor=", "parallel.pipeline="}) {
      if (text.starts_with(key)) gpus *= std::stoi(text.substr(std::string(key).size()));
    }
  }
  return gpus / 2;
}

TEST(ShardedStructure, EveryProgramRunsToItsEnd) {
  int ran = 0;
  for (const Overrides& sharing : kSharing) {
    for (const Overrides& layout : kLayouts) {
      Overrides all = sharing;
      all.insert(all.end(), layout.begin(), layout.end());
      SCOPED_TRACE(testing::PrintToString(all));
      const TrainingJob job = *ParseShardedJob(all);
      if (!MakeFramework(job.training.framework)->Check(job).ok()) continue;
      EXPECT_EQ(StructureMistake(ShardedWorkload(all, HostsOf(all), 2)), "");
      ++ran;
    }
  }
  // All pairs except DeepSpeed with interleaving, and stages 2 and 3 with a pipeline.
  EXPECT_EQ(ran, 14 * 5 - 6 - 4 * 2);
}

}  // namespace
}  // namespace drydock
