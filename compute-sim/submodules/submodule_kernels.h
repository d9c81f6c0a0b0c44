// Which kernels a submodule runs, in launch order. Two generations of framework are known:
// `fused` (TransformerEngine, FlashAttention) and unfused (Megatron-LM of 2022: separate score,
// softmax, dropout and value kernels). The lists, with their traffic, stand in
// docs/reference/submodules.md.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_KERNELS_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_KERNELS_H_

#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// None for what an imported workload states itself (stated_time.h).
// An error if the submodule lacks an extent that its kind needs; it names both.
Result<std::vector<Kernel>> KernelsOf(const Submodule& submodule);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_KERNELS_H_
