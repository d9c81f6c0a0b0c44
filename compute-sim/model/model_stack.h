// The chosen models of one GPU type, asked in order.
#ifndef DRYDOCK_COMPUTE_SIM_MODEL_MODEL_STACK_H_
#define DRYDOCK_COMPUTE_SIM_MODEL_MODEL_STACK_H_

#include <memory>
#include <vector>

#include "compute-sim/model/compute_model.h"
#include "core/base/result.h"

namespace drydock {

class ModelStack {
 public:
  ModelStack() = default;
  ModelStack(const ModelContext& context, const ComputeModelOrder& order);

  // The answer of the first model that has one. If no model has an answer, returns an error
  // with the reason of each model. Returns an error if the kernel would take an hour or more.
  Result<KernelTime> Predict(const Kernel& kernel) const;

 private:
  struct Entry {
    const ComputeModelChoice* choice;
    std::unique_ptr<ComputeModel> model;
  };
  ModelContext context_;
  std::vector<Entry> entries_;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MODEL_MODEL_STACK_H_
