// PyTorch's Fully Sharded Data Parallel around a stage's groups, as its host code issues it:
//
//   version 2 (fully_shard, _fsdp_param_group.py): an all-gather and a reduce-scatter per group on
//   one communicator. Forward, a group's all-gather starts once the group two before it was copied
//   out, so two are on their way; backward, once the group before it was. Copies run between the
//   flat buffer and the parameters. Before a gradient is reduced, compute waits for the previous
//   reduction.
//   version 1 (FullyShardedDataParallel): the same over one flat parameter per layer, without
//   copies; the embedding, the final norm and the head are one that stays gathered.
//
// With replicas (HSDP) each shard's gradient is then summed over the replicas.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_HOOKS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_HOOKS_H_

#include <vector>

#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/shard_step.h"
#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

// The rules with what kDefault stands for filled in.
struct FsdpPlan {
  int version = 2;
  int shards = 1;
  int replicas = 1;
  bool reshard = true;          // after a group's forward
  bool reshard_last = false;    // the last group's too
  bool sync_every = true;       // gradients are reduced after every micro-batch
  bool sync_after_all = false;  // ... after the last backward of the stage, group after group
  bool backward_prefetch = true;
  bool limit_all_gathers = true;
  DataType reduce_type = DataType::kFp32;
  bool offload = false;
};
FsdpPlan MakeFsdpPlan(const TrainingJob& job, const ParallelLayout& layout);

// What is gathered together.
struct FsdpUnit {
  int64_t elements = 0;  // padded to the shards
  bool stays = false;    // gathered from its first forward to its last backward
  int first = 0;         // its first group in forward order, the last in backward order
  int shards = 1;
  bool experts = false;  // shared by the ranks that hold the same experts

  int64_t share() const { return elements / shards; }
};

// The units of a chunk in forward order, and for each of the chunk's groups its unit.
struct FsdpUnits {
  std::vector<FsdpUnit> units;
  std::vector<std::vector<size_t>> of_group;
};
FsdpUnits MakeFsdpUnits(const TorchContext& context, const FsdpPlan& plan, int chunk);

class FsdpHooks : public ShardingHooks {
 public:
  FsdpHooks(const TorchContext& context, const FsdpPlan& plan);

  void BeforeForward(const GroupPass& pass) override;
  void AfterForward(const GroupPass& pass) override;
  void BeforeBackward(const GroupPass& pass) override;
  void AfterBackward(const GroupPass& pass) override;
  void Finish() override;

 private:
  using OpId = ProgramBuilder::OpId;
  struct State {
    bool gathered = false;
    OpId gather = ProgramBuilder::kNothing;  // on its way
  };
  struct Chunk {
    FsdpUnits units;
    std::vector<State> states;
  };

  bool comes(const FsdpUnit& unit) const { return unit.shards > 1 || plan_.offload; }
  // Of the group `ahead` of this one in the chunk's forward order; none beyond its ends.
  const std::vector<size_t>& UnitsAt(const GroupPass& pass, int ahead) const;
  bool HasGroup(const GroupPass& pass, int ahead) const { return !UnitsAt(pass, ahead).empty(); }
  bool IsLast(const GroupPass& pass) const;
  bool Syncs(const GroupPass& pass) const;
  // No-ops where the unit is gathered, or on its way, or there is none.
  void Start(Chunk* chunk, const std::vector<size_t>& units);
  void Start(Chunk* chunk, size_t unit);
  void Use(Chunk* chunk, size_t unit);
  void ReduceUnit(const GroupPass& pass, size_t unit);
  void StartAll(const GroupPass& pass);
  void CopyOut(const FsdpUnit& unit);
  void Accumulate(const FsdpUnit& unit, bool first);
  void Reduce(const FsdpUnit& unit);
  OpId ReduceOverRanks(const FsdpUnit& unit);
  void StoreGradient(const FsdpUnit& unit, OpId reduction);
  void Optimize();
  void OptimizeOnHost(ShardStep* step);

  const TorchContext& t_;
  const WriterContext& c_;
  ProgramBuilder& b_;
  FsdpPlan plan_;
  Offload offload_;
  std::vector<Chunk> chunks_;
  OpId scatter_ = ProgramBuilder::kNothing;  // the last
  std::vector<OpId> reductions_;             // the last op of each unit's
  int reduced_microbatches_ = 0;             // before the one at hand
  int64_t share_ = 0;                        // elements this rank's optimizer updates
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_HOOKS_H_
