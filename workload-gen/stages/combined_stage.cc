#include "workload-gen/stages/combined_stage.h"

#include <algorithm>

#include "workload-gen/program/fp8_scales.h"

namespace drydock {

void CombinedStage::Write(const StageWork* forward, const StageWork* backward) {
  ChunkPass f, b;
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
ChunkPass CombinedStage::Enter(const StageWork& work) {
  ChunkPass pass;
  pass.work = work;
  const int stage = c_.stage, chunk = work.chunk;
  for (int l = c_.layout.FirstLayer(stage, chunk); l < c_.layout.EndLayer(stage, chunk); ++l) {
    pass.layers.push_back(l);
  }
  for (int k = 0; c_.IsLast(chunk) && k < c_.job.model.mtp_layers; ++k) {
    pass.layers.push_back(c_.job.model.layers + k);
  }
  if (work.backward) std::reverse(pass.layers.begin(), pass.layers.end());
  return pass;
}

void CombinedStage::Gather(const StageWork& work, int layer) {
  if (work.microbatch == 0) gather_.BeforeForward(work.chunk, layer);
}

void CombinedStage::EnterForward(ChunkPass* pass) {
  const StageWork work = pass->work;
  const bool first = c_.IsFirst(work.chunk), last = c_.IsLast(work.chunk);
  pass->prepare = [this, work](int layer) { PrepareForward(work, layer); };
  passes_.OnCompute(pass, [&] {
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

void CombinedStage::LeaveForward(ChunkPass* pass) {
  const StageWork& work = pass->work;
  const bool last = c_.IsLast(work.chunk);
  if (c_.job.training.precision.delayed_scaling()) {
    passes_.OnCompute(pass, [&] { ReduceScales(c_, work.chunk, kForwardScales); });
  }
  if (c_.job.overlap.p2p && !last) {
    forward_end_ = pass->point;
    return;
  }
  passes_.OnCompute(pass, [&] {
    if (!last) return;
    if (!c_.work.mtp) {
      Gather(work, ParameterGather::kHead);
      edges_.HeadNormForward();
    }
    for (int k = 0; k <= c_.job.model.mtp_layers; ++k) edges_.LogitsForward();
  });
}

void CombinedStage::EnterBackward(ChunkPass* pass) {
  const int chunk = pass->work.chunk;
  pass->prepare = [this](int layer) { PrepareBackward(layer); };
  passes_.OnCompute(pass, [&] {
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

// Writes the weight gradients of the last layer while its messages are in flight.
void CombinedStage::WriteDeferred(const ChunkPass& pass) {
  if (pass.layers.empty()) return;
  const StageWork& work = pass.work;
  c_.builder->SetPlace(pass.layers.back(), work.microbatch, work.chunk);
  deferred_.Write();
  c_.builder->SetPlace(-1, work.microbatch, work.chunk);
}

void CombinedStage::LeaveBackward(ChunkPass* pass) {
  const int chunk = pass->work.chunk;
  passes_.OnCompute(pass, [&] {
    if (norm_is_due_) HeadNormBackward();
    ReduceScales(c_, chunk, kBackwardScales);
  });
  if (c_.job.overlap.p2p && !c_.IsFirst(chunk)) backward_end_ = pass->point;
  passes_.OnCompute(pass, [&] {
    WriteDeferred(*pass);
    if (c_.IsFirst(chunk)) edges_.EmbeddingBackward();
  });
}

}  // namespace drydock
