// The kernel parameters of a GPU without measurements: the parameters of a calibrated GPU, scaled
// by the ratios of the two specifications.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_SCALED_PARAMETERS_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_SCALED_PARAMETERS_H_

#include "compute-sim/kernel/kernel_parameters.h"
#include "core/base/result.h"
#include "core/model/gpu.h"
#include "core/model/topology.h"

namespace drydock {

// - tensor cores, exponentials and the path from L2 to the SMs: by the ratio of dense FLOPS of the
//   set's first type that both GPUs have (L2 by SMs and clock fits worse);
// - traffic through L2: by the ratio of a type for which both state a rate, 16 bits first;
// - memory: by the ratio of memory bandwidth;
// - the time to start and store a tile: by the ratio of SMs x clock, or of SMs without clocks;
// - sustained arithmetic (derate): by the ratio of the power limits to the set's power_exponent, if
//   both GPUs state a limit and are of one architecture; attention's by that of its type's GEMMs;
//   GEMMs' by the GPU's own sustained_share where it states one;
// - scores of attention: also by the ratio of the exponentials of an SM in a cycle, if both GPUs
//   state them;
// - launches, split-K, overlap, persistence: unchanged. SMs and L2 are those of the new GPU.
// A type that no set of `from` has is derived from its 16-bit set; the arithmetic scales by the
// ratio of the rates of the two types. If there is no type for which both GPUs state a dense rate,
// returns an error that names the GPUs.
// `limits`: of the hosts with `to`. Their power limit comes in place of the GPU's own; between
// architectures, or beside a stated sustained_share, it lowers what the own one leaves.
Result<KernelParameters> ScaledParameters(const GpuSpec& to, const GpuSpec& from,
                                          const KernelParameters& parameters,
                                          const GpuLimits& limits = {});

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_SCALED_PARAMETERS_H_
