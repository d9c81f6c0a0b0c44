// Which kernels a submodule runs, in launch order. Two generations of frameworks are covered:
// `fused` (TransformerEngine, FlashAttention) and unfused (Megatron-LM of 2022: separate score,
// softmax, dropout and value kernels). docs/reference/submodules.md lists the kernels with their
// traffic.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_KERNELS_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_KERNELS_H_

#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/submodules/kernel_assumptions.h"
#include "core/base/result.h"
#include "core/model/gpu.h"
#include "core/model/submodule.h"

namespace drydock {

// The layouts in which a GPU's products take fp8 operands with one scale for a tensor
// (GpuSpec::takes_any_fp8_layout). With one layout, other kernels write transposes of operands.
enum class Fp8Layouts : uint8_t { kOne, kAny };
Fp8Layouts Fp8LayoutsOf(const GpuSpec& gpu);

// Returns no kernels if the submodule has a stated time (stated_time.h). If an extent that its kind
// needs is missing, returns an error that names the submodule and the extent.
Result<std::vector<Kernel>> KernelsOf(const Submodule& submodule,
                                      const KernelAssumptions& assumptions, Fp8Layouts layouts);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_SUBMODULE_KERNELS_H_
