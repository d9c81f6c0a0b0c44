// The parameters that a fit may change, as variables without bounds: each lies between a least and
// a largest value that make physical sense (no rate above its specification), on the logistic
// curve.
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
  bool logarithmic = true;  // the middle between low and high is the geometric one
  bool launch = false;      // microseconds of every kernel

  double Get() const;         // the present value as a variable without bounds
  void Set(double at) const;  // any real number
};

// Each points into what it is given, which must outlive it. The first is the rate that matters
// most.
std::vector<FitVariable> GemmVariables(const GpuSpec& spec, GemmParameters* set);
// No further than the dense rate of `type`.
std::vector<FitVariable> AttentionVariables(const GpuSpec& spec, DataType type,
                                            AttentionPass* pass);
std::vector<FitVariable> MemoryVariables(const GpuSpec& spec, MemoryParameters* memory);
FitVariable DerateVariable(GemmParameters* set);
std::vector<FitVariable> QuantiseVariables(QuantiseStage* stage);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_VARIABLES_H_
