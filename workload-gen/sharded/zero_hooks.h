// DeepSpeed's ZeRO around a stage's modules.
//
//   stages 1 and 2 (stage_1_and_2.py): whole parameters on every rank; gradients are reduced in
//   buckets, stage 1 as the last micro-batch gives them (with a pipeline: after its end), stage 2
//   with every micro-batch; after the step the updated shares are gathered.
//   stage 3 (stage3.py): parameters are gathered module by module as well (zero_fetch.h).
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_HOOKS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_HOOKS_H_

#include <vector>

#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/zero_buckets.h"
#include "workload-gen/sharded/zero_fetch.h"
#include "workload-gen/sharded/zero_trace.h"

namespace drydock {

// Elements of each parameter of a stage's ranks, in registration order.
std::vector<int64_t> StageParameters(const TorchContext& context);
// Of the experts among them, which StageParameters leaves out.
int64_t StageExpertElements(const TorchContext& context);

class ZeroHooks : public ShardingHooks {
 public:
  explicit ZeroHooks(const TorchContext& context);

  void AfterModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterWork(const StageWork& work) override;
  void Finish() override;

 private:
  const TorchContext& t_;
  const WriterContext& c_;
  const ZeroRules& rules_;
  ZeroBuckets buckets_, expert_buckets_;
};

class Zero3Hooks : public ShardingHooks {
 public:
  explicit Zero3Hooks(const TorchContext& context);

  void BeforeModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterWork(const StageWork& work) override;
  void Finish() override;

 private:
  void Start(int gather);
  void Wait(int gather);

  const TorchContext& t_;
  const WriterContext& c_;
  ZeroTrace trace_;
  Offload offload_;
  ZeroBuckets buckets_;
  ZeroFetchPlan plan_;
  std::vector<ProgramBuilder::OpId> running_;  // by gather
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_HOOKS_H_
