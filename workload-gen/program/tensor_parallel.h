// Writes the communication of tensor-parallel linear layers (Megatron's tensor_parallel/layers.py).
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_TENSOR_PARALLEL_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_TENSOR_PARALLEL_H_

#include <functional>

#include "workload-gen/program/writer_context.h"

namespace drydock {

// Sizes: a micro-batch's rows on this rank, whole, of a width (the model's unless given).
class TensorParallel {
 public:
  explicit TensorParallel(const WriterContext& context) : c_(context) {}

  // Into a column-parallel layer: the rows that sequence parallelism split come together.
  void Enter();
  void Enter(int64_t width);
  // The same of a layer's input, or of its output gradient, quantised first if the layer says so.
  ProgramBuilder::OpId StartInput(const LinearWork& linear, int64_t width);
  void EnterInput(const LinearWork& linear, int64_t width);
  // Out of a row-parallel layer: partial sums are added (and split by rows).
  void Leave();
  // A column-parallel layer with what stands before it, and a row-parallel one with what stands
  // behind it.
  void ColumnForward(const LinearWork& linear);
  void RowForward(const LinearWork& linear);
  // Gradients of a column-parallel layer; its input's gradient is summed over the ranks while the
  // weight's is computed. `width`: of the input.
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
  // Of these rows, past NCCL or not.
  ProgramBuilder::OpId Start(CollectiveType type, int64_t width, DataType data, bool userbuffers);
  void ComputeIfAny(const std::optional<uint32_t>& submodule);
  // The parts of a product one after another, `after` each with its number: from the first on
  // launched by a loop.
  void Products(const PartWork& parts, const std::function<void(int)>& after);
  // A product of rows that go round a ring: this rank's first, then each as it comes.
  void GatherBetween(const PartWork& parts, DataType data);
  // A product whose sums leave part by part, each beside the next part.
  void ScatterBetween(const PartWork& parts);
  // A product whose parts go to the ranks that own their rows, this rank's last.
  void SendBetween(const PartWork& parts, uint32_t sum);
  void WeightGradient(const LinearWork& linear, ProgramBuilder::OpId after);

  const WriterContext& c_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_TENSOR_PARALLEL_H_
