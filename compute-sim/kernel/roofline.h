// The calibrated kernel models: closed forms of a kernel's time in the GPU's parameters. Where the
// forms come from and how well they fit: docs/explanation/compute.md. Pure functions; thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_KERNEL_ROOFLINE_H_
#define DRYDOCK_COMPUTE_SIM_KERNEL_ROOFLINE_H_

#include <string>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/kernel/kernel_parameters.h"

namespace drydock {

enum class Bound : uint8_t { kTensorCores, kMemory };

// What a model says of a kernel.
struct Prediction {
  double us = 0;        // microseconds, everything in
  double fixed_us = 0;  // the part that neither arithmetic nor traffic explains
  Bound bound = Bound::kTensorCores;
  std::string detail;  // "tile 256x128, split 1"
};

// "launch" where the fixed part is over half, else what bounds the rest.
std::string BoundName(const Prediction& prediction);

// The GPU figures that the formulas need beside its parameters.
struct GpuShape {
  int sms = 0;
  Bytes l2;
};

// At `clocks`, whatever the parameters' own are.
Prediction PredictGemm(const Kernel& kernel, const GpuShape& gpu,
                       const KernelParameters& parameters, const GemmParameters& set,
                       KernelParameters::Clocks clocks);
Prediction PredictAttention(const Kernel& kernel, const GpuShape& gpu, const Bandwidth& hbm,
                            const AttentionParameters& library);
Prediction PredictMemoryKernel(const Kernel& kernel, const GpuShape& gpu,
                               const MemoryParameters& memory);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_KERNEL_ROOFLINE_H_
