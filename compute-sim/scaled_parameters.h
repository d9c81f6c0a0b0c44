// The kernel parameters of a GPU that nobody measured: those of a calibrated one, with what the two
// specifications say of their ratio.
#ifndef DRYDOCK_COMPUTE_SIM_SCALED_PARAMETERS_H_
#define DRYDOCK_COMPUTE_SIM_SCALED_PARAMETERS_H_

#include "compute-sim/kernel_parameters.h"
#include "core/model/gpu.h"

namespace drydock {

// - tensor cores, exponentials and the way from L2 to the SMs: by the ratio of dense FLOPS of the
//   set's first type that both GPUs have (L2 by SMs and clock fits worse);
// - memory, and the time to start and store a tile: by the ratio of memory bandwidth;
// - launches, split-K, overlap, persistence: as they are. SMs and L2 are the new GPU's own.
// A type that no set of `from` has is taken from its 16-bit set; its arithmetic by the ratio of the
// two types' rates.
KernelParameters ScaledParameters(const GpuSpec& to, const GpuSpec& from,
                                  const KernelParameters& parameters);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SCALED_PARAMETERS_H_
