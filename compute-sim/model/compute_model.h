// The seam between kernels and their times. A ComputeModel answers for one GPU type; ModelStack
// asks the chosen models in order. compute-sim/model_table.h lists the choices.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_COMPUTE_MODEL_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_COMPUTE_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute-sim/kernel/kernel.h"
#include "core/model/kernel_times.h"

namespace drydock {

struct GpuData;

class ComputeModel {
 public:
  virtual ~ComputeModel() = default;

  // - The answer depends on the kernel and the GPU of the model only: the same kernel gets the
  //   same answer.
  // - nullopt: this model has no time for the kernel; the next model is asked.
  // - A model never guesses: it has no answer for kernels that it neither measured nor calibrated.
  virtual std::optional<KernelTime> Predict(const Kernel& kernel) const = 0;
  // Why Predict returned nullopt, for the user: "no row in 2 profiles".
  virtual std::string WhyNot(const Kernel& kernel) const = 0;
};

// The GPU for which a model is made. The data outlive the model.
struct ModelContext {
  const GpuData* gpu = nullptr;
  const GpuData* reference = nullptr;  // null if the file of the GPU names no reference
};

struct ComputeModelChoice {
  std::string name;
  std::string summary;
  TimeSource source;
  std::unique_ptr<ComputeModel> (*make)(const ModelContext& context);
};
// The chosen models, in the order in which they are asked.
using ComputeModelOrder = std::vector<const ComputeModelChoice*>;

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_COMPUTE_MODEL_H_
