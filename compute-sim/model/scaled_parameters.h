// The kernel parameters of a GPU without measurements: the parameters of a calibrated GPU, scaled
// by the ratios of the two specifications.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_SCALED_PARAMETERS_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_SCALED_PARAMETERS_H_

#include "compute-sim/kernel/kernel_parameters.h"
#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// - tensor cores, exponentials and the way from L2 to the SMs: by the ratio of dense FLOPS of the
//   set's first type that both GPUs have (L2 by SMs and clock fits worse);
// - what moves bytes through L2: by the ratio of a type that both state, 16 bits first;
// - memory, and the time to start and store a tile: by the ratio of memory bandwidth;
// - launches, split-K, overlap, persistence: as they are. SMs and L2 are the new GPU's own.
// A type that no set of `from` has is taken from its 16-bit set; its arithmetic by the ratio of the
// two types' rates.
// An error that names the GPUs if there is no type that both state a dense rate of.
Result<KernelParameters> ScaledParameters(const GpuSpec& to, const GpuSpec& from,
                                          const KernelParameters& parameters);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_SCALED_PARAMETERS_H_
