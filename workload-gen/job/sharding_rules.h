// How FSDP and DeepSpeed's ZeRO share out weights, gradients and optimizer states over
// data-parallel ranks: the sections `fsdp` and `zero` of model.yaml. Keys and defaults are the
// frameworks' own.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_SHARDING_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_SHARDING_RULES_H_

#include <cstdint>

#include "core/model/gpu.h"

namespace drydock {

// kDefault is torchtitan's: with a pipeline parameters stay whole from the first forward to the
// last backward, and gradients are reduced after the last; without one, neither.
enum class ReshardAfterForward : uint8_t { kDefault, kAlways, kNever };
enum class GradientSync : uint8_t { kDefault, kEveryMicrobatch, kLastMicrobatch };

struct FsdpRules {
  int version = 2;
  int replicas = 1;  // HSDP: whole copies of the model among the data-parallel ranks
  ReshardAfterForward reshard_after_forward = ReshardAfterForward::kDefault;
  GradientSync gradient_sync = GradientSync::kDefault;
  DataType reduce_type = DataType::kFp32;
  bool backward_prefetch = true;  // BACKWARD_PRE: the next group's parameters, a group ahead
  bool limit_all_gathers = true;  // version 1: at most two groups on their way
  bool offload = false;           // parameters, gradients and the optimizer lie on the host
};

// DeepSpeed's zero_optimization. Sizes in elements.
struct ZeroRules {
  int stage = 1;
  int64_t reduce_bucket_size = 500000000;
  int64_t allgather_bucket_size = 500000000;
  bool bucketed_allgather = false;  // after the step: by allgather_bucket_size, else in one piece
  bool reduce_scatter = false;      // stages 1 and 2: of a bucket, else all-reduced
  bool overlap_comm = false;        // default: stage 3 alone
  int64_t prefetch_bucket_size = 50000000;
  int64_t param_persistence_threshold = 100000;
  int64_t max_live_parameters = 1000000000;
  int64_t max_reuse_distance = 1000000000;
  int64_t sub_group_size = 1000000000;
  bool offload_optimizer = false;  // its states lie on the host, which updates them
  bool offload_param = false;      // stage 3: the shares of parameters, too
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_SHARDING_RULES_H_
