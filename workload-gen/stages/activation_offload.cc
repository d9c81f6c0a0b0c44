#include "workload-gen/stages/activation_offload.h"

namespace drydock {

ActivationOffload::ActivationOffload(const WriterContext& context) : c_(context) {
  if (c_.work.offloaded_layer == 0) return;
  const auto layers = static_cast<size_t>(c_.job.training.offload_layers);
  stored_.assign(layers, ProgramBuilder::kNothing);
  loaded_.assign(layers, ProgramBuilder::kNothing);
}

ActivationOffload::OpId ActivationOffload::Move(OpKind kind) {
  return c_.builder->Move(kind, {"activations", MemoryTier::kHost, Bytes(c_.work.offloaded_layer)});
}

void ActivationOffload::BeforeForward(int layer) {
  const int left = layer - (c_.job.model.layers - static_cast<int>(stored_.size()));
  if (Moves(left)) c_.builder->Wait(stored_[static_cast<size_t>(left)]);
}

void ActivationOffload::AfterForward(int layer) {
  if (Moves(layer)) stored_[static_cast<size_t>(layer)] = Move(OpKind::kStore);
}

void ActivationOffload::BeforeBackward(int layer) {
  const int ahead = layer - (c_.job.model.layers - 1 - static_cast<int>(stored_.size()));
  if (Moves(ahead)) loaded_[static_cast<size_t>(ahead)] = Move(OpKind::kLoad);
  if (Moves(layer)) c_.builder->Wait(loaded_[static_cast<size_t>(layer)]);
}

}  // namespace drydock
