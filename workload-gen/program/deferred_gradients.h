// Weight gradients that are computed later than those of activations (Megatron's
// --delay-wgrad-compute): nobody waits for them but the gradient reduction.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_DEFERRED_GRADIENTS_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_DEFERRED_GRADIENTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "workload-gen/program/program_builder.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

// Stands between the writers of layers and the gradient reduction. Outside Collect ... Write all
// passes straight through.
class DeferredGradients : public GradientListener, public WeightGradientSink {
 public:
  DeferredGradients(ProgramBuilder* builder, GradientListener* listener)
      : builder_(*builder), listener_(*listener) {}

  // From here on, keeps what comes.
  void Collect() { collects_ = true; }
  // Writes what was kept on the compute stream, at the place that the builder has.
  void Write();

  bool Take(uint32_t submodule, ProgramBuilder::OpId after) override;
  void OnGradient(ParameterKind kind, int layer) override;

 private:
  ProgramBuilder& builder_;
  GradientListener& listener_;
  bool collects_ = false;
  std::vector<std::pair<uint32_t, ProgramBuilder::OpId>> kept_;  // and what each waits for
  std::vector<std::pair<ParameterKind, int>> gradients_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_DEFERRED_GRADIENTS_H_
