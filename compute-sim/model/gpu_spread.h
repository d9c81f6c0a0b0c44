// How much GPUs of one type differ, and how much longer the slowest GPU of a run takes. Chips
// differ in the power they draw and boards in their cooling, so under one power limit they settle
// at different clocks. Every rank of a training run waits for the slowest GPU: in each
// tensor-parallel layer, in its pipeline, or in the reduction of the gradients. So an iteration
// takes the time of the slowest GPU (docs/explanation/compute.md, "The slowest GPU").
//
// Plain functions; thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_GPU_SPREAD_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_GPU_SPREAD_H_

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/model/gpu.h"

namespace drydock {

// The `spread:` section of a GPU's file: the standard deviation over GPUs of the type of the rate
// of kernels that are bound by tensor cores, as a share of the mean. nullopt if the file has no
// such section. Reports all mistakes together.
Result<std::optional<double>> ReadSpread(const std::string& file_text,
                                         const std::string& file_name);

// The spread of a cluster's GPU: its own, or else the spread of its reference, or else 0.
Result<double> SpreadOf(const GpuSpec& spec);

// The time on the slowest of `count` GPUs over the time on the mean GPU.
double SlowestTime(double spread, int count);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_GPU_SPREAD_H_
