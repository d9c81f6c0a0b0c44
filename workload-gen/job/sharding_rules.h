// How FSDP, DeepSpeed's ZeRO and Megatron-FSDP shard weights, gradients and optimizer states over
// data-parallel ranks: the sections `fsdp`, `zero` and `megatron_fsdp` of model.yaml. Defaults are
// those of the frameworks.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_SHARDING_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_SHARDING_RULES_H_

#include <cstdint>

#include "core/model/gpu.h"

namespace drydock {

// kDefault is the rule of torchtitan. With a pipeline, parameters stay gathered from the first
// forward to the last backward, and gradients are reduced after the last backward. Without a
// pipeline, parameters are resharded and gradients reduced in each micro-batch.
enum class ReshardAfterForward : uint8_t { kDefault, kAlways, kNever };
enum class GradientSync : uint8_t { kDefault, kEveryMicrobatch, kLastMicrobatch };

// The scales of fp8 (torchao): one for a tensor, or one for each row of it.
enum class Fp8Scales : uint8_t { kTensorwise, kRowwise };

struct FsdpRules {
  int version = 2;
  int replicas = 1;  // HSDP: copies of the model among the data-parallel ranks
  ReshardAfterForward reshard_after_forward = ReshardAfterForward::kDefault;
  GradientSync gradient_sync = GradientSync::kDefault;
  DataType reduce_type = DataType::kFp32;
  bool backward_prefetch = true;  // BACKWARD_PRE: gathers one group ahead
  bool limit_all_gathers = true;  // version 1: at most two groups in flight
  bool offload = false;           // the host holds parameters, gradients and optimizer states
  Fp8Scales fp8_recipe = Fp8Scales::kTensorwise;
  bool fp8_all_gather = false;  // weights of linear layers are gathered in fp8
  bool async_tensor = false;    // tensor-parallel communication runs beside parts of GEMMs
};

// What Megatron-FSDP splits over data-parallel ranks (--data-parallel-sharding-strategy).
enum class ParameterSharding : uint8_t {
  kNone,  // Megatron-FSDP is not used
  kNoShard,
  kOptimizer,
  kGradients,  // and the optimizer's states
  kParameters  // and both
};

struct MegatronFsdpRules {
  ParameterSharding sharding = ParameterSharding::kNone;
  bool outer_optimizer = false;        // states are split over instances, too
  bool double_buffer = false;          // two units at most are gathered, and reduced, at a time
  int64_t communication_elements = 0;  // 0: by rule
  bool per_token_loss = false;         // gradients are not divided before each reduction

  bool any() const { return sharding != ParameterSharding::kNone; }
  bool shards_gradients() const { return sharding >= ParameterSharding::kGradients; }
  bool shards_parameters() const { return sharding == ParameterSharding::kParameters; }
};

// DeepSpeed's zero_optimization. Sizes in elements.
struct ZeroRules {
  int stage = 1;
  int64_t reduce_bucket_size = 500000000;
  int64_t allgather_bucket_size = 500000000;
  bool bucketed_allgather = false;  // after the step: by allgather_bucket_size, else one all-gather
  bool reduce_scatter = false;  // stages 1 and 2: buckets are reduce-scattered, else all-reduced
  bool overlap_comm = false;    // the default is true with stage 3
  int64_t prefetch_bucket_size = 50000000;
  int64_t param_persistence_threshold = 100000;
  int64_t max_live_parameters = 1000000000;
  int64_t max_reuse_distance = 1000000000;
  int64_t sub_group_size = 1000000000;
  bool offload_optimizer = false;  // the host holds its states and updates them
  bool offload_param = false;      // stage 3: the host holds the shards of parameters
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_SHARDING_RULES_H_
