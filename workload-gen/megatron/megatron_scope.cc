#include "workload-gen/megatron/megatron_scope.h"

#include <fmt/format.h>

#include "workload-gen/megatron/offload_scope.h"

namespace drydock {
namespace {

struct Feature {
  const char* key;
  const char* what;
  bool (*is_used)(const TrainingJob& job);
};

bool HasWindow(const TrainingJob& job) {
  return job.model.attention.window > 0 && job.model.attention.window < job.model.sequence;
}

// One row per feature.
constexpr Feature kNotGenerated[] = {
    {"model.mtp_layers", "multi-token prediction with learned positions or dropout",
     [](const TrainingJob& job) {
       return job.model.mtp_layers > 0 &&
              (job.model.embedding.learned_positions() || job.model.dropout > 0);
     }},
    {"model.patch_features",
     "an embedding of patches with split sequences or multi-token prediction",
     [](const TrainingJob& job) {
       return job.model.embedding.patch_features > 0 &&
              (job.parallel.sequence_parallel || job.parallel.context > 1 ||
               job.model.mtp_layers > 0);
     }},
    {"model.bias", "latent or shared experts with biases",
     [](const TrainingJob& job) {
       return job.model.bias && (job.model.moe.latent > 0 || job.model.moe.shared_ffn > 0);
     }},
    {"parallel.context", "a Mamba-2 layer or a gated delta net with a split sequence",
     [](const TrainingJob& job) {
       return job.parallel.context > 1 &&
              (job.model.HasMixer(Mixer::kMamba) || job.model.HasMixer(Mixer::kDeltaNet));
     }},
    {"overlap.expert", "latent experts whose token exchange overlaps compute",
     [](const TrainingJob& job) { return job.overlap.expert && job.model.moe.latent > 0; }},
    {"parallel.context_type", "a sliding window with a ring of keys (context_type p2p or a2a+p2p)",
     [](const TrainingJob& job) {
       return HasWindow(job) && job.parallel.context > 1 && PassesKeys(job.parallel.context_type);
     }},
    {"training.moe_dispatcher", "a capacity with dispatcher flex",
     [](const TrainingJob& job) {
       return job.model.moe.experts > 0 && job.training.moe.dispatcher == MoeDispatcher::kFlex &&
              job.training.moe.capacity_factor > 0;
     }},
    {"training.moe_capacity_factor", "a capacity with dispatcher allgather",
     [](const TrainingJob& job) {
       return job.model.moe.experts > 0 && job.training.moe.capacity_factor > 0 &&
              job.training.moe.dispatcher == MoeDispatcher::kAllGather;
     }},
    {"training.cuda_graphs",
     "CUDA graphs of whole layers whose token exchange overlaps compute (overlap.expert)",
     [](const TrainingJob& job) {
       const GraphScope scope = job.training.host.cuda_graphs.scope;
       return job.overlap.expert && (scope == GraphScope::kLayers || scope == GraphScope::kFull);
     }},
};

}  // namespace

Status CheckMegatronScope(const TrainingJob& job) {
  Diagnostics diagnostics;
  for (const Feature& feature : kNotGenerated) {
    if (!feature.is_used(job)) continue;
    diagnostics.Add(job.ErrorAt(
        feature.key, fmt::format("{} is not generated for framework megatron", feature.what)));
  }
  CheckModuleOffload(job, &diagnostics);
  return diagnostics.ToStatus();
}

}  // namespace drydock
