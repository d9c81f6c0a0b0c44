// Writes the communication of tensor-parallel linear layers (Megatron's tensor_parallel/layers.py).
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_TENSOR_PARALLEL_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_TENSOR_PARALLEL_H_

#include <functional>

#include "workload-gen/program/writer_context.h"

namespace drydock {

// Sizes are those of all rows of a micro-batch on this rank, with a width (by default the model's
// hidden size).
class TensorParallel {
 public:
  explicit TensorParallel(const WriterContext& context) : c_(context) {}

  // Before a column-parallel layer: gathers the rows that sequence parallelism split.
  void Enter();
  void Enter(int64_t width);
  // The same for the input of a layer, or its output gradient, quantized first if the layer does
  // so.
  ProgramBuilder::OpId StartInput(const LinearWork& linear, int64_t width);
  void EnterInput(const LinearWork& linear, int64_t width);
  // After a row-parallel layer: adds partial sums, and splits them by rows.
  void Leave();
  // A column-parallel layer with the communication before it, and a row-parallel layer with the
  // communication after it.
  void ColumnForward(const LinearWork& linear);
  void RowForward(const LinearWork& linear);
  // Gradients of a column-parallel layer. The gradient of its input is summed over the ranks while
  // the gradient of its weight is computed. `width`: of the input.
  void ColumnBackward(const LinearWork& linear);
  void ColumnBackward(const LinearWork& linear, int64_t width);
  // Gradients of a row-parallel layer.
  void RowBackward(const LinearWork& linear);
  // Gradients of a layer that is whole on each rank.
  void WholeBackward(const LinearWork& linear);

  void AllGather();
  void AllReduce();
  void ReduceScatter();
  void ReduceScatter(int64_t width);

  ProgramBuilder::OpId Start(CollectiveType type);
  ProgramBuilder::OpId Start(CollectiveType type, int64_t width);

 private:
  // A collective of these rows. `userbuffers`: without NCCL.
  ProgramBuilder::OpId Start(CollectiveType type, int64_t width, const WireFormat& data,
                             bool userbuffers);
  // Before `cast`, if the layer needs it: the ranks agree on the scale of what they gather.
  void ReduceScale(const LinearWork& linear);
  void ComputeIfAny(const std::optional<uint32_t>& submodule);
  // Runs the parts of a GEMM one after another, launched by a loop. Calls `after` with the number
  // of each part.
  void RunParts(const PartWork& parts, const std::function<void(int)>& after);
  // A GEMM whose input rows shift around a ring: this rank's rows first, then each part on arrival.
  void GatherBetween(const PartWork& parts, const WireFormat& data);
  // A GEMM whose output is reduced in parts, each beside the compute of the next part.
  void ScatterBetween(const PartWork& parts);
  // A GEMM whose parts are sent to the ranks that own their rows; the part of this rank is the
  // last.
  void SendBetween(const PartWork& parts, uint32_t sum);
  void WeightGradient(const LinearWork& linear, ProgramBuilder::OpId after);
  // The adapter of a column-parallel or a row-parallel layer, from the layer's input up to the sum
  // with its output, and from the gradient of that output to the gradient of the input.
  void ColumnAdapterForward(const LinearWork& linear);
  void ColumnAdapterBackward(const LinearWork& linear);
  void RowAdapterForward(const AdapterWork& adapter);
  void RowAdapterBackward(const AdapterWork& adapter);
  void RowBaseBackward(const LinearWork& linear);
  void AdapterBackward(const AdapterWork& adapter);
  // Columns of all rows become whole rows of this rank, and the reverse.
  void ExchangeRows();
  // A collective of all rows; nothing without tensor parallelism.
  void Across(CollectiveType type, int64_t width);

  const WriterContext& c_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_TENSOR_PARALLEL_H_
