// `profile`: a measured row, or an interpolation between rows. Between two rows that differ in one
// extent, the logarithm of time is interpolated over the logarithm of the extent. Where the GPU is
// calibrated, or scaled from a calibrated GPU, the deviation of the rows from the model is
// interpolated, so that the steps of the model (waves of tiles) stay. Among rows that enclose the
// kernel in several extents, the deviation is the mean of theirs, weighted by the inverse square of
// their distances.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_PROFILE_MODEL_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_PROFILE_MODEL_H_

#include <memory>

#include "compute-sim/model/compute_model.h"

namespace drydock {

std::unique_ptr<ComputeModel> MakeProfileModel(const ModelContext& context);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_PROFILE_MODEL_H_
