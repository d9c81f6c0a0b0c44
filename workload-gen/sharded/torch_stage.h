// Writes a pipeline stage's schedule over a TorchModel, module by module, and calls the hooks of
// whoever shares the model's states out: there FSDP and ZeRO put their communication.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_STAGE_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_STAGE_H_

#include <vector>

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"
#include "workload-gen/sharded/shard_groups.h"
#include "workload-gen/sharded/torch_model.h"
#include "workload-gen/stages/pipeline_exchange.h"

namespace drydock {

// A group's place in the program. `group`: -1 the embedding, a layer, or the number of layers for
// the head.
struct GroupPass {
  int group = 0;
  int microbatch = 0;
  int chunk = 0;
};

enum class ModulePass : uint8_t { kForward, kRecompute, kBackward };

class ShardingHooks {
 public:
  virtual ~ShardingHooks() = default;

  // Around a group; its recomputation belongs to its backward. Phase and place are set.
  virtual void BeforeForward(const GroupPass&) {}
  virtual void AfterForward(const GroupPass&) {}
  virtual void BeforeBackward(const GroupPass&) {}
  virtual void AfterBackward(const GroupPass&) {}
  // Around a module of it (by index).
  virtual void BeforeModule(const GroupPass&, ModulePass, size_t /*module*/) {}
  virtual void AfterModule(const GroupPass&, ModulePass, size_t /*module*/) {}
  // A stage's pass over a micro-batch is done.
  virtual void AfterWork(const StageWork&) {}
  // After the last: the rest of the gradients, the optimizer.
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
  // The groups of a chunk of this stage, in forward order.
  std::vector<int> GroupsOf(int chunk) const;
};

// Writes the whole program.
void WriteTorchStage(const TorchContext& context, ShardingHooks* hooks);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_TORCH_STAGE_H_
