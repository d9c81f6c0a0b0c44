// Writes the tensor-parallel MLP of a dense layer or of shared experts: forward and backward.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_MLP_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_MLP_PROGRAM_H_

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class MlpWriter {
 public:
  MlpWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), listener_(listener) {}

  void Forward(const MlpWork& work);
  void Backward(const MlpWork& work, int layer);

 private:
  const WriterContext& c_;
  TensorParallel tensor_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_MLP_PROGRAM_H_
