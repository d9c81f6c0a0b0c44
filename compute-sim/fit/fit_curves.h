// Fits the shares of plain bandwidth that norms and softmax reach by their row length.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_CURVES_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_CURVES_H_

#include <vector>

#include "compute-sim/fit/fit_rows.h"
#include "compute-sim/kernel/roofline.h"

namespace drydock {

// For each row length, the share at which all its rows together take their measured time. Only rows
// whose traffic comes from HBM count (FitWeights::curve_min_traffic, and twice the L2 cache): the
// fixed cost of a call says nothing about the rate. Empty without such rows.
ShareCurve CurveOf(const std::vector<FitRow>& rows, const FitWeights& weights, const GpuShape& gpu,
                   const MemoryParameters& memory);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_CURVES_H_
