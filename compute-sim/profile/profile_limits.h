// Rows that a GPU of the profile's kind cannot have measured: a unit mistaken, or another GPU's
// rows.
#ifndef DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_LIMITS_H_
#define DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_LIMITS_H_

#include "compute-sim/profile/profile.h"
#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// Errors name the rows that do more arithmetic than 1.5 times the dense rate of their type (clocks
// above those that the rate is stated at), or move more than 20 times what the memory does (L2 is
// faster, and has its end, too): the first ten, and how many more there are.
Status CheckRowsArePossible(const Profile& profile, const GpuSpec& spec);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_PROFILE_PROFILE_LIMITS_H_
