// Parts of the memory of a rank that no program states: the section `memory` of model.yaml.
// job/key_table.cc gives the sources of the defaults.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_

#include "core/base/units.h"

namespace drydock {

struct MemoryRules {
  Bytes cuda_context{600000000};
  Bytes nccl_communicator{154140672};  // per communicator of a rank
  Bytes cublas_workspace{-1};          // of PyTorch, for each of two handles; below 0: by the GPU
  Bytes te_workspace{-1};              // of Transformer Engine; below 0: by the GPU
  double fragmentation = 0;    // share of the rest that the allocator holds and cannot give out
  Bytes cuda_graph_launch{0};  // of each launch that a CUDA graph holds
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_MEMORY_RULES_H_
