// `model`: the closed forms of roofline.h with the GPU's own parameters.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_ROOFLINE_MODEL_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_ROOFLINE_MODEL_H_

#include <memory>

#include "compute-sim/model/compute_model.h"

namespace drydock {

std::unique_ptr<ComputeModel> MakeRooflineModel(const ModelContext& context);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_ROOFLINE_MODEL_H_
