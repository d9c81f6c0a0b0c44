// Weight gradients that are computed later than activation gradients (Megatron's
// --delay-wgrad-compute): only the gradient reduction waits for them.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_DEFERRED_GRADIENTS_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_DEFERRED_GRADIENTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "workload-gen/program/program_builder.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

// Passes gradients from the writers of layers to the gradient reduction: between Collect and Write
// later, otherwise at once.
class DeferredGradients : public GradientListener, public WeightGradientSink {
 public:
  DeferredGradients(ProgramBuilder* builder, GradientListener* listener)
      : builder_(*builder), listener_(*listener) {}

  // Keeps weight gradients from now on.
  void Collect() { collects_ = true; }
  // Writes the kept weight gradients on the compute stream, at the builder's present position.
  void Write();

  bool Take(uint32_t submodule, ProgramBuilder::OpId after) override;
  void OnGradient(ParameterKind kind, int layer) override;

 private:
  ProgramBuilder& builder_;
  GradientListener& listener_;
  bool collects_ = false;
  std::vector<std::pair<uint32_t, ProgramBuilder::OpId>> kept_;  // with the op that each waits for
  std::vector<std::pair<ParameterKind, int>> gradients_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_DEFERRED_GRADIENTS_H_
