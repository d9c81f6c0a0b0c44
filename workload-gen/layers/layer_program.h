// Writes transformer layers: forward and backward with the communication inside them. Without
// recomputation, a dense layer runs per micro-batch 6 all-gathers and 4 reduce-scatters with
// sequence parallelism, and 2 all-reduces in each pass without it.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_LAYER_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_LAYER_PROGRAM_H_

#include "workload-gen/layers/attention_program.h"
#include "workload-gen/layers/expert_program.h"
#include "workload-gen/layers/mlp_program.h"
#include "workload-gen/layers/scan_program.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

// The pieces of a layer with attention or a scan, and an MLP or experts, whose token dispatch and
// combine run beside the compute of another micro-batch. kAttention includes the router; a dense
// layer has its MLP in kMlp and no communication between the pieces. Forward, pieces run from
// kAttention to kCombine; backward, in the reverse order.
enum class LayerPiece : uint8_t { kAttention, kDispatch, kMlp, kCombine };

class LayerWriter {
 public:
  LayerWriter(const WriterContext& context, GradientListener* listener)
      : c_(context),
        attention_(context, listener),
        scan_(context, listener),
        mlp_(context, listener),
        experts_(context, listener),
        listener_(listener) {}

  // REQUIRES: the builder is set to the layer, micro-batch and phase.
  void Forward(int layer);
  void Backward(int layer);
  // One piece. All pieces together write what Forward(layer) or Backward(layer) writes.
  void Forward(int layer, LayerPiece piece);
  void Backward(int layer, LayerPiece piece);

 private:
  void WriteForward(const LayerWork& work, LayerPiece piece);
  void WriteBackward(const LayerWork& work, int layer, LayerPiece piece);
  void MlpForward(const LayerWork& work);
  void LeaveForward(const LayerWork& work);
  void EnterBackward(const LayerWork& work, int layer);
  void NormBackward(const LayerWork& work, int layer);
  bool RepeatsNorm(const LayerWork& work) const;
  void RecomputeMlp(const LayerWork& work);
  void MlpBackward(const LayerWork& work, int layer);
  void MixerForward(const LayerWork& work);
  void MixerBackward(const LayerWork& work, int layer);

  const WriterContext& c_;
  AttentionWriter attention_;
  ScanWriter scan_;
  MlpWriter mlp_;
  ExpertWriter experts_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_LAYER_PROGRAM_H_
