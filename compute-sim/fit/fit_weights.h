// The weights of the rows in a fit (configs/fit.yaml).
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_WEIGHTS_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_WEIGHTS_H_

#include <string>

#include "compute-sim/kernel/kernel.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace drydock {

struct FitWeights {
  double medium_product_weight = 0;
  double small_kernel_weight = 0;
  double medium_product_flop = 0;
  double sum_weight = 0;
  Bytes curve_min_traffic;
  double curve_max_share = 0;

  // Large kernels (IsLarge) have weight 1.
  double Of(const Kernel& kernel) const;
};

// Reports all mistakes together, each with its location.
Result<FitWeights> ParseFitWeights(const std::string& text, const std::string& file_name);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_WEIGHTS_H_
