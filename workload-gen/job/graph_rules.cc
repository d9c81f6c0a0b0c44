#include "workload-gen/job/graph_rules.h"

#include <fmt/format.h>

namespace drydock {
namespace {

bool IsCaptured(const TrainingJob& job, bool GraphModules::*module) {
  return job.training.host.cuda_graphs.modules.*module;
}
bool IsLocal(const TrainingJob& job) { return job.training.host.graph_maker == GraphMaker::kLocal; }
bool IsWhole(const TrainingJob& job) {
  return job.training.host.cuda_graphs.scope == GraphScope::kIteration;
}
bool HasExperts(const TrainingJob& job) { return job.model.moe.experts > 0; }
bool HasDropout(const TrainingJob& job) { return job.model.dropout > 0; }
const RecomputeModules& Recomputed(const TrainingJob& job) {
  return job.training.recompute.modules;
}
bool IsPadded(const TrainingJob& job) { return job.training.moe.pad_to_capacity; }
// The host need not know the number of tokens.
bool KnowsCounts(const TrainingJob& job) { return IsPadded(job) || job.training.moe.device_counts; }

bool CapturesAttention(const TrainingJob& job) {
  const GraphScope scope = job.training.host.cuda_graphs.scope;
  return scope == GraphScope::kParts ? IsCaptured(job, &GraphModules::attention)
                                     : scope != GraphScope::kNone;
}

struct GraphRule {
  const char* text;
  bool (*is_broken)(const TrainingJob& job);
};

constexpr GraphRule kRules[] = {
    {"'moe' and 'moe_router' exclude each other",
     [](const TrainingJob& job) {
       return IsCaptured(job, &GraphModules::moe) && IsCaptured(job, &GraphModules::moe_router);
     }},
    {"'moe_preprocess' needs 'moe_router'",
     [](const TrainingJob& job) {
       return IsCaptured(job, &GraphModules::moe_preprocess) &&
              !IsCaptured(job, &GraphModules::moe_router);
     }},
    {"none leaves cuda_graph_impl: local without effect; name what is captured",
     [](const TrainingJob& job) { return IsLocal(job) && !job.training.host.cuda_graphs.any(); }},
    {"'moe_router' with cuda_graph_impl: local includes 'moe_preprocess'; name both",
     [](const TrainingJob& job) {
       return IsLocal(job) && IsCaptured(job, &GraphModules::moe_router) &&
              !IsCaptured(job, &GraphModules::moe_preprocess);
     }},
    {"'moe' and 'moe_router' need model.experts",
     [](const TrainingJob& job) {
       return !HasExperts(job) &&
              (IsCaptured(job, &GraphModules::moe) || IsCaptured(job, &GraphModules::moe_router));
     }},
    {"'mlp' needs a dense layer; all layers have experts",
     [](const TrainingJob& job) {
       return IsCaptured(job, &GraphModules::mlp) && HasExperts(job) &&
              job.model.expert_layers() == job.model.layers;
     }},
    {"'moe' needs moe_pad_to_capacity: true or moe_counts: device; otherwise the host reads the "
     "number of tokens",
     [](const TrainingJob& job) {
       return HasExperts(job) && IsCaptured(job, &GraphModules::moe) && !KnowsCounts(job);
     }},
    {"'moe_preprocess' with moe_capacity_factor and dispatcher alltoall needs "
     "moe_pad_to_capacity: true; otherwise the host reads the number of tokens",
     [](const TrainingJob& job) {
       return IsCaptured(job, &GraphModules::moe_preprocess) && !IsPadded(job) &&
              job.training.moe.capacity_factor > 0 &&
              job.training.moe.dispatcher == MoeDispatcher::kAllToAll;
     }},
    {"graphs of layers or of their parts exclude recompute: full; use full_iteration",
     [](const TrainingJob& job) {
       const GraphScope scope = job.training.host.cuda_graphs.scope;
       return (scope == GraphScope::kLayers || scope == GraphScope::kParts) &&
              job.training.recompute.granularity == Recompute::kFull;
     }},
    {"'moe_router' excludes recompute_modules: [moe]",
     [](const TrainingJob& job) {
       return IsCaptured(job, &GraphModules::moe_router) && Recomputed(job).moe;
     }},
    {"'attn' excludes recompute_modules: [core_attn] with dropout",
     [](const TrainingJob& job) {
       return HasDropout(job) && IsCaptured(job, &GraphModules::attention) &&
              Recomputed(job).core_attention;
     }},
    {"'mlp' and 'moe' exclude the recomputation of the same module with dropout",
     [](const TrainingJob& job) {
       return HasDropout(job) && ((IsCaptured(job, &GraphModules::mlp) && Recomputed(job).mlp) ||
                                  (IsCaptured(job, &GraphModules::moe) && Recomputed(job).moe));
     }},
    {"'mlp' and 'moe' exclude overlap.expert",
     [](const TrainingJob& job) {
       return job.overlap.expert &&
              (IsCaptured(job, &GraphModules::mlp) || IsCaptured(job, &GraphModules::moe));
     }},
    {"graphs with attention exclude sparse_attention_kernels: cudnn, whose backward makes the host "
     "read a number of rows",
     [](const TrainingJob& job) {
       return CapturesAttention(job) &&
              job.training.kernels.sparse_attention == SparseKernels::kCudnn;
     }},
    {"full_iteration needs check_gradients: false",
     [](const TrainingJob& job) { return IsWhole(job) && job.training.optimizer.check_gradients; }},
    {"full_iteration excludes synchronous_timers",
     [](const TrainingJob& job) { return IsWhole(job) && job.training.host.synchronous_timers; }},
    {"full_iteration with experts needs moe_pad_to_capacity: true or moe_counts: device; otherwise "
     "the host reads the number of tokens",
     [](const TrainingJob& job) { return IsWhole(job) && HasExperts(job) && !KnowsCounts(job); }},
    {"full_iteration with a pipeline needs overlap.p2p: true or batch_p2p_sync: false; otherwise "
     "the host synchronizes the device",
     [](const TrainingJob& job) {
       return IsWhole(job) && job.parallel.pipeline > 1 && !job.overlap.p2p &&
              job.training.p2p.batch_sync;
     }},
};

}  // namespace

bool KeepsExpertNorm(const TrainingJob& job) {
  return Recomputed(job).norms && HasExperts(job) && job.training.kernels.fused &&
         !job.model.attention.is_latent() && !job.may_repeat_expert_norm();
}

void CheckGraphs(const TrainingJob& job, Diagnostics* diagnostics) {
  for (const GraphRule& rule : kRules) {
    if (!rule.is_broken(job)) continue;
    diagnostics->Add(
        job.ErrorAt("training.cuda_graphs", fmt::format("cuda_graphs: {}", rule.text)));
  }
}

}  // namespace drydock
