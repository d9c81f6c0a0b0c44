// The parameters that a fit may change, as variables without bounds. Each parameter lies between
// two values that make physical sense (no rate is above its specification); a logistic curve maps
// the variable to this range.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_VARIABLES_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_VARIABLES_H_

#include <functional>
#include <vector>

#include "compute-sim/kernel/kernel_parameters.h"
#include "core/model/gpu.h"

namespace drydock {

struct FitVariable {
  std::function<double()> read;
  std::function<void(double)> write;
  double low = 0, high = 1;
  bool logarithmic = true;  // the middle between low and high is their geometric mean
  bool launch = false;      // a cost that every kernel has, in us

  double Get() const;         // the present value as a variable without bounds
  void Set(double at) const;  // any real number
};

// Each variable points into the argument, which must outlive it. The first variable is the rate
// that matters most.
std::vector<FitVariable> GemmVariables(const GpuSpec& spec, GemmParameters* set);
// The tensor rate stays below the dense rate of `type`.
std::vector<FitVariable> AttentionVariables(const GpuSpec& spec, DataType type,
                                            AttentionPass* pass);
std::vector<FitVariable> MemoryVariables(const GpuSpec& spec, MemoryParameters* memory);
FitVariable DerateVariable(GemmParameters* set);
std::vector<FitVariable> QuantizeVariables(QuantizeStage* stage);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_VARIABLES_H_
