// A layer of experts in pieces: what comes before the tokens travel, their way, the experts, the
// way home. Shared experts stand in the first (Megatron's fine_grained_callables.py).
#include "workload-gen/layers/expert_program.h"

namespace drydock {
namespace {

bool IsExchange(const WriterContext& c) {
  return c.job.training.moe.dispatcher == MoeDispatcher::kAllToAll;
}

}  // namespace

void ExpertWriter::PrepareForward(const ExpertWork& work) {
  Route(work);
  if (work.shared) SharedForward(work);
  if (!IsExchange(c_)) return;
  CountTokens(work);
  c_.builder->Compute(work.permute.forward);
}

void ExpertWriter::DispatchForward(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (IsExchange(c_)) {
    b.Collective(kExpertRole, kExpertStream, work.tokens_out);
    b.Collective(kExpertRole, kExpertStream, work.probabilities_out);
  } else {
    CountTokens(work);
    b.Collective(kTensorExpertRole, kTensorExpertStream, work.tokens_out);
  }
}

void ExpertWriter::ComputeForward(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (!IsExchange(c_)) {
    b.Compute(work.permute.forward);
    ExpertsForward(work);
    return b.Compute(work.unpermute.forward);
  }
  AcrossExpert(work, CollectiveType::kAllGather);
  if (work.sort) b.Compute(work.sort->forward);
  ExpertsForward(work);
  if (work.unsort) b.Compute(work.unsort->forward);
  AcrossExpert(work, CollectiveType::kReduceScatter);
}

void ExpertWriter::CombineForward(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  b.Wait(StartHome(work));
  if (IsExchange(c_)) b.Compute(work.unpermute.forward);
  if (work.shared) b.Compute(work.shared->add_output);
}

void ExpertWriter::UndoCombine(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (!IsExchange(c_)) return b.Collective(kTensorExpertRole, kTensorExpertStream, work.tokens_out);
  b.Compute(work.unpermute.backward);
  b.Collective(kExpertRole, kExpertStream, work.tokens_out);
}

void ExpertWriter::UndoCompute(const ExpertWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  if (!IsExchange(c_)) {
    b.Compute(work.unpermute.backward);
    ExpertsBackward(work, layer);
    return b.Compute(work.permute.backward);
  }
  AcrossExpert(work, CollectiveType::kAllGather);
  if (work.unsort) b.Compute(work.unsort->backward);
  ExpertsBackward(work, layer);
  if (work.sort) b.Compute(work.sort->backward);
  AcrossExpert(work, CollectiveType::kReduceScatter);
}

void ExpertWriter::UndoDispatch(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (IsExchange(c_)) b.Collective(kExpertRole, kExpertStream, work.probabilities_back);
  b.Wait(StartHome(work));
}

void ExpertWriter::UndoPrepare(const ExpertWork& work, int layer) {
  if (IsExchange(c_)) c_.builder->Compute(work.permute.backward);
  RouterBackward(work, layer);
}

}  // namespace drydock
