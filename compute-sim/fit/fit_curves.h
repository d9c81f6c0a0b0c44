// Fits the shares of plain bandwidth that norms and softmax reach by their row length.
#ifndef DRYDOCK_COMPUTE_SIM_FIT_FIT_CURVES_H_
#define DRYDOCK_COMPUTE_SIM_FIT_FIT_CURVES_H_

#include <vector>

#include "compute-sim/fit/fit_rows.h"
#include "compute-sim/kernel/roofline.h"

namespace drydock {

// Of each row length, the share at which all its rows together take the time they took. Only rows
// that come out of HBM as a whole count: what a call costs beside its traffic says nothing of the
// rate. Empty without such rows.
ShareCurve CurveOf(const std::vector<FitRow>& rows, const GpuShape& gpu,
                   const MemoryParameters& memory);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_FIT_FIT_CURVES_H_
