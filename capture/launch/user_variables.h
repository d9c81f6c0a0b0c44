// Variables that users set to change what a training program does: NCCL_ALGO, CUDA_VISIBLE_DEVICES.
#ifndef DRYDOCK_CAPTURE_LAUNCH_USER_VARIABLES_H_
#define DRYDOCK_CAPTURE_LAUNCH_USER_VARIABLES_H_

#include <string>
#include <vector>

#include "capture/launch/launch.h"

namespace drydock::capture {

// Those of an environment that PyTorch, NCCL, CUDA, launchers and frameworks read, sorted; without
// secrets (HF_TOKEN).
Variables SettingsIn(const Variables& environment);

// Those that the programs of launches have from `own`, the caller's environment, as it is:
// "NCCL_ALGO=Ring, OMP_NUM_THREADS=4"; "" if there is none.
std::string InheritedSettings(const std::vector<Launch>& launches, const Variables& own);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LAUNCH_USER_VARIABLES_H_
