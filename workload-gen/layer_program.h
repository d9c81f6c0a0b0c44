// Writes transformer layers: forward and backward with their tensor-parallel communication
// (Megatron's tensor_parallel/layers.py). Per layer and micro-batch, nothing recomputed: with
// sequence parallelism 6 all-gathers and 4 reduce-scatters, without it 2 all-reduces each way.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYER_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYER_PROGRAM_H_

#include "workload-gen/writer_context.h"

namespace drydock {

// The tensor-parallel linear layers' communication. Sizes: a micro-batch's activations, whole.
class TensorParallel {
 public:
  explicit TensorParallel(const WriterContext& context) : c_(context) {}

  // Into a column-parallel layer: the rows that sequence parallelism split come together.
  void Enter();
  // Out of a row-parallel layer: partial sums are added (and split by rows).
  void Leave();
  // Gradients of a column-parallel layer; its input's gradient is summed over the ranks while the
  // weight's is computed.
  void ColumnBackward(const LinearWork& linear);
  // Gradients of a row-parallel layer.
  void RowBackward(const LinearWork& linear);

  void AllGather();
  void AllReduce();
  void ReduceScatter();

 private:
  CommCall Call(CollectiveType type) const;
  ProgramBuilder::OpId Start(CollectiveType type);
  void WeightGradient(const LinearWork& linear);

  const WriterContext& c_;
};

class LayerWriter {
 public:
  LayerWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), listener_(listener) {}

  // The place (layer, micro-batch) and phase are the caller's to set.
  void Forward();
  void Backward(int layer);

 private:
  void AttentionBackward(int layer);
  void MlpBackward(int layer);

  const WriterContext& c_;
  TensorParallel tensor_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYER_PROGRAM_H_
