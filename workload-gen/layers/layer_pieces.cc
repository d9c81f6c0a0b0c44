// Layers in the pieces between which their tokens travel. Piece by piece they are what
// LayerWriter::Forward and Backward write.
#include "workload-gen/layers/layer_program.h"

namespace drydock {

void LayerWriter::Forward(int layer, LayerPiece piece) {
  const LayerWork& w = c_.work.LayerOf(layer);
  ProgramBuilder& b = *c_.builder;
  switch (piece) {
    case LayerPiece::kAttention:
      attention_.Forward(w.attention);
      if (!w.experts) return;
      b.Compute(w.norm2.forward);
      return experts_.PrepareForward(*w.experts);
    case LayerPiece::kDispatch:
      return experts_.DispatchForward(*w.experts);
    case LayerPiece::kMlp:
      if (w.experts) return experts_.ComputeForward(*w.experts);
      b.Compute(w.norm2.forward);
      mlp_.Forward(*w.mlp);
      return LeaveForward(w);
    case LayerPiece::kCombine:
      experts_.CombineForward(*w.experts);
      return LeaveForward(w);
  }
}

void LayerWriter::Backward(int layer, LayerPiece piece) {
  const LayerWork& w = c_.work.LayerOf(layer);
  switch (piece) {
    case LayerPiece::kCombine:
      EnterBackward(w, layer);
      return experts_.UndoCombine(*w.experts);
    case LayerPiece::kMlp:
      if (!w.experts) return MlpBackward(w, layer);
      RecomputeMlp(w);
      return experts_.UndoCompute(*w.experts, layer);
    case LayerPiece::kDispatch:
      return experts_.UndoDispatch(*w.experts);
    case LayerPiece::kAttention:
      if (w.experts) {
        experts_.UndoPrepare(*w.experts, layer);
        NormBackward(w, layer);
      }
      return AttentionBackward(w, layer);
  }
}

}  // namespace drydock
