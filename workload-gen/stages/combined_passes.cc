#include "workload-gen/stages/combined_passes.h"

#include <algorithm>

namespace drydock {

// The stream of the communicator: work beside compute keeps the order of its exchanges.
Stream CombinedPasses::Exchange() const {
  return c_.job.training.moe.dispatcher == MoeDispatcher::kAllToAll ? kExpertStream
                                                                    : kTensorExpertStream;
}

void CombinedPasses::Place(const Passing& passing, int layer) {
  c_.builder->SetPhase(passing.work.backward ? Phase::kBackward : Phase::kForward);
  c_.builder->SetPlace(layer, passing.work.microbatch, passing.work.chunk);
}

void CombinedPasses::OnCompute(Passing* passing, const std::function<void()>& work) {
  for (const ProgramBuilder::OpId op : passing->point.waits) c_.builder->Wait(op);
  Place(*passing, -1);
  work();
  passing->point = c_.builder->Here();
}

void CombinedPasses::Beside(Passing* passing, int layer, const std::function<void()>& work) {
  c_.builder->BeginBeside(Exchange(), passing->point);
  Place(*passing, layer);
  work();
  c_.builder->EndBeside(&passing->point);
}

void CombinedPasses::Forward(Passing* passing, int layer, LayerPiece piece) {
  if (passing == nullptr) return;
  const bool travels = piece == LayerPiece::kDispatch || piece == LayerPiece::kCombine;
  if (travels) {
    if (HasExperts(layer)) Beside(passing, layer, [&] { layers_->Forward(layer, piece); });
    return;
  }
  OnCompute(passing, [&] {
    if (piece == LayerPiece::kAttention) passing->prepare(layer);
    Place(*passing, layer);
    if (piece == LayerPiece::kAttention && IsMtpLayer(layer)) {
      mtp_->EnterForward(layer - c_.job.model.layers);
    }
    layers_->Forward(layer, piece);
  });
}

void CombinedPasses::Backward(Passing* passing, int layer, LayerPiece piece) {
  if (passing == nullptr) return;
  const bool travels = piece == LayerPiece::kDispatch || piece == LayerPiece::kCombine;
  if (travels) {
    if (HasExperts(layer)) Beside(passing, layer, [&] { layers_->Backward(layer, piece); });
    return;
  }
  OnCompute(passing, [&] {
    Place(*passing, layer);
    layers_->Backward(layer, piece);
    if (piece == LayerPiece::kAttention && IsMtpLayer(layer)) {
      mtp_->EnterBackward(layer - c_.job.model.layers);
    }
  });
}

void CombinedPasses::Pair(Passing* forward, int f_layer, Passing* backward, int b_layer,
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

void CombinedPasses::Run(Passing* forward, Passing* backward) {
  const size_t forwards = forward != nullptr ? forward->layers.size() : 0;
  const size_t backwards = backward != nullptr ? backward->layers.size() : 0;
  for (size_t i = 0; i < std::max(forwards, backwards); ++i) {
    Passing* f = i < forwards ? forward : nullptr;
    Passing* b = i < backwards ? backward : nullptr;
    Pair(f, f != nullptr ? f->layers[i] : 0, b, b != nullptr ? b->layers[i] : 0,
         /*last=*/i + 1 == backwards);
  }
}

}  // namespace drydock
