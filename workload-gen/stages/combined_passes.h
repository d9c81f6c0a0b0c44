// Writes the layers of one micro-batch's forward beside those of another micro-batch's backward
// (overlap.expert; Megatron's model_chunk_schedule_plan.py), so that one computes during the token
// dispatch and combine of the other. Per pair of layers:
//
//   beside    combine, backward | dispatch, forward; dispatch, backward | combine, forward
//   compute   attention, forward | MLP, backward; MLP, forward          | attention, backward
//
// Communication, and the work between it and the next piece, runs beside the compute stream and
// waits for its own micro-batch only. If one of the two passes is missing, the other runs alone.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_COMBINED_PASSES_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_COMBINED_PASSES_H_

#include <functional>
#include <vector>

#include "workload-gen/layers/layer_program.h"
#include "workload-gen/layers/mtp_program.h"
#include "workload-gen/program/deferred_gradients.h"
#include "workload-gen/program/writer_context.h"
#include "workload-gen/stages/schedule.h"

namespace drydock {

// One micro-batch's forward or backward pass through a chunk.
struct ChunkPass {
  StageWork work;
  std::vector<int> layers;                 // in the order of the pass
  std::function<void(int layer)> prepare;  // runs right before a layer
  ProgramBuilder::Point point;             // its next piece starts after this
};

class CombinedPasses {
 public:
  // `deferred`: takes the weight gradients of the last layer of the backward, if weight gradients
  // are delayed. CombinedPasses writes those of the other layers.
  CombinedPasses(const WriterContext& context, LayerWriter* layers, MtpWriter* mtp,
                 DeferredGradients* deferred)
      : c_(context), layers_(layers), mtp_(mtp), deferred_(deferred) {}

  // Writes the layers of both passes, of which one may be null. OnCompute writes the work after the
  // layers.
  void Run(ChunkPass* forward, ChunkPass* backward);

  // Writes `work` on the compute stream, after everything that the micro-batch has done.
  void OnCompute(ChunkPass* pass, const std::function<void()>& work);

 private:
  void Pair(ChunkPass* forward, int f_layer, ChunkPass* backward, int b_layer, bool last);
  void Forward(ChunkPass* pass, int layer, LayerPiece piece);
  void Backward(ChunkPass* pass, int layer, LayerPiece piece);
  void Beside(ChunkPass* pass, int layer, const std::function<void()>& work);
  void Place(const ChunkPass& pass, int layer);
  bool IsMtpLayer(int layer) const { return layer >= c_.job.model.layers; }
  bool HasExperts(int layer) const { return c_.work.LayerOf(layer).experts.has_value(); }
  Stream Exchange() const;

  const WriterContext& c_;
  LayerWriter* layers_;
  MtpWriter* mtp_;
  DeferredGradients* deferred_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_COMBINED_PASSES_H_
