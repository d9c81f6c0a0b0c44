// Writes the shared experts of a layer of experts: an MLP that every token passes.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_SHARED_EXPERT_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_SHARED_EXPERT_PROGRAM_H_

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class SharedExpertWriter {
 public:
  using OpId = ProgramBuilder::OpId;

  SharedExpertWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), listener_(listener) {}

  void Forward(const SharedExpertWork& shared);
  // The forward in steps that may run beside token dispatch and combine: starts the gather of the
  // input; waits for the gather and computes up to the activation; computes the rest and starts the
  // communication of the output.
  OpId Enter(const SharedExpertWork& shared);
  void Input(const SharedExpertWork& shared, OpId entered);
  OpId Output(const SharedExpertWork& shared);

  // The backward in two steps: up to the activation, and the rest.
  void OutputBackward(const SharedExpertWork& shared, int layer);
  void InputBackward(const SharedExpertWork& shared, int layer);

 private:
  const WriterContext& c_;
  TensorParallel tensor_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_SHARED_EXPERT_PROGRAM_H_
