#include "workload-gen/stages/combined_passes.h"

#include <algorithm>

namespace drydock {

// Returns the stream of the exchanges' communicator, so that work beside compute keeps the order of
// the exchanges.
Stream CombinedPasses::Exchange() const {
  return c_.job.training.moe.dispatcher == MoeDispatcher::kAllToAll ? kExpertStream
                                                                    : kTensorExpertStream;
}

void CombinedPasses::Place(const ChunkPass& pass, int layer) {
  c_.builder->SetPhase(pass.work.backward ? Phase::kBackward : Phase::kForward);
  c_.builder->SetPlace(layer, pass.work.microbatch, pass.work.chunk);
}

void CombinedPasses::OnCompute(ChunkPass* pass, const std::function<void()>& work) {
  for (const ProgramBuilder::OpId op : pass->point.waits) c_.builder->Wait(op);
  Place(*pass, -1);
  work();
  pass->point = c_.builder->Here();
}

void CombinedPasses::Beside(ChunkPass* pass, int layer, const std::function<void()>& work) {
  c_.builder->BeginBeside(Exchange(), pass->point);
  Place(*pass, layer);
  work();
  c_.builder->EndBeside(&pass->point);
}

void CombinedPasses::Forward(ChunkPass* pass, int layer, LayerPiece piece) {
  if (pass == nullptr) return;
  const bool communicates = piece == LayerPiece::kDispatch || piece == LayerPiece::kCombine;
  if (communicates) {
    if (HasExperts(layer)) Beside(pass, layer, [&] { layers_->Forward(layer, piece); });
    return;
  }
  OnCompute(pass, [&] {
    if (piece == LayerPiece::kAttention) pass->prepare(layer);
    Place(*pass, layer);
    if (piece == LayerPiece::kAttention && IsMtpLayer(layer)) {
      mtp_->EnterForward(layer - c_.job.model.layers);
    }
    layers_->Forward(layer, piece);
  });
}

void CombinedPasses::Backward(ChunkPass* pass, int layer, LayerPiece piece) {
  if (pass == nullptr) return;
  const bool communicates = piece == LayerPiece::kDispatch || piece == LayerPiece::kCombine;
  if (communicates) {
    if (HasExperts(layer)) Beside(pass, layer, [&] { layers_->Backward(layer, piece); });
    return;
  }
  OnCompute(pass, [&] {
    Place(*pass, layer);
    layers_->Backward(layer, piece);
    if (piece == LayerPiece::kAttention && IsMtpLayer(layer)) {
      mtp_->EnterBackward(layer - c_.job.model.layers);
    }
  });
}

void CombinedPasses::Pair(ChunkPass* forward, int f_layer, ChunkPass* backward, int b_layer,
                          bool last) {
  const bool delayed = c_.job.overlap.delay_weight_gradients && backward != nullptr;
  if (backward != nullptr) {
    OnCompute(backward, [&] {
      backward->prepare(b_layer);
      Place(*backward, b_layer);
      if (IsMtpLayer(b_layer)) mtp_->LeaveBackward(b_layer - c_.job.model.layers);
    });
  }
  const auto weights = [&](bool now) {
    if (!delayed) return;
    if (now) {
      Place(*backward, b_layer);
      deferred_->Write();
    } else {
      deferred_->Collect();
    }
  };
  Backward(backward, b_layer, LayerPiece::kCombine);
  Forward(forward, f_layer, LayerPiece::kAttention);
  weights(false);
  Backward(backward, b_layer, LayerPiece::kMlp);
  Forward(forward, f_layer, LayerPiece::kDispatch);
  weights(true);
  Backward(backward, b_layer, LayerPiece::kDispatch);
  Forward(forward, f_layer, LayerPiece::kMlp);
  Forward(forward, f_layer, LayerPiece::kCombine);
  weights(false);
  Backward(backward, b_layer, LayerPiece::kAttention);
  if (forward != nullptr && IsMtpLayer(f_layer)) {
    OnCompute(forward, [&] {
      Place(*forward, f_layer);
      mtp_->LeaveForward(f_layer - c_.job.model.layers);
    });
  }
  if (!last) weights(true);
}

void CombinedPasses::Run(ChunkPass* forward, ChunkPass* backward) {
  const size_t forwards = forward != nullptr ? forward->layers.size() : 0;
  const size_t backwards = backward != nullptr ? backward->layers.size() : 0;
  for (size_t i = 0; i < std::max(forwards, backwards); ++i) {
    ChunkPass* f = i < forwards ? forward : nullptr;
    ChunkPass* b = i < backwards ? backward : nullptr;
    Pair(f, f != nullptr ? f->layers[i] : 0, b, b != nullptr ? b->layers[i] : 0,
         /*last=*/i + 1 == backwards);
  }
}

}  // namespace drydock
