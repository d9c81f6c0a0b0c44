// `scaled`: a GPU, or a data type, without measurements. The kernel models of a calibrated GPU
// predict the kernel twice: with the GPU's own parameters, and with these parameters scaled to the
// specification of the other GPU (scaled_parameters.h). The ratio of the two predictions multiplies
// the time on the calibrated GPU, which is a measured row if there is one. A kernel that is bound
// by arithmetic on both GPUs scales with the FLOPS, a kernel that is bound by traffic with the
// bandwidth, and a kernel in between by its place on the roofline.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_SCALED_MODEL_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_SCALED_MODEL_H_

#include <memory>

#include "compute-sim/model/compute_model.h"
#include "compute-sim/model/gpu_data.h"
#include "core/base/result.h"

namespace drydock {

std::unique_ptr<ComputeModel> MakeScaledModel(const ModelContext& context);

// `to` as if it were calibrated: the parameters of `from`, scaled by the ratio of the
// specifications (scaled_parameters.h). REQUIRES: from.calibrated.
Result<GpuData> AsIfCalibrated(const GpuData& to, const GpuData& from);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_SCALED_MODEL_H_
