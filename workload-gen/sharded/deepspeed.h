// DeepSpeed as a Framework: ZeRO stages 1, 2 and 3, with tensor parallelism, and with pipelines in
// stage 1.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_DEEPSPEED_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_DEEPSPEED_H_

#include <memory>

#include "workload-gen/framework/framework.h"

namespace drydock {

std::unique_ptr<Framework> MakeDeepSpeed();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_DEEPSPEED_H_
