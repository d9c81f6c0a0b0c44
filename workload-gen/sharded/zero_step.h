// The step of DeepSpeed's ZeRO optimizers after the last reduction: check of overflow, norm, Adam
// on this rank's share, and the all-gather of the shares.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_STEP_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_STEP_H_

#include "workload-gen/sharded/held_tensors.h"
#include "workload-gen/sharded/shard_step.h"

namespace drydock {

class ZeroStep {
 public:
  ZeroStep(const WriterContext& context, HeldTensors* held)
      : c_(context), step_(context), held_(held) {}

  // `elements` counts all parameters of the stage's ranks except experts, `persistent` the elements
  // that stay gathered in stage 3, `expert_elements` the parameters of experts.
  void Write(int64_t elements, const std::vector<int64_t>& persistent, int64_t expert_elements);

 private:
  void CheckOverflowAndNorm(int64_t share);
  void Update(int64_t share);
  void UpdateOnHost(int64_t elements);
  // The ranks over which parameters are sharded.
  struct Owners {
    Role role = kDataRole;
    Stream stream = kDataStream;
    int ranks = 1;
    int64_t ShareOf(int64_t elements) const;
  };
  // Stages 1 and 2: gathers one share per rank, at once or in buckets of allgather_bucket_size.
  void GatherShares(const Owners& owners, int64_t share);
  void Gather(const Owners& owners, int64_t elements);
  // Stage 3: each parameter that stays gathered has a call; all are waited for at the end.
  void GatherEach(const Owners& owners, const std::vector<int64_t>& parameters);

  const WriterContext& c_;
  ShardStep step_;
  HeldTensors* const held_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_STEP_H_
