// The compute models that a user can choose: one row each.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_TABLE_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_TABLE_H_

#include <string>
#include <vector>

#include "compute-sim/model/compute_model.h"
#include "core/base/result.h"

namespace drydock {

// In the default order.
const std::vector<ComputeModelChoice>& ComputeModelChoices();
std::vector<std::string> ComputeModelNames();
// All of them, in the default order.
ComputeModelOrder AllComputeModels();

// The models called `names`, in this order. An unknown name is an error that lists the valid names,
// the nearest first.
Result<ComputeModelOrder> FindComputeModels(const std::vector<std::string>& names);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_TABLE_H_
