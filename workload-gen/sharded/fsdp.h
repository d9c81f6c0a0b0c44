// Fully Sharded Data Parallel as a Framework: PyTorch's FSDP 1 and 2, sharded over all
// data-parallel ranks or within replicas (HSDP), with tensor and pipeline parallelism as torchtitan
// combines them.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_H_

#include <memory>

#include "workload-gen/framework/framework.h"

namespace drydock {

std::unique_ptr<Framework> MakeFsdp();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_FSDP_H_
