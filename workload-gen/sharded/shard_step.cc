#include "workload-gen/sharded/shard_step.h"

#include "workload-gen/work/layer_work.h"

namespace drydock {

uint32_t AccumulationWork(const char* name, DataType type, bool into_fp32, int64_t elements,
                          WorkTables* tables) {
  return StepWork(name, submodule::Add{.rows = elements, .n = 1, .accumulate_fp32 = into_fp32},
                  type, tables);
}

void ShardStep::AllReduce(Role role, Stream stream, int size, DataType type, ReduceOp op) {
  CommCall call;
  call.type = type;
  call.op = op;
  call.count = 1;
  call.group_size = size;
  c_.builder->Collective(role, stream, call);
}

void ShardStep::AllReduceOverModel(Role role, Stream stream, int size, DataType type, ReduceOp op) {
  AllReduce(role, stream, size, type, op);
  AllReduce(kTensorRole, kTensorStream, c_.layout.tensor, type, op);
  AllReduce(kPipelineRole, kModelStream, c_.layout.pipeline, type, op);
}

void ShardStep::Compute(const char* name, const SubmoduleWork& work, DataType type) {
  c_.builder->Compute(StepWork(name, work, type, c_.tables));
}

void ShardStep::Loss() {
  AllReduce(kDataRole, kDataStream, c_.layout.gradient_ranks(), DataType::kFp32, ReduceOp::kSum);
}

}  // namespace drydock
