// Times of what an imported workload says of itself (SubmoduleKind::kGiven, kCounted): no kernel
// is known, so no ComputeModel is asked.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_STATED_TIME_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_STATED_TIME_H_

#include "core/base/result.h"
#include "core/model/gpu.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"

namespace drydock {

bool IsStated(SubmoduleKind kind);

// kGiven: its duration. kCounted: what takes longer, its FLOPs at the dense rate that the GPU's
// file states for its type or its bytes at the memory's bandwidth (ASTRA-sim's roofline; real
// kernels reach less of both). An error if the GPU has no rate for the type, or if it takes an
// hour.
Result<SubmoduleTime> StatedTime(const Submodule& submodule, const GpuSpec& gpu);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_STATED_TIME_H_
