#include "workload-gen/sharded/zero_step.h"

#include <algorithm>

#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/zero_buckets.h"

namespace drydock {

int64_t ZeroStep::Owners::ShareOf(int64_t elements) const { return ZeroShare(elements, ranks); }

void ZeroStep::Write(int64_t elements, const std::vector<int64_t>& persistent,
                     int64_t expert_elements) {
  const Owners all = {kDataRole, kDataStream, c_.layout.gradient_ranks()};
  const Owners of_experts = {kExpertDataRole, kExpertDataStream, c_.layout.expert_data()};
  const bool partitioned = c_.job.zero.stage == 3;
  const int64_t share = partitioned ? elements / all.ranks : all.ShareOf(elements);
  const int64_t expert_share = of_experts.ShareOf(expert_elements);
  ProgramBuilder& b = *c_.builder;
  b.SetPhase(Phase::kOptimizer);
  CheckOverflowAndNorm(share + expert_share);
  Update(share);
  Update(expert_share);
  if (partitioned) {
    GatherEach(all, persistent);
  } else {
    GatherShares(all, share);
    GatherShares(of_experts, expert_share);
  }
  b.SetPhase(Phase::kOther);
  step_.Loss();
}

void ZeroStep::CheckOverflowAndNorm(int64_t share) {
  const TrainingRules& training = c_.job.training;
  // check_grad_overflow: stages 1 and 2 look for overflows in bf16, too.
  if (training.precision.type == DataType::kFp16 || c_.job.zero.stage < 3) {
    step_.AllReduceOverModel(kDataRole, kDataStream, c_.layout.gradient_ranks(), DataType::kUint8,
                             ReduceOp::kMax);
    c_.builder->HostReads();  // the host decides whether to step
  }
  // `step` computes the norm also where it does not clip: engine.get_global_grad_norm returns it
  // (compute_grad_norm of ZeRO's settings is true by default).
  // The norm of offloaded gradients is computed before their transfer to the host.
  if (!c_.job.zero.offload_optimizer) {
    step_.Compute("optimizer.norm", submodule::GradientNorm{{share}}, training.precision.type);
  }
  // get_grad_norm_direct of stage3.py adds doubles.
  const bool wide = c_.job.zero.stage == 3 && !c_.job.zero.offload_optimizer;
  step_.AllReduceOverModel(kDataRole, kDataStream, c_.layout.gradient_ranks(),
                           wide ? DataType::kFp64 : DataType::kFp32, ReduceOp::kSum);
  // A number is copied to the device to replace an infinite norm: the host waits for the stream
  // (mask_nan_or_inf_with_val_inplace of runtime/utils.py, get_grad_norm_direct of stage3.py).
  c_.builder->HostReads();
}

// Stage 3 updates its share in sub-groups, the other stages at once. Stages 1 and 2 scale the
// gradients only if that changes them (unscale_and_clip_grads).
void ZeroStep::Update(int64_t share) {
  const TrainingRules& training = c_.job.training;
  const DataType type = training.precision.type;
  const bool partitioned = c_.job.zero.stage == 3;
  const bool scales = training.optimizer.gradient_clipping || type == DataType::kFp16;
  const int64_t most = partitioned ? c_.job.zero.sub_group_size : share;
  for (int64_t left = share; left > 0; left -= most) {
    const int64_t elements = std::min(left, most);
    if (c_.job.zero.offload_optimizer) {
      UpdateOnHost(elements);
      continue;
    }
    // Stages 1 and 2 flatten the gradients first.
    HeldTensors::Tensor flat =
        held_->Hold(HeldKind::kBuffers, partitioned ? 0 : elements * SizeOf(type).count());
    HeldTensors::Tensor wide =
        held_->Hold(HeldKind::kBuffers, elements * SizeOf(DataType::kFp32).count());
    step_.Compute("optimizer.gradients", submodule::Cast{{elements}}, type);
    held_->Free(&flat);
    if (partitioned || scales) {
      step_.Compute("optimizer.unscale-clip", submodule::GradientScale{{elements}},
                    DataType::kFp32);
    }
    step_.Compute("optimizer.adam", submodule::Optimizer{{elements}}, DataType::kFp32);
    step_.Compute("optimizer.copy", submodule::Cast{{elements}}, type);
    held_->Free(&wide);
  }
}

void ZeroStep::UpdateOnHost(int64_t elements) {
  Offload offload(c_);
  offload.Step("optimizer.unscale-clip", elements * kHostScaleBytes);
  offload.Step("optimizer.adam", elements * kHostAdamBytes);
  offload.Step("optimizer.copy", elements * kHostCastBytes);
  if (c_.job.zero.offload_param) return;
  const int64_t bytes = elements * SizeOf(c_.job.training.precision.type).count();
  c_.builder->Wait(offload.Load("zero.parameters", bytes));
}

void ZeroStep::Gather(const Owners& owners, int64_t elements) {
  if (elements == 0) return;
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.type = c_.job.training.precision.type;
  call.count = elements;
  call.group_size = owners.ranks;
  c_.builder->Collective(owners.role, owners.stream, call);
}

// _allgather_params_coalesced of partition_parameters.py.
void ZeroStep::GatherEach(const Owners& owners, const std::vector<int64_t>& parameters) {
  if (owners.ranks < 2) return;
  ProgramBuilder::OpId last = ProgramBuilder::kNothing;
  for (const int64_t elements : parameters) {
    CommCall call;
    call.collective = CollectiveType::kAllGather;
    call.type = c_.job.training.precision.type;
    call.count = elements;
    call.group_size = owners.ranks;
    last = c_.builder->StartCollective(owners.role, owners.stream, call);
  }
  c_.builder->Wait(last);
}

void ZeroStep::GatherShares(const Owners& owners, int64_t share) {
  if (share == 0) return;
  const int64_t ranks = owners.ranks;
  if (!c_.job.zero.bucketed_allgather) {
    Gather(owners, share * ranks);
    return;
  }
  const int64_t pieces = std::max(int64_t{1}, share * ranks / c_.job.zero.allgather_bucket_size);
  const int64_t piece = share / pieces / kShareAlignment * kShareAlignment;
  for (int64_t i = 0; i + 1 < pieces; ++i) Gather(owners, piece * ranks);
  Gather(owners, (share - piece * (pieces - 1)) * ranks);
}

}  // namespace drydock
