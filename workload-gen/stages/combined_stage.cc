#include "workload-gen/stages/combined_stage.h"

#include <algorithm>

#include "workload-gen/program/fp8_scales.h"

namespace drydock {

void CombinedStage::Write(const StageWork* forward, const StageWork* backward) {
  Passing f, b;
  if (forward != nullptr) {
    f = Enter(*forward);
    EnterForward(&f);
  }
  if (backward != nullptr) {
    b = Enter(*backward);
    EnterBackward(&b);
  }
  passes_.Run(forward != nullptr ? &f : nullptr, backward != nullptr ? &b : nullptr);
  forward_end_.reset();
  backward_end_.reset();
  if (forward != nullptr) LeaveForward(&f);
  if (backward != nullptr) LeaveBackward(&b);
}

// A chunk's layers in the order of the pass; MTP layers come last.
Passing CombinedStage::Enter(const StageWork& work) {
  Passing passing;
  passing.work = work;
  const int stage = c_.stage, chunk = work.chunk;
  for (int l = c_.layout.FirstLayer(stage, chunk); l < c_.layout.EndLayer(stage, chunk); ++l) {
    passing.layers.push_back(l);
  }
  for (int k = 0; c_.IsLast(chunk) && k < c_.job.model.mtp_layers; ++k) {
    passing.layers.push_back(c_.job.model.layers + k);
  }
  if (work.backward) std::reverse(passing.layers.begin(), passing.layers.end());
  return passing;
}

void CombinedStage::Gather(const StageWork& work, int layer) {
  if (work.microbatch == 0) gather_.BeforeForward(work.chunk, layer);
}

void CombinedStage::EnterForward(Passing* passing) {
  const StageWork work = passing->work;
  const bool first = c_.IsFirst(work.chunk), last = c_.IsLast(work.chunk);
  passing->prepare = [this, work](int layer) { PrepareForward(work, layer); };
  passes_.OnCompute(passing, [&] {
    edges_.Batch(first || (last && c_.work.mtp), last);
    if (!first) return;
    Gather(work, ParameterGather::kEmbedding);
    edges_.EmbeddingForward();
  });
}

void CombinedStage::PrepareForward(const StageWork& work, int layer) {
  if (IsFirstMtpLayer(layer)) {
    Gather(work, ParameterGather::kHead);
    edges_.HeadNormForward();
    Gather(work, ParameterGather::kEmbedding);
  }
  Gather(work, layer);
}

void CombinedStage::LeaveForward(Passing* passing) {
  const StageWork& work = passing->work;
  const bool last = c_.IsLast(work.chunk);
  if (c_.job.training.precision.fp8) {
    passes_.OnCompute(passing, [&] { ReduceScales(c_, work.chunk, kForwardScales); });
  }
  if (c_.job.overlap.p2p && !last) {
    forward_end_ = passing->point;
    return;
  }
  passes_.OnCompute(passing, [&] {
    if (!last) return;
    if (!c_.work.mtp) {
      Gather(work, ParameterGather::kHead);
      edges_.HeadNormForward();
    }
    for (int k = 0; k <= c_.job.model.mtp_layers; ++k) edges_.LogitsForward();
  });
}

void CombinedStage::EnterBackward(Passing* passing) {
  const int chunk = passing->work.chunk;
  passing->prepare = [this](int layer) { PrepareBackward(layer); };
  passes_.OnCompute(passing, [&] {
    if (!c_.IsLast(chunk)) return;
    for (int k = 0; k <= c_.job.model.mtp_layers; ++k) edges_.LogitsBackward();
    norm_is_due_ = c_.work.mtp.has_value();
    listener_.OnGradient(ParameterKind::kHead, -1);
    if (!norm_is_due_) edges_.HeadNormBackward();
  });
}

void CombinedStage::PrepareBackward(int layer) {
  if (norm_is_due_ && layer < c_.job.model.layers) HeadNormBackward();
}

// The gradient of the copy of the embedding is complete.
void CombinedStage::HeadNormBackward() {
  norm_is_due_ = false;
  if (c_.layout.pipeline > 1) listener_.OnGradient(ParameterKind::kWordEmbedding, -1);
  edges_.HeadNormBackward();
}

// The weight gradients of the last layer, whose messages are in flight.
void CombinedStage::WriteDeferred(const Passing& passing) {
  if (passing.layers.empty()) return;
  const StageWork& work = passing.work;
  c_.builder->SetPlace(passing.layers.back(), work.microbatch, work.chunk);
  deferred_.Write();
  c_.builder->SetPlace(-1, work.microbatch, work.chunk);
}

void CombinedStage::LeaveBackward(Passing* passing) {
  const int chunk = passing->work.chunk;
  passes_.OnCompute(passing, [&] {
    if (norm_is_due_) HeadNormBackward();
    ReduceScales(c_, chunk, kBackwardScales);
  });
  if (c_.job.overlap.p2p && !c_.IsFirst(chunk)) backward_end_ = passing->point;
  passes_.OnCompute(passing, [&] {
    WriteDeferred(*passing);
    if (c_.IsFirst(chunk)) edges_.EmbeddingBackward();
  });
}

}  // namespace drydock
