// Assumptions about kernels that neither a profile nor the file of a GPU states
// (configs/kernels.yaml).
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_KERNEL_ASSUMPTIONS_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_KERNEL_ASSUMPTIONS_H_

#include <cstdint>
#include <string>

#include "compute-sim/kernel/roofline.h"
#include "core/base/result.h"

namespace drydock {

struct KernelAssumptions {
  // The number of rows of partial sums to which a fused norm reduces the gradients of its
  // parameters.
  int64_t fused_norm_partial_sums = 0;
  AssumedShares chunk_products, sparse_products;
};

// Reports all mistakes together, each with its location.
Result<KernelAssumptions> ParseKernelAssumptions(const std::string& text,
                                                 const std::string& file_name);

// configs/kernels.yaml of this installation.
std::string KernelAssumptionsPath();

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_KERNEL_ASSUMPTIONS_H_
