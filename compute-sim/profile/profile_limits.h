// Finds rows that are impossible on the profile's GPU: rows with a wrong unit, or rows of another
// GPU.
#ifndef DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_LIMITS_H_
#define DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_LIMITS_H_

#include "compute-sim/profile/profile.h"
#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// Errors name the rows above 1.5 times the dense rate of their type (clocks may be above the clock
// of the stated rate) or above 20 times the bandwidth of the memory (the L2 cache is faster): the
// first ten rows, and the number of the others.
Status CheckRowsArePossible(const Profile& profile, const GpuSpec& spec);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_LIMITS_H_
