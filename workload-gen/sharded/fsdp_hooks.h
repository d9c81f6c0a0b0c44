// Adds the ops of PyTorch's Fully Sharded Data Parallel around a stage's groups, in the order in
// which PyTorch's host code issues them:
//
//   Version 2 (fully_shard, _fsdp_param_group.py) runs one all-gather and one reduce-scatter per
//   group on one communicator. In forward, a group's all-gather starts after the copy-out of the
//   group two before it, so two all-gathers are in flight. In backward, it starts after the
//   copy-out of the previous group. Copies run between the flat buffer and the parameters. Before a
//   gradient is reduced, compute waits for the previous reduction. Version 1
//   (FullyShardedDataParallel) uses one flat parameter per layer and no copies. The embedding, the
//   final norm and the head share one flat parameter, which stays gathered.
//
// With replicas (HSDP), an all-reduce over the replicas follows each reduce-scatter.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_HOOKS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_HOOKS_H_

#include <vector>

#include "workload-gen/sharded/held_tensors.h"
#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/shard_step.h"
#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

// The rules of the job, with kDefault resolved.
struct FsdpPlan {
  int version = 2;
  int shards = 1;
  int replicas = 1;
  bool reshard = true;          // free the parameters after a group's forward
  bool reshard_last = false;    // also after the last group's forward
  bool sync_every = true;       // reduce gradients after each micro-batch
  bool sync_after_all = false;  // reduce them after the stage's last backward, by group
  bool backward_prefetch = true;
  bool limit_all_gathers = true;
  DataType reduce_type = DataType::kFp32;
  bool offload = false;
};
FsdpPlan MakeFsdpPlan(const TrainingJob& job, const ParallelLayout& layout);

// Parameters that one all-gather collects.
struct FsdpUnit {
  int64_t elements = 0;  // padded to a multiple of the shards
  bool stays = false;    // gathered from its first forward to its last backward
  int first = 0;         // its first group in forward order, the last in backward order
  int shards = 1;
  bool experts = false;      // sharded over the ranks that hold the same experts
  int64_t fp8_elements = 0;  // the part of `elements` that is gathered in fp8

  int64_t share() const { return elements / shards; }
  // Of the gathered parameters. `element`: of one that is not in fp8.
  int64_t bytes(int64_t element) const {
    return fp8_elements + (elements - fp8_elements) * element;
  }
};

// The units of a chunk in forward order, and the units of each of the chunk's groups.
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
  void BeforeModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterWork(const StageWork& work) override;
  bool SumsParts() const override { return plan_.version == 2; }
  void Finish() override;

  std::vector<HeldChange> TakeHeld() { return held_.Take(); }

 private:
  using OpId = ProgramBuilder::OpId;
  using Tensor = HeldTensors::Tensor;
  struct State {
    bool gathered = false;
    OpId gather = ProgramBuilder::kNothing;  // the all-gather in flight
    Tensor flat, whole;                      // the all-gather's buffer; the parameters
    std::vector<Tensor> gradients;           // as autograd makes them
    Tensor sum;                              // of the gradients of several micro-batches
    Tensor share;                            // of the gradients, after their reduction
  };
  struct Chunk {
    FsdpUnits units;
    std::vector<State> states;
  };

  bool NeedsGather(const FsdpUnit& unit) const { return unit.shards > 1 || plan_.offload; }
  // Returns the units of the group `ahead` positions after this one in forward order, or none.
  const std::vector<size_t>& UnitsAt(const GroupPass& pass, int ahead) const;
  bool HasGroup(const GroupPass& pass, int ahead) const { return !UnitsAt(pass, ahead).empty(); }
  bool IsLast(const GroupPass& pass) const;
  bool Syncs(const GroupPass& pass) const;
  bool accumulates() const { return !plan_.sync_every && c_.layout.microbatches > 1; }
  // Does nothing if the unit is gathered, in flight or absent.
  void Start(Chunk* chunk, const std::vector<size_t>& units);
  void Start(Chunk* chunk, size_t unit);
  void Use(Chunk* chunk, size_t unit);
  // True if the parameters are copies of what an all-gather has written to its buffer.
  bool copies() const { return plan_.version == 2; }
  void HoldWhole(const FsdpUnit& unit, State* state);
  void HoldReduced(const FsdpUnit& unit, State* state);
  void ReduceUnit(const GroupPass& pass, size_t unit);
  void StartAll(const GroupPass& pass);
  void CopyOut(const FsdpUnit& unit);
  int64_t BytesOf(const FsdpUnit& unit) const;  // when it is gathered
  void Accumulate(const FsdpUnit& unit, State* state, bool first);
  void SumUnit(int chunk, size_t unit);
  void Reduce(const FsdpUnit& unit, State* state);
  OpId ReduceOverRanks(const FsdpUnit& unit);
  void StoreGradient(const FsdpUnit& unit, OpId reduction);
  void Optimize();
  void ScaleWeights();
  void OptimizeOnHost(ShardStep* step);

  const TorchContext& t_;
  const WriterContext& c_;
  ProgramBuilder& b_;
  FsdpPlan plan_;
  Offload offload_;
  HeldTensors held_;
  Tensor last_flat_;                 // of the latest all-gather of a forward
  Tensor reduced_;                   // the input of the latest reduction
  std::vector<Tensor> all_reduced_;  // shares of this backward that replicas reduce
  std::vector<Chunk> chunks_;
  OpId scatter_ = ProgramBuilder::kNothing;  // the latest
  std::vector<OpId> reductions_;             // the last op of each unit's reduction
  int reduced_microbatches_ = 0;             // before the current one
  int64_t share_ = 0;                        // elements that this rank's optimizer updates
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_HOOKS_H_
