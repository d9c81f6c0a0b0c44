// Steps of the PAT algorithm.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_PAT_H_
#define DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_PAT_H_

#include <cstddef>
#include <vector>

#include "core/nccl/hacknccl.h"

namespace drydock {

// A collective with more steps than this is refused. NCCL cuts terabytes into that many chunks.
inline constexpr size_t kMaxPatSteps = size_t{1} << 20;

// Returns what the device would do for a PAT collective on one channel of one rank. `ranks` is the
// size of the communicator. Stops after kMaxPatSteps + 1 steps. REQUIRES: CapturePlan described
// `work`.
std::vector<hacknccl_pat_step> PatSteps(const hacknccl_collective& work, int channel, int rank,
                                        int ranks);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LAUNCH_PAT_H_
