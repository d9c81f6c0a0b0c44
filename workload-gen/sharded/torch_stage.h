// Writes a pipeline stage's schedule over a TorchModel, module by module. It calls ShardingHooks,
// through which FSDP and ZeRO add their communication.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_STAGE_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_STAGE_H_

#include <vector>

#include "workload-gen/layout/shard_groups.h"
#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"
#include "workload-gen/sharded/torch_model.h"
#include "workload-gen/stages/pipeline_exchange.h"

namespace drydock {

// A group's place in the program. `group` is -1 for the embedding, the index of a layer, or the
// number of layers for the head.
struct GroupPass {
  int group = 0;
  int microbatch = 0;
  int chunk = 0;
};

enum class ModulePass : uint8_t { kForward, kRecompute, kBackward };

class ShardingHooks {
 public:
  virtual ~ShardingHooks() = default;

  // Called around a group, whose recomputation belongs to its backward, without the loss, which is
  // behind the model. Phase and place are set.
  virtual void BeforeForward(const GroupPass&) {}
  virtual void AfterForward(const GroupPass&) {}
  virtual void BeforeBackward(const GroupPass&) {}
  virtual void AfterBackward(const GroupPass&) {}
  // Called around a module of the group, by index.
  virtual void BeforeModule(const GroupPass&, ModulePass, size_t /*module*/) {}
  virtual void AfterModule(const GroupPass&, ModulePass, size_t /*module*/) {}
  // Called after a stage's pass over a micro-batch.
  virtual void AfterWork(const StageWork&) {}
  // True if the hooks sum gradients that are partial sums (SumParts). Otherwise they are summed
  // behind the backward of their module.
  virtual bool SumsParts() const { return false; }
  // Called after the last micro-batch: reduces the remaining gradients and runs the optimizer.
  virtual void Finish() = 0;
};

struct TorchContext {
  const WriterContext& writer;
  const TorchModel& model;
  ShardRoles roles;

  int layers() const { return writer.job.model.layers; }
  const TorchGroup& Group(int group) const {
    if (group < 0) return model.embedding;
    if (group >= layers()) return model.head;
    return model.blocks[model.kind_of_layer[static_cast<size_t>(group)]];
  }
  // Returns the groups of a chunk of this stage, in forward order.
  std::vector<int> GroupsOf(int chunk) const;
};

// Sums a module's gradients over the tensor ranks if they are partial sums.
void SumParts(const WriterContext& context, const TorchModule& module, DataType type);

// Writes the stage's whole program.
void WriteTorchStage(const TorchContext& context, ShardingHooks* hooks);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_STAGE_H_
