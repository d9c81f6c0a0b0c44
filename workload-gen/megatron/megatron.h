// Megatron-LM as a Framework: the groups of its RankGenerator, one program per pipeline stage, and
// the end of the step. model.yaml states which version's rules apply
// (docs/reference/model-file.md).
#ifndef DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_H_
#define DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_H_

#include <memory>

#include "workload-gen/framework/framework.h"

namespace drydock {

std::unique_ptr<Framework> MakeMegatron();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_MEGATRON_MEGATRON_H_
