// Writes a layer of experts (Megatron's moe_layer.py, token_dispatcher.py): router, token dispatch,
// experts, token combine, and shared experts beside them. Backward mirrors forward.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_EXPERT_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_EXPERT_PROGRAM_H_

#include "workload-gen/layers/shared_expert_program.h"
#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class ExpertWriter {
 public:
  ExpertWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), shared_(context, listener), listener_(listener) {}

  void Forward(const ExpertWork& work);
  void Backward(const ExpertWork& work, int layer);

  // The same in pieces: everything before the token dispatch, the dispatch, the experts, the token
  // combine; UndoX is the backward of piece X. REQUIRES: the dispatcher is not allgather.
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

  // True if the host need not read the number of tokens.
  bool knows_counts(const ExpertWork& work) const {
    const ExpertRules& moe = c_.job.training.moe;
    return moe.device_counts || packs() ||
           (moe.dispatcher != MoeDispatcher::kFlex && work.routing.padded);
  }
  // True if an all-to-all moves copies of tokens. Otherwise each token moves once and is copied at
  // its experts.
  bool exchanges() const { return c_.job.training.moe.dispatcher == MoeDispatcher::kAllToAll; }
  // True if the kernels that move tokens also sort them by expert and sum them up: DeepEP's kernels
  // of low latency.
  bool packs() const { return c_.job.training.moe.low_latency; }
  // Shared experts run beside token dispatch and combine.
  bool overlaps_shared() const { return c_.job.overlap.shared_expert; }

  void Route(const ExpertWork& work);
  void Dispatch(const ExpertWork& work);
  void Combine(const ExpertWork& work);
  OpId StartCombine(const ExpertWork& work, std::optional<uint32_t> call);
  void CombineBackward(const ExpertWork& work, int layer);
  void DispatchBackward(const ExpertWork& work, int layer);
  void ExpertsForward(const ExpertWork& work);
  void ActivationForward(const ExpertWork& work);
  void AddBias(const ExpertBiasWork& bias);
  void BiasBackward(const ExpertBiasWork& bias);
  void ExpertsBackward(const ExpertWork& work, int layer);
  void RouterBackward(const ExpertWork& work, int layer);

  // Gathers or sums rows of `width` elements over all ranks of tp-ep.
  OpId Gathered(CollectiveType type, DataType data, int64_t width, int64_t tokens);
  // A collective of the copies at the experts, over the ranks that split each expert.
  void AcrossExpert(const ExpertWork& work, CollectiveType type);
  void AcrossExpert(const ExpertWork& work, CollectiveType type, int64_t width);
  // Both of the copies and of their probabilities.
  void SpreadTokens(const ExpertWork& work);
  void SumGradients(const ExpertWork& work);
  // Exchanges the number of copies that each rank sends to each other; HybridEP, the experts that
  // each token picked.
  void CountTokens(const ExpertWork& work);
  // A pass of permutation, unless it is part of the exchange.
  void Move(uint32_t pass);
  // The host waits for these numbers, which are the sizes of the token dispatch.
  void ReadCounts(const ExpertWork& work);
  // The graph of the router holds the permutation too. The host then reads the counts behind it.
  bool permutes_in_graph() const;

  const WriterContext& c_;
  TensorParallel tensor_;
  SharedExpertWriter shared_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_EXPERT_PROGRAM_H_
