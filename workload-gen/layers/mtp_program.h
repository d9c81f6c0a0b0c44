// Writes the layers of multi-token prediction (DeepSeek-V3, section 2.2; Megatron's
// multi_token_prediction.py): the tokens' embedding and the hidden rows of the previous layer are
// normed and joined; a transformer layer and a norm follow. The layers use the model's head.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_MTP_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_MTP_PROGRAM_H_

#include "workload-gen/layers/edge_program.h"
#include "workload-gen/layers/layer_program.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class MtpWriter {
 public:
  MtpWriter(const WriterContext& context, LayerWriter* layers, EdgeWriter* edges,
            GradientListener* listener)
      : c_(context), tensor_(context), layers_(layers), edges_(edges), listener_(listener) {}

  // The k-th layer. REQUIRES: the builder is set to the layer, micro-batch and phase.
  void Forward(int k);
  void Backward(int k);
  // The parts before and after its transformer layer.
  void EnterForward(int k);
  void LeaveForward(int k);
  void LeaveBackward(int k);
  void EnterBackward(int k);

 private:
  int LayerOf(int k) const { return c_.job.model.layers + k; }
  void JoinForward(const MtpWork& work);
  void JoinBackward(const MtpWork& work);

  const WriterContext& c_;
  TensorParallel tensor_;
  LayerWriter* layers_;
  EdgeWriter* edges_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_MTP_PROGRAM_H_
