// Variables that users set to change what a training program does: NCCL_ALGO, CUDA_VISIBLE_DEVICES.
#ifndef DRYDOCK_CAPTURE_LAUNCH_USER_VARIABLES_H_
#define DRYDOCK_CAPTURE_LAUNCH_USER_VARIABLES_H_

#include <string>
#include <vector>

#include "capture/launch/launch.h"

namespace drydock::capture {

// Returns the variables that PyTorch, NCCL, CUDA, launchers and frameworks read, sorted. Secrets
// such as HF_TOKEN are left out.
Variables SettingsIn(const Variables& environment);

// Returns the settings that the programs inherit unchanged from the caller's environment `own`, as
// text: "NCCL_ALGO=Ring, OMP_NUM_THREADS=4"; "" if there is none.
std::string InheritedSettings(const std::vector<Launch>& launches, const Variables& own);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_USER_VARIABLES_H_
