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

class ZeroHooks : public ShardingHooks {
 public:
  explicit ZeroHooks(const TorchContext& context);

  void BeforeForward(const GroupPass& pass) override;
  void AfterModule(const GroupPass& pass, ModulePass part, size_t module) override;
  void AfterWork(const StageWork& work) override;
  void Finish() override;

 private:
  bool reduces_at_end() const;
  // Where a module's parameters begin in the flat buffer of the stage's parameters.
  int64_t OffsetOf(int group, size_t module) const;

  const TorchContext& t_;
  const WriterContext& c_;
  const ZeroRules& rules_;
  ZeroBuckets buckets_, expert_buckets_;
  std::map<std::pair<int, size_t>, int64_t> offsets_;  // by group and module
};

class Zero3Hooks : public ShardingHooks {
 public:
  explicit Zero3Hooks(const TorchContext& context);

  void BeforeForward(const GroupPass& pass) override;
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
