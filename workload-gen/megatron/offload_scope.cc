#include "workload-gen/megatron/offload_scope.h"

#include <fmt/format.h>

namespace drydock {
namespace {

using Modules = OffloadModules;

const Modules& ModulesOf(const TrainingJob& job) { return job.training.module_offload.modules; }
bool HasExpertModules(const TrainingJob& job) {
  return ModulesOf(job).expert_fc1 || ModulesOf(job).expert_activation;
}
bool HasFusedExperts(const TrainingJob& job) { return ModulesOf(job).fused_mlp; }
bool HasModulesInExperts(const TrainingJob& job) {
  return HasExpertModules(job) || HasFusedExperts(job);
}
bool Captures(const TrainingJob& job, LayerRegion region) {
  return job.training.host.cuda_graphs.Holds(region);
}

struct OffloadRule {
  const char* text;
  bool (*is_broken)(const TrainingJob& job);
};

// Most are checks of Megatron-Core's transformer_config.py and transformer_layer.py.
constexpr OffloadRule kRules[] = {
    {"needs kernels: fused; only modules of Transformer Engine mark what may leave",
     [](const TrainingJob& job) { return !job.training.kernels.fused; }},
    {"excludes offload_layers",
     [](const TrainingJob& job) { return job.training.offload_layers > 0; }},
    {"excludes recompute: full; use selective",
     [](const TrainingJob& job) { return job.training.recompute.granularity == Recompute::kFull; }},
    {"with adapters (lora_rank) is not generated",
     [](const TrainingJob& job) { return job.model.lora.any(); }},
    {"'attn_proj' needs 'core_attn', whose output it reads",
     [](const TrainingJob& job) { return ModulesOf(job).proj && !ModulesOf(job).core_attention; }},
    {"'core_attn' excludes recompute_modules: [core_attn], which saves nothing to offload",
     [](const TrainingJob& job) {
       return ModulesOf(job).core_attention && job.training.recompute.modules.core_attention;
     }},
    {"'core_attn' with fp8_attention is not generated",
     [](const TrainingJob& job) {
       return ModulesOf(job).core_attention && job.training.precision.fp8_attention;
     }},
    {"'attn_norm' has no effect without model.kv_lora_rank: Transformer Engine fuses the norm with "
     "the projections, and 'qkv_linear' offloads what both save",
     [](const TrainingJob& job) {
       return ModulesOf(job).attention_norm && !job.model.attention.is_latent() &&
              job.training.kernels.fused;
     }},
    {"'mlp_norm', 'expert_fc1' and 'moe_act' need model.experts",
     [](const TrainingJob& job) {
       return (HasExpertModules(job) || ModulesOf(job).mlp_norm) && job.model.moe.experts == 0;
     }},
    {"'expert_fc1' and 'moe_act' need moe_grouped_gemm: true",
     [](const TrainingJob& job) {
       return HasExpertModules(job) && job.model.moe.experts > 0 && !job.training.moe.grouped_gemm;
     }},
    {"'fused_group_mlp' needs moe_fused_mlp: true",
     [](const TrainingJob& job) { return HasFusedExperts(job) && !job.training.moe.fused_mlp; }},
    {"'expert_fc1', 'moe_act' and 'fused_group_mlp' exclude recompute_modules: [moe], which saves "
     "none of them",
     [](const TrainingJob& job) {
       return HasModulesInExperts(job) && job.training.recompute.modules.moe;
     }},
    // Otherwise TEGroupedMLP saves the input in 16 bits and quantizes it again in backward.
    {"'expert_fc1' in fp8 is generated for fp8_recipe: mxfp8",
     [](const TrainingJob& job) {
       const PrecisionRules& precision = job.training.precision;
       return ModulesOf(job).expert_fc1 && precision.fp8 && precision.recipe != Fp8Recipe::kMxfp8;
     }},
    {"is generated without cuda_graphs of whole layers or iterations; use parts, such as "
     "[moe_router]",
     [](const TrainingJob& job) {
       const GraphScope scope = job.training.host.cuda_graphs.scope;
       return scope != GraphScope::kNone && scope != GraphScope::kParts;
     }},
    {"'attn_norm', 'qkv_linear', 'core_attn' and 'attn_proj' with cuda_graphs: [attn] are not "
     "generated",
     [](const TrainingJob& job) {
       const Modules& m = ModulesOf(job);
       return Captures(job, LayerRegion::kAttention) &&
              (m.attention_norm || m.qkv || m.core_attention || m.proj);
     }},
    {"'mlp_norm' excludes cuda_graphs: [attn], [moe_router] and [moe]",
     [](const TrainingJob& job) {
       return ModulesOf(job).mlp_norm &&
              (Captures(job, LayerRegion::kAttention) || Captures(job, LayerRegion::kRouter));
     }},
    {"'expert_fc1', 'moe_act' and 'fused_group_mlp' with cuda_graphs: [moe] are not generated",
     [](const TrainingJob& job) {
       return HasModulesInExperts(job) && Captures(job, LayerRegion::kExperts);
     }},
};

}  // namespace

void CheckModuleOffload(const TrainingJob& job, Diagnostics* diagnostics) {
  if (!job.training.module_offload.any()) return;
  const char* key = "training.offload_modules";
  for (const OffloadRule& rule : kRules) {
    if (!rule.is_broken(job)) continue;
    const std::string text = rule.text;
    const char* between = text.front() == '\'' ? "offload_modules: " : "'offload_modules' ";
    diagnostics->Add(job.ErrorAt(key, between + text));
  }
}

}  // namespace drydock
