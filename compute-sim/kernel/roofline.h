// The calibrated kernel models: closed forms of a kernel's time in the GPU's parameters.
// docs/explanation/compute.md derives the forms and states their errors. Pure functions;
// thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_KERNEL_ROOFLINE_H_
#define DRYDOCK_COMPUTE_SIM_KERNEL_ROOFLINE_H_

#include <string>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/kernel/kernel_parameters.h"
#include "core/model/kernel_times.h"

namespace drydock {

// A model's prediction for a kernel.
struct Prediction {
  double us = 0;        // microseconds in all
  double fixed_us = 0;  // the part that depends neither on arithmetic nor on traffic
  KernelBound bound = KernelBound::kTensorCores;  // of the rest: tensor cores or memory
  std::string detail;                             // "tile 256x128, split 1"
};

// Launch if the fixed part is more than half, else the bound of the rest.
KernelBound BoundOf(const Prediction& prediction);

// The figures of a GPU that the formulas need in addition to its parameters.
struct GpuShape {
  int sms = 0;
  Bytes l2;
};

// Predicts at `clocks`, which replace the clocks of the parameters.
Prediction PredictGemm(const Kernel& kernel, const GpuShape& gpu,
                       const KernelParameters& parameters, const GemmParameters& set,
                       KernelParameters::Clocks clocks);
Prediction PredictAttention(const Kernel& kernel, const GpuShape& gpu, const Bandwidth& hbm,
                            const AttentionParameters& library, KernelParameters::Clocks clocks);
// The shares of a GPU's rates that kernels without measurements reach, and the error of times that
// follow from these shares: Triton's kernels of a chunked scan; products with picked keys. All 0:
// not stated.
struct AssumedShares {
  double tensor = 0;  // of the rate of GEMMs in their main loop
  double memory = 0;  // of the bandwidth of memory-bound kernels
  double error = 0;   // of the time, as a share
};
// The longer of arithmetic and traffic. REQUIRES: the shares are stated.
Prediction PredictChunkProduct(const Kernel& kernel, const GemmParameters& set,
                               const MemoryParameters& memory, const AssumedShares& shares);
// The longest of arithmetic, loads from L2 and traffic. REQUIRES: the shares are stated.
Prediction PredictSparseProduct(const Kernel& kernel, const GemmParameters& set,
                                const MemoryParameters& memory, const AssumedShares& shares);
Prediction PredictMemoryKernel(const Kernel& kernel, const GpuShape& gpu,
                               const MemoryParameters& memory);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_KERNEL_ROOFLINE_H_
