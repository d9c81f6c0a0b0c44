// Times of submodules whose imported workload states their time or their costs: their kernels are
// unknown, so no ComputeModel is asked.
#ifndef DRYDOCK_COMPUTE_SIM_SUBMODULES_STATED_TIME_H_
#define DRYDOCK_COMPUTE_SIM_SUBMODULES_STATED_TIME_H_

#include "core/base/result.h"
#include "core/model/gpu.h"
#include "core/model/kernel_times.h"
#include "core/model/submodule.h"

namespace drydock {

// FixedDuration: the duration. FlopsAndBytes: the longer of its FLOPs at the dense rate that the
// GPU's file states for its type, and its bytes at the bandwidth of the GPU's memory. This is
// ASTRA-sim's roofline; real kernels reach less of both. An error if the GPU has no rate for the
// type, or if the time is an hour or more.
// REQUIRES: submodule.has_stated_time().
Result<SubmoduleTime> StatedTime(const Submodule& submodule, const GpuSpec& gpu);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_SUBMODULES_STATED_TIME_H_
