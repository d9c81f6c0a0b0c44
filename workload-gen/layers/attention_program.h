// Writes a layer's attention, forward and backward, from its norm to its residual.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_ATTENTION_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_ATTENTION_PROGRAM_H_

#include "workload-gen/program/core_attention.h"
#include "workload-gen/program/sparse_core.h"
#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class AttentionWriter {
 public:
  AttentionWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), core_(context), sparse_(context), listener_(listener) {}

  void Forward(const AttentionWork& work);
  void Backward(const AttentionWork& work, int layer);

 private:
  void ProjectionsForward(const AttentionWork& work);
  void LatentForward(const AttentionWork& work);
  void UpForward(const AttentionWork& work);
  // Of sparse attention, from the gathered latents on.
  void AbsorbedForward(const AttentionWork& work);
  void LatentBackward(const AttentionWork& work, int layer);
  void CoreForward(const AttentionWork& work);
  void CoreBackward(const AttentionWork& work, int layer);
  void AddSquares();
  void HeadNormsBackward(const AttentionWork& work, int layer);
  // Repeats the submodules of the forward whose results were not kept.
  void Recompute(const AttentionWork& work);
  bool recomputes_up() const;
  bool repeats_norm(const AttentionWork& work) const;

  const WriterContext& c_;
  TensorParallel tensor_;
  CoreAttention core_;
  SparseCore sparse_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_ATTENTION_PROGRAM_H_
