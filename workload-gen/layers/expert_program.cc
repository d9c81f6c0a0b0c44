#include "workload-gen/layers/expert_program.h"

#include "workload-gen/program/module_offload.h"

namespace drydock {

// ---- Communication ------------------------------------------------------------------------------

ProgramBuilder::OpId ExpertWriter::Gathered(CollectiveType type, DataType data, int64_t width,
                                            int64_t tokens) {
  CommCall call;
  call.collective = type;
  call.type = data;
  call.group_size = c_.layout.expert * c_.layout.expert_tensor;
  call.count = tokens * width * call.group_size;
  return c_.builder->StartCollective(kTensorExpertRole, kTensorExpertStream, call);
}

void ExpertWriter::AcrossExpert(const ExpertWork& work, CollectiveType type, int64_t width) {
  CommCall call;
  call.collective = type;
  call.type = c_.job.training.precision.type;
  call.group_size = c_.layout.expert_tensor;
  call.count = work.routing.received * width;
  c_.builder->Collective(kExpertTensorRole, kExpertTensorStream, call);
}

void ExpertWriter::AcrossExpert(const ExpertWork& work, CollectiveType type) {
  AcrossExpert(work, type, c_.job.model.expert_width());
}

// token_dispatcher.py: the probabilities follow the tokens, and their gradients come first.
void ExpertWriter::SpreadTokens(const ExpertWork& work) {
  AcrossExpert(work, CollectiveType::kAllGather);
  AcrossExpert(work, CollectiveType::kAllGather, 1);
}

void ExpertWriter::SumGradients(const ExpertWork& work) {
  AcrossExpert(work, CollectiveType::kReduceScatter, 1);
  AcrossExpert(work, CollectiveType::kReduceScatter);
}

void ExpertWriter::CountTokens(const ExpertWork& work) {
  const int experts = c_.job.model.moe.experts;
  ProgramBuilder& b = *c_.builder;
  if (packs()) return;  // the tokens bring the counts along
  if (exchanges()) {
    if (!work.routing.padded) {
      b.Wait(Gathered(CollectiveType::kAllGather, DataType::kInt64, experts, 1));
    }
    return;
  }
  if (c_.job.training.moe.dispatcher == MoeDispatcher::kHybridEp) {
    b.Wait(Gathered(CollectiveType::kAllGather, DataType::kUint8, experts, work.routing.tokens));
    if (work.scan) b.Compute(*work.scan);
    return;
  }
  CommCall call;
  call.collective = CollectiveType::kAllToAll;
  call.type = DataType::kInt32;
  call.group_size = c_.layout.expert * c_.layout.expert_tensor;
  call.count = int64_t{call.group_size} * (experts / c_.layout.expert + 1);
  b.Collective(kTensorExpertRole, kTensorExpertStream, call);
}

void ExpertWriter::Move(uint32_t pass) {
  if (!packs()) c_.builder->Compute(pass);
}

void ExpertWriter::ReadCounts(const ExpertWork& work) {
  if (!knows_counts(work)) c_.builder->HostReads();
}

bool ExpertWriter::permutes_in_graph() const {
  const GraphRules& graphs = c_.job.training.host.cuda_graphs;
  return exchanges() && graphs.scope == GraphScope::kParts &&
         graphs.Holds(LayerRegion::kPreprocess);
}

// ---- Forward ------------------------------------------------------------------------------------

void ExpertWriter::Forward(const ExpertWork& work) {
  // Megatron-Core's moe_layer.py: shared experts come first, and autograd takes them last.
  if (work.shared && !overlaps_shared()) shared_.Forward(*work.shared);
  Route(work);
  Dispatch(work);
  ExpertsForward(work);
  Combine(work);
  if (work.shared) c_.builder->Compute(work.shared->add_output);
}

void ExpertWriter::Route(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  b.Compute(work.router.forward);
  b.Compute(work.top_k.forward);
  if (!c_.job.training.moe.aux_loss) return;
  CommCall counts;
  counts.type = DataType::kInt64;
  counts.count = c_.job.model.moe.experts;
  counts.group_size = c_.layout.tensor * c_.layout.context;
  b.Collective(kTensorContextRole, kTensorContextStream, counts);
}

void ExpertWriter::Dispatch(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  const ModelShape& m = c_.job.model;
  const int64_t tokens = work.routing.tokens;
  const DataType type = c_.job.training.precision.type;
  const bool shared = work.shared && overlaps_shared();
  b.SetRegion(exchanges() ? LayerRegion::kPreprocess : LayerRegion::kExperts);
  if (work.latent) b.Compute(work.latent->down.forward);
  const OpId entered = shared ? shared_.Enter(*work.shared) : ProgramBuilder::kNothing;
  switch (c_.job.training.moe.dispatcher) {
    case MoeDispatcher::kAllToAll: {
      CountTokens(work);
      if (!permutes_in_graph()) ReadCounts(work);
      Move(work.permute.forward);
      b.SetRegion(LayerRegion::kExperts);
      if (permutes_in_graph()) ReadCounts(work);
      const OpId sent = b.StartCollective(kExpertRole, kExpertStream, work.tokens_out);
      if (shared) shared_.Input(*work.shared, entered);
      b.Wait(sent);
      b.Collective(kExpertRole, kExpertStream, work.probabilities_out);
      SpreadTokens(work);
      if (work.sort) b.Compute(work.sort->forward);
      return;
    }
    case MoeDispatcher::kAllGather: {
      b.Wait(Gathered(CollectiveType::kAllGather, DataType::kUint8, m.moe.experts, tokens));
      b.Wait(Gathered(CollectiveType::kAllGather, type, m.moe.experts, tokens));
      const OpId sent = Gathered(CollectiveType::kAllGather, type, m.expert_width(), tokens);
      if (shared) shared_.Input(*work.shared, entered);
      b.Wait(sent);
      break;
    }
    case MoeDispatcher::kFlex:
    case MoeDispatcher::kHybridEp: {
      CountTokens(work);
      ReadCounts(work);
      if (work.stage_tokens) b.Compute(*work.stage_tokens);
      const OpId sent = b.StartCollective(kTensorExpertRole, kTensorExpertStream, work.tokens_out);
      if (shared) shared_.Input(*work.shared, entered);
      b.Wait(sent);
      break;
    }
  }
  Move(work.permute.forward);
}

void ExpertWriter::ExpertsForward(const ExpertWork& work) {
  if (work.pad) c_.builder->Compute(work.pad->forward);
  for (int i = 0; i < work.repeat; ++i) {
    c_.builder->Compute(work.fc1.forward);
    Leave(c_.offload, OffloadModule::kExpertFc1);
    ActivationForward(work);
    c_.builder->Compute(work.fc2.forward);
    Leave(c_.offload, OffloadModule::kExpertActivation);
    Leave(c_.offload, OffloadModule::kFusedMlp);
  }
  if (work.bias) AddBias(*work.bias);
  if (work.unpad) c_.builder->Compute(work.unpad->forward);
}

// Megatron-Core's quick GeGLU makes a tensor of its offset on the GPU
// (weighted_bias_quick_geglu_impl): a copy from memory that is not pinned, for which PyTorch
// synchronizes the stream. A CUDA graph cannot hold that.
void ExpertWriter::ActivationForward(const ExpertWork& work) {
  if (work.fused) return;
  for (const uint32_t pass : work.clamp) c_.builder->Compute(pass);
  const TrainingRules& training = c_.job.training;
  const GraphRules& graphs = training.host.cuda_graphs;
  const bool captured = graphs.Holds(LayerRegion::kExperts) || graphs.scope == GraphScope::kFull ||
                        graphs.scope == GraphScope::kIteration;
  if (c_.job.model.mlp.activation == Activation::kGeglu && training.kernels.fused && !captured) {
    c_.builder->HostReads();
  }
  c_.builder->Compute(work.activation.forward);
}

void ExpertWriter::AddBias(const ExpertBiasWork& bias) {
  for (int i = 0; i < bias.experts; ++i) {
    c_.builder->Compute(bias.weight.forward);
    c_.builder->Compute(bias.add);
  }
  c_.builder->Compute(bias.join.forward);
  if (bias.cast) c_.builder->Compute(bias.cast->forward);
}

// The gradients of the bias and of the probabilities, each an element-wise product and its sums.
void ExpertWriter::BiasBackward(const ExpertBiasWork& bias) {
  if (bias.cast) c_.builder->Compute(bias.cast->backward);
  for (int i = 0; i < bias.experts; ++i) {
    if (bias.cast) c_.builder->Compute(bias.narrow);
    for (int gradient = 0; gradient < 2; ++gradient) {
      c_.builder->Compute(bias.weight.backward);
      c_.builder->Compute(bias.sum);
    }
  }
  c_.builder->Compute(bias.join.backward);
}

void ExpertWriter::Combine(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  const bool exchange = exchanges();
  if (exchange) {
    if (work.unsort) b.Compute(work.unsort->forward);
    AcrossExpert(work, CollectiveType::kReduceScatter);
  } else {
    Move(work.unpermute.forward);
  }
  const OpId combined = StartCombine(work, work.tokens_back);
  OpId shared_left = ProgramBuilder::kNothing;
  if (work.shared && overlaps_shared()) shared_left = shared_.Output(*work.shared);
  b.Wait(combined);
  if (exchange) Move(work.unpermute.forward);
  if (work.latent) b.Compute(work.latent->up.forward);
  b.Wait(shared_left);
}

// Starts the token combine: of the experts' outputs, or in backward of the gradients of their
// inputs.
ProgramBuilder::OpId ExpertWriter::StartCombine(const ExpertWork& work,
                                                std::optional<uint32_t> call) {
  ProgramBuilder& b = *c_.builder;
  switch (c_.job.training.moe.dispatcher) {
    case MoeDispatcher::kAllToAll:
      return b.StartCollective(kExpertRole, kExpertStream, call);
    case MoeDispatcher::kFlex:
    case MoeDispatcher::kHybridEp:
      return b.StartCollective(kTensorExpertRole, kTensorExpertStream, call);
    case MoeDispatcher::kAllGather:
      break;
  }
  return Gathered(CollectiveType::kReduceScatter, c_.job.training.precision.type,
                  c_.job.model.expert_width(), work.routing.tokens);
}

// ---- Backward -----------------------------------------------------------------------------------

void ExpertWriter::Backward(const ExpertWork& work, int layer) {
  CombineBackward(work, layer);
  ExpertsBackward(work, layer);
  DispatchBackward(work, layer);
  RouterBackward(work, layer);
}

// The backward of everything before the token dispatch.
void ExpertWriter::RouterBackward(const ExpertWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  b.SetRegion(LayerRegion::kRouter);
  b.Compute(work.top_k.backward);
  b.Compute(work.router.backward);
  listener_->OnGradient(ParameterKind::kRouterBias, layer);
  listener_->OnGradient(ParameterKind::kRouterWeight, layer);
  if (work.shared && !overlaps_shared()) {
    shared_.OutputBackward(*work.shared, layer);
    shared_.InputBackward(*work.shared, layer);
  }
  if (work.shared) b.Compute(work.shared->add_gradient);
}

void ExpertWriter::CombineBackward(const ExpertWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  const bool exchange = exchanges();
  if (work.latent) {
    tensor_.WholeBackward(work.latent->up);
    listener_->OnGradient(ParameterKind::kLatentUp, layer);
  }
  if (exchange) Move(work.unpermute.backward);
  OpId sent = ProgramBuilder::kNothing;
  switch (c_.job.training.moe.dispatcher) {
    case MoeDispatcher::kAllToAll:
      sent = b.StartCollective(kExpertRole, kExpertStream, work.gradients_out);
      break;
    case MoeDispatcher::kFlex:
    case MoeDispatcher::kHybridEp:
      if (work.stage_gradients) b.Compute(*work.stage_gradients);
      sent = b.StartCollective(kTensorExpertRole, kTensorExpertStream, work.gradients_out);
      break;
    case MoeDispatcher::kAllGather:
      sent = Gathered(CollectiveType::kAllGather, c_.job.training.precision.type,
                      c_.job.model.expert_width(), work.routing.tokens);
      break;
  }
  if (work.shared && overlaps_shared()) shared_.OutputBackward(*work.shared, layer);
  b.Wait(sent);
  if (!exchange) return Move(work.unpermute.backward);
  AcrossExpert(work, CollectiveType::kAllGather);
  if (work.unsort) b.Compute(work.unsort->backward);
}

void ExpertWriter::ExpertsBackward(const ExpertWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  const bool again = c_.job.training.recompute.modules.moe_activation;
  if (work.unpad) b.Compute(work.unpad->backward);
  if (work.bias) BiasBackward(*work.bias);
  listener_->OnGradient(ParameterKind::kExpertFc2Bias, layer);
  for (int i = 0; i < work.repeat; ++i) {
    Await(c_.offload, OffloadModule::kExpertActivation);
    Await(c_.offload, OffloadModule::kFusedMlp);
    if (again) {
      b.SetPhase(Phase::kRecompute);
      ActivationForward(work);
      b.SetPhase(Phase::kBackward);
    }
    tensor_.WholeBackward(work.fc2);
    if (i == work.repeat - 1) listener_->OnGradient(ParameterKind::kExpertFc2Weight, layer);
    if (!work.fused) b.Compute(work.activation.backward);
    Behind(c_.offload, OffloadModule::kExpertActivation);
    Await(c_.offload, OffloadModule::kExpertFc1);
    tensor_.WholeBackward(work.fc1);
    Behind(c_.offload, OffloadModule::kExpertFc1);
    Behind(c_.offload, OffloadModule::kFusedMlp);
  }
  listener_->OnGradient(ParameterKind::kExpertFc1Bias, layer);
  listener_->OnGradient(ParameterKind::kExpertFc1Weight, layer);
  if (work.pad) b.Compute(work.pad->backward);
}

void ExpertWriter::DispatchBackward(const ExpertWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  const MoeDispatcher dispatcher = c_.job.training.moe.dispatcher;
  if (dispatcher == MoeDispatcher::kAllToAll) {
    if (work.sort) b.Compute(work.sort->backward);
    SumGradients(work);
    b.Collective(kExpertRole, kExpertStream, work.probabilities_back);
  } else {
    Move(work.permute.backward);
  }
  const OpId combined = StartCombine(work, work.gradients_back);
  if (work.shared && overlaps_shared()) shared_.InputBackward(*work.shared, layer);
  b.Wait(combined);
  if (dispatcher == MoeDispatcher::kAllToAll) {
    b.SetRegion(LayerRegion::kPreprocess);
    Move(work.permute.backward);
  }
  if (dispatcher == MoeDispatcher::kAllGather) {
    b.Wait(Gathered(CollectiveType::kReduceScatter, c_.job.training.precision.type,
                    c_.job.model.moe.experts, work.routing.tokens));
  }
  if (!work.latent) return;
  tensor_.WholeBackward(work.latent->down);
  listener_->OnGradient(ParameterKind::kLatentDown, layer);
}

// ---- In pieces ----------------------------------------------------------------------------------
// Shared experts are in the first piece (Megatron's fine_grained_callables.py).

void ExpertWriter::PrepareForward(const ExpertWork& work) {
  if (work.shared) shared_.Forward(*work.shared);
  Route(work);
  if (!exchanges()) return;
  c_.builder->SetRegion(LayerRegion::kPreprocess);
  CountTokens(work);
  if (!permutes_in_graph()) ReadCounts(work);
  Move(work.permute.forward);
}

void ExpertWriter::DispatchForward(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (exchanges()) {
    if (permutes_in_graph()) ReadCounts(work);
    b.Collective(kExpertRole, kExpertStream, work.tokens_out);
    b.Collective(kExpertRole, kExpertStream, work.probabilities_out);
  } else {
    CountTokens(work);
    ReadCounts(work);
    if (work.stage_tokens) b.Compute(*work.stage_tokens);
    b.Collective(kTensorExpertRole, kTensorExpertStream, work.tokens_out);
  }
}

void ExpertWriter::ComputeForward(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (!exchanges()) {
    Move(work.permute.forward);
    ExpertsForward(work);
    return Move(work.unpermute.forward);
  }
  SpreadTokens(work);
  if (work.sort) b.Compute(work.sort->forward);
  ExpertsForward(work);
  if (work.unsort) b.Compute(work.unsort->forward);
  AcrossExpert(work, CollectiveType::kReduceScatter);
}

void ExpertWriter::CombineForward(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  b.Wait(StartCombine(work, work.tokens_back));
  if (exchanges()) Move(work.unpermute.forward);
  if (work.shared) b.Compute(work.shared->add_output);
}

void ExpertWriter::UndoCombine(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (!exchanges()) {
    if (work.stage_gradients) b.Compute(*work.stage_gradients);
    return b.Collective(kTensorExpertRole, kTensorExpertStream, work.gradients_out);
  }
  Move(work.unpermute.backward);
  b.Collective(kExpertRole, kExpertStream, work.gradients_out);
}

void ExpertWriter::UndoCompute(const ExpertWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  if (!exchanges()) {
    Move(work.unpermute.backward);
    ExpertsBackward(work, layer);
    return Move(work.permute.backward);
  }
  AcrossExpert(work, CollectiveType::kAllGather);
  if (work.unsort) b.Compute(work.unsort->backward);
  ExpertsBackward(work, layer);
  if (work.sort) b.Compute(work.sort->backward);
  SumGradients(work);
}

void ExpertWriter::UndoDispatch(const ExpertWork& work) {
  ProgramBuilder& b = *c_.builder;
  if (exchanges()) b.Collective(kExpertRole, kExpertStream, work.probabilities_back);
  b.Wait(StartCombine(work, work.gradients_back));
}

void ExpertWriter::UndoPrepare(const ExpertWork& work, int layer) {
  if (exchanges()) {
    c_.builder->SetRegion(LayerRegion::kPreprocess);
    Move(work.permute.backward);
  }
  RouterBackward(work, layer);
}

}  // namespace drydock
