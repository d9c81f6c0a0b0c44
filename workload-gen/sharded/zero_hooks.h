// Adds the ops of DeepSpeed's ZeRO around a stage's modules.
//
//   Stages 1 and 2 (stage_1_and_2.py): Each rank holds whole parameters. Gradients are reduced in
//   buckets: in stage 1 during the last micro-batch (with a pipeline: after its end), in stage 2
//   during each micro-batch. After the optimizer, the updated shares are gathered.
//   Stage 3 (stage3.py): Parameters are sharded too and gathered module by module (zero_fetch.h).
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_HOOKS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_HOOKS_H_

#include <map>
#include <utility>
#include <vector>

#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/zero_buckets.h"
#include "workload-gen/sharded/zero_fetch.h"
#include "workload-gen/sharded/zero_trace.h"

namespace drydock {

// Returns the elements of each parameter of a stage's ranks, in registration order.
std::vector<int64_t> StageParameters(const TorchContext& context);
// The same for experts, which StageParameters omits.
int64_t StageExpertElements(const TorchContext& context);
// Stages 1 and 2: the elements of the parameters of which a rank updates a part, at most of any
// rank. copy_grads_in_partition of stage_1_and_2.py keeps their whole gradients.
int64_t OwnGradients(const std::vector<int64_t>& parameters, int64_t share);

class ZeroHooks : public ShardingHooks {
 public:
  explicit ZeroHooks(const TorchContext& context);

  void BeforeForward(const GroupPass& pass) override;
  void BeforeModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterWork(const StageWork& work) override;
  void Finish() override;

  std::vector<HeldChange> TakeHeld() { return held_.Take(); }

 private:
  using Tensor = HeldTensors::Tensor;

  bool reduces_at_end() const;
  // Where a module's parameters begin in the flat buffer of the stage's parameters.
  int64_t OffsetOf(int group, size_t module) const;
  int64_t TypeBytes() const { return SizeOf(c_.job.training.precision.type).count(); }
  void ReduceModule(const GroupPass& pass, size_t module);
  void HoldBuckets();
  void HoldOwn();

  const TorchContext& t_;
  const WriterContext& c_;
  const ZeroRules& rules_;
  HeldTensors held_;
  ZeroBuckets buckets_, expert_buckets_;
  std::map<std::pair<int, size_t>, int64_t> offsets_;  // by group and module
  int64_t own_ = 0;                                    // OwnGradients
  std::vector<Tensor> gradients_;  // of the module that runs backward, by parameter
  std::vector<Tensor> sums_;       // stage 1: of all gradients over the micro-batches
  std::vector<Tensor> bucket_buffers_;
  Tensor own_gradients_, own_sums_;  // stage 2: of the parameters that this rank updates
};

class Zero3Hooks : public ShardingHooks {
 public:
  explicit Zero3Hooks(const TorchContext& context);

  void BeforeForward(const GroupPass& pass) override;
  void BeforeModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterWork(const StageWork& work) override;
  void Finish() override;

  std::vector<HeldChange> TakeHeld() { return held_.Take(); }

 private:
  using Tensor = HeldTensors::Tensor;

  int64_t TypeBytes() const { return SizeOf(c_.job.training.precision.type).count(); }
  // Returns the step before a module, or null.
  const ZeroFetchStep* StepOf(const GroupPass& pass, ModulePass part, size_t module) const;
  void FetchFor(const GroupPass& pass, ModulePass part, size_t module);
  void Begin();
  void Start(int gather);
  void Wait(int gather);
  void HoldParameters(int gather);
  void Use(const std::vector<int>& parameters);

  const TorchContext& t_;
  const WriterContext& c_;
  ZeroTrace trace_;
  Offload offload_;
  HeldTensors held_;
  ZeroBuckets buckets_;
  ZeroFetchPlan plan_;
  std::vector<ProgramBuilder::OpId> running_;  // by gather
  std::vector<Tensor> flat_;                   // the buffers of gathers
  std::vector<size_t> unused_;                 // parameters of gathers that no module used yet
  std::vector<int> gather_of_;                 // the gather of a parameter until its use, or -1
  std::vector<Tensor> whole_;                  // by parameter
  std::vector<Tensor> gradients_;              // of the module that runs backward, by parameter
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_HOOKS_H_
