#include "workload-gen/megatron_scope.h"

#include <fmt/format.h>

namespace drydock {
namespace {

struct Feature {
  const char* key;
  const char* what;
  bool (*is_used)(const TrainingJob& job);
};

// One row a feature; a writer that learns it takes its row out.
constexpr Feature kNotGenerated[] = {
    {"model.kv_lora_rank", "latent attention",
     [](const TrainingJob& job) { return job.model.is_latent(); }},
    {"model.experts", "a layer of experts",
     [](const TrainingJob& job) { return job.model.moe.experts > 0; }},
    {"model.mtp_layers", "multi-token prediction",
     [](const TrainingJob& job) { return job.model.mtp_layers > 0; }},
    {"model.qk_norm", "the norm of queries and keys",
     [](const TrainingJob& job) { return job.model.qk_norm; }},
    {"model.post_norms", "a norm behind attention and MLP",
     [](const TrainingJob& job) { return job.model.post_norms; }},
    {"model.causal", "attention without a causal mask",
     [](const TrainingJob& job) { return !job.model.causal; }},
    {"model.window", "attention in a sliding window",
     [](const TrainingJob& job) {
       return job.model.window > 0 && job.model.window < job.model.sequence;
     }},
    {"model.patch_features", "an embedding of patches",
     [](const TrainingJob& job) { return job.model.patch_features > 0; }},
    {"training.precision", "precision fp8",
     [](const TrainingJob& job) { return job.training.fp8; }},
    {"training.recompute_modules", "recomputation of other modules than core_attn",
     [](const TrainingJob& job) {
       RecomputeModules core;
       core.core_attention = true;
       return job.training.recompute == Recompute::kSelective &&
              job.training.recompute_modules != core;
     }},
    {"parallel.context", "context parallelism",
     [](const TrainingJob& job) { return job.parallel.context > 1; }},
    {"parallel.first_stage_layers", "a first stage of another size",
     [](const TrainingJob& job) { return job.parallel.first_stage_layers > 0; }},
    {"parallel.last_stage_layers", "a last stage of another size",
     [](const TrainingJob& job) { return job.parallel.last_stage_layers > 0; }},
    {"parallel.account_for_embedding", "an embedding that counts as a layer",
     [](const TrainingJob& job) { return job.parallel.account_for_embedding; }},
    {"parallel.account_for_loss", "a loss that counts as a layer",
     [](const TrainingJob& job) { return job.parallel.account_for_loss; }},
    {"parallel.microbatch_group", "a group of micro-batches other than pipeline",
     [](const TrainingJob& job) {
       return job.parallel.microbatch_group > 0 &&
              job.parallel.microbatch_group != job.parallel.pipeline;
     }},
    {"overlap.tensor", "tensor-parallel communication split over a GEMM's tiles",
     [](const TrainingJob& job) { return job.overlap.tensor; }},
    {"overlap.expert", "the exchange of tokens beside another micro-batch's compute",
     [](const TrainingJob& job) { return job.overlap.expert; }},
};

}  // namespace

Status CheckMegatronScope(const TrainingJob& job) {
  Diagnostics diagnostics;
  for (const Feature& feature : kNotGenerated) {
    if (!feature.is_used(job)) continue;
    diagnostics.Add(job.ErrorAt(
        feature.key, fmt::format("{} is not generated for framework megatron", feature.what)));
  }
  return diagnostics.ToStatus();
}

}  // namespace drydock
