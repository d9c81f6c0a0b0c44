// Moves the activations of the first layers to the host and back (cpu_offload.py of Transformer
// Engine, --cpu-offloading-num-layers): a layer's tensors leave behind its forward, and compute
// waits for them where as many layers are left as stay on the GPU. In backward, a layer's tensors
// start to come back as many layers ahead.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_ACTIVATION_OFFLOAD_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_ACTIVATION_OFFLOAD_H_

#include <vector>

#include "workload-gen/program/writer_context.h"

namespace drydock {

class ActivationOffload {
 public:
  // RankWork::offloaded_layer: 0 leaves the program as it is.
  explicit ActivationOffload(const WriterContext& context);

  void BeforeForward(int layer);
  void AfterForward(int layer);
  void BeforeBackward(int layer);

 private:
  using OpId = ProgramBuilder::OpId;

  bool Moves(int layer) const { return layer >= 0 && layer < static_cast<int>(stored_.size()); }
  OpId Move(OpKind kind);

  const WriterContext& c_;
  std::vector<OpId> stored_, loaded_;  // by layer, of the current micro-batch
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_ACTIVATION_OFFLOAD_H_
