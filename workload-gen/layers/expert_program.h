// Writes a layer of experts (Megatron's moe_layer.py, token_dispatcher.py): router, the tokens' way
// to the experts, the experts, the way home, and shared experts beside them. Backward mirrors it.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_EXPERT_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_EXPERT_PROGRAM_H_

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class ExpertWriter {
 public:
  ExpertWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), listener_(listener) {}

  void Forward(const ExpertWork& work);
  void Backward(const ExpertWork& work, int layer);

  // The same in pieces (expert_pieces.cc): up to where tokens leave, their way, the experts, the
  // way home; and each piece undone, in the reverse order. Not for dispatcher allgather.
  void PrepareForward(const ExpertWork& work);
  void DispatchForward(const ExpertWork& work);
  void ComputeForward(const ExpertWork& work);
  void CombineForward(const ExpertWork& work);
  void UndoCombine(const ExpertWork& work);
  void UndoCompute(const ExpertWork& work, int layer);
  void UndoDispatch(const ExpertWork& work);
  void UndoPrepare(const ExpertWork& work, int layer);

 private:
  using OpId = ProgramBuilder::OpId;

  // Shared experts, in the pieces that may run beside the exchanges.
  void SharedForward(const ExpertWork& work);
  OpId EnterShared(const ExpertWork& work);
  void SharedInput(const ExpertWork& work, OpId entered);
  OpId SharedOutput(const ExpertWork& work);
  void SharedOutputBackward(const ExpertWork& work, int layer);
  void SharedInputBackward(const ExpertWork& work, int layer);
  bool beside() const { return c_.job.overlap.shared_expert; }

  // Forward: up to the experts, and home again.
  void Route(const ExpertWork& work);
  void Dispatch(const ExpertWork& work);
  void Combine(const ExpertWork& work);
  OpId StartHome(const ExpertWork& work);
  // Backward: the gradients' way through combine and dispatch.
  void CombineBackward(const ExpertWork& work, int layer);
  void DispatchBackward(const ExpertWork& work, int layer);
  void ExpertsForward(const ExpertWork& work);
  void ExpertsBackward(const ExpertWork& work, int layer);
  void RouterBackward(const ExpertWork& work, int layer);

  // Over tp-ep: rows of all its ranks, `width` elements each, gathered or summed.
  OpId Gathered(CollectiveType type, DataType data, int64_t width, int64_t tokens);
  // Over the ranks that split each expert: copies on the experts' side.
  void AcrossExpert(const ExpertWork& work, CollectiveType type);
  void CountTokens(const ExpertWork& work);

  const WriterContext& c_;
  TensorParallel tensor_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_EXPERT_PROGRAM_H_
