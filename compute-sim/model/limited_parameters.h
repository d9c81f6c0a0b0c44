// The kernel parameters of a GPU at another power limit or at a lower clock.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_LIMITED_PARAMETERS_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_LIMITED_PARAMETERS_H_

#include "compute-sim/kernel/kernel_parameters.h"
#include "core/base/units.h"

namespace drydock {

// The length of attention at which a benchmark's clocks have settled half, where no measurement
// says it: as that of GEMMs, 5 to 14 ms.
inline constexpr Time kSettling = Time::Us(10'000);

// The tensor rate at the clocks of the power limit.
FlopRate SustainedRate(const GemmParameters& set);
// Sets the derate with which the set has this sustained rate, but no more than the rate of short
// kernels.
void SetSustainedRate(FlopRate sustained, GemmParameters* set);

// The sustained arithmetic at `ratio` times the power limit: by the ratio to the set's
// power_exponent, attention's by that of the products of its type. Short kernels of a benchmark and
// memory-bound kernels do not change.
void ChangePower(double ratio, GemmParameters* set);
void ChangePower(double ratio, KernelParameters* parameters);
// Limits the clock to `share` of the clock that the parameters hold for. Arithmetic, exponentials,
// L2 and the handling of tiles slow down by that share; launches and memory do not. The power limit
// stays, so products that already run below the new clock keep their time.
void LimitClock(double share, KernelParameters* parameters);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_LIMITED_PARAMETERS_H_
