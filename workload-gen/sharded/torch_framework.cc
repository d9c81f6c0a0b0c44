#include "workload-gen/sharded/torch_framework.h"

#include <fmt/format.h>

#include "workload-gen/layout/process_groups.h"
#include "workload-gen/layout/shard_groups.h"
#include "workload-gen/program/program_builder.h"
#include "workload-gen/work/model_size.h"
#include "workload-gen/work/table_finish.h"

namespace drydock {
namespace {

double FlopsOf(const TorchModule& module, const ParallelLayout& layout, ContextType type,
               const WorkTables& tables) {
  double flops = 0;
  const auto add = [&](uint32_t work, int times) { flops += tables.submodule(work).flops * times; };
  for (const uint32_t work : module.forward) {
    const Submodule& s = tables.submodule(work);
    if (s.Is<submodule::Linear>() || s.Is<submodule::Attention>()) add(work, 1);
  }
  if (module.core != nullptr) {
    const bool ring = type == ContextType::kP2p || module.core->torch.has_value();
    add(module.core->first.forward, ring ? 1 : 2);
    if (ring) add(module.core->other.forward, layout.context - 1);
  }
  if (module.experts != nullptr) {
    add(module.experts->fc1.forward, module.experts->repeat);
    add(module.experts->fc2.forward, module.experts->repeat);
    if (module.experts->shared) {
      add(module.experts->shared->mlp.fc1.forward, 1);
      add(module.experts->shared->mlp.fc2.forward, 1);
    }
  }
  return flops;
}

// Returns the FLOPs that recomputation adds over all GPUs: GEMMs and attention.
double RecomputedFlops(const TrainingJob& job, const ParallelLayout& layout,
                       const TorchModel& model, const WorkTables& tables) {
  if (job.training.recompute.granularity == Recompute::kNone) return 0;
  double of_layers = 0;
  for (int layer = 0; layer < job.model.layers; ++layer) {
    const size_t kind = model.kind_of_layer[static_cast<size_t>(layer)];
    const std::vector<TorchModule>& modules = model.blocks[kind].modules;
    const bool full = job.training.recompute.granularity == Recompute::kFull;
    const size_t end = model.blocks[kind].CountRepeated(job);
    for (size_t i = 0; i < end; ++i) {
      if (!full && !modules[i].selectively_recomputed) continue;
      of_layers += FlopsOf(modules[i], layout, job.parallel.context_type, tables);
    }
  }
  return of_layers * layout.microbatches * layout.gradient_ranks() * layout.tensor;
}

WorkloadTotals TotalsOf(const TrainingJob& job, const ParallelLayout& layout,
                        const TorchModel& model, const WorkTables& tables) {
  WorkloadTotals totals;
  totals.tokens = job.training.batch.global * job.model.sequence;
  totals.model_flops = FlopsOfIteration(job).model;
  totals.hardware_flops = totals.model_flops + RecomputedFlops(job, layout, model, tables);
  totals.parameters = ParameterCount(job.model);
  totals.model_name = job.model.name;
  totals.layout = layout.ToString();
  totals.precision = job.training.precision.products();
  return totals;
}

struct Feature {
  const char* key;
  const char* what;
  bool (*is_used)(const TrainingJob& job);
};

// One row per feature.
constexpr Feature kNotGenerated[] = {
    {"parallel.tensor", "latent attention over several tensor ranks",
     [](const TrainingJob& j) { return j.model.attention.is_latent() && j.parallel.tensor > 1; }},
    {"training.moe_imbalance", "an imbalance of experts",
     [](const TrainingJob& j) { return j.training.moe.imbalance > 1; }},
    {"parallel.tensor", "a head of keys that ranks share",
     [](const TrainingJob& j) {
       return !j.model.attention.is_latent() && j.model.attention.kv_heads % j.parallel.tensor != 0;
     }},
    {"model.mtp_layers", "multi-token prediction",
     [](const TrainingJob& j) { return j.model.mtp_layers > 0; }},
    {"model.layer_pattern", "a pattern of layers",
     [](const TrainingJob& j) { return !j.model.pattern.empty(); }},
    {"model.delta_attention_every", "a gated delta net",
     [](const TrainingJob& j) { return j.model.delta.attention_every > 0; }},
    {"model.expert_latent", "latent experts",
     [](const TrainingJob& j) { return j.model.moe.latent > 0; }},
    {"model.attention_gate", "a gate of attention",
     [](const TrainingJob& j) { return j.model.attention.gate; }},
    {"model.attention_sinks", "a learned term of the softmax",
     [](const TrainingJob& j) { return j.model.attention.sinks; }},
    {"model.qk_norm", "the norm of queries and keys",
     [](const TrainingJob& j) { return j.model.attention.qk_norm; }},
    {"model.post_norms", "a norm after attention and MLP",
     [](const TrainingJob& j) { return j.model.post_norms; }},
    {"model.pre_norms", "layers without a norm before them",
     [](const TrainingJob& j) { return !j.model.pre_norms; }},
    {"model.no_positions_every", "layers without positions beside others with them",
     [](const TrainingJob& j) { return j.model.attention.no_positions_every > 0; }},
    {"model.causal", "attention without a causal mask",
     [](const TrainingJob& j) { return !j.model.attention.causal; }},
    {"model.window", "attention in a sliding window",
     [](const TrainingJob& j) {
       return j.model.attention.window > 0 && j.model.attention.window < j.model.sequence;
     }},
    {"model.patch_features", "an embedding of patches",
     [](const TrainingJob& j) { return j.model.embedding.patch_features > 0; }},
    {"training.recompute_modules", "a choice of modules to recompute",
     [](const TrainingJob& j) { return j.places.count("training.recompute_modules") > 0; }},
    {"model.lora_rank", "a low-rank adapter",
     [](const TrainingJob& j) { return j.model.lora.any(); }},
    {"training.recompute_method", "recomputation of several layers together or of some layers only",
     [](const TrainingJob& j) {
       return j.training.recompute.method != RecomputeMethod::kUniform ||
              j.training.recompute.layers != 1;
     }},
    {"training.precision", "NVFP4",
     [](const TrainingJob& j) { return j.training.precision.nvfp4; }},
    {"training.bf16_layers_at_start", "a layer in bf16 beside others in fp8",
     [](const TrainingJob& j) {
       return j.training.precision.half_layers_at_start > 0 ||
              j.training.precision.half_layers_at_end > 0;
     }},
    {"training.bf16_linears", "a linear layer in bf16 beside others in fp8",
     [](const TrainingJob& j) { return j.training.precision.half_parts.any(); }},
    {"training.distributed_optimizer", "Megatron's distributed optimizer",
     [](const TrainingJob& j) { return j.training.optimizer.distributed; }},
    {"training.gradient_buffers", "the registration of gradient buffers with NCCL",
     [](const TrainingJob& j) {
       return j.training.optimizer.gradient_buffers != BufferKind::kPlain;
     }},
    {"training.scatter_gather_p2p", "a pipeline message in parts",
     [](const TrainingJob& j) { return j.training.p2p.scatter_gather; }},
    {"training.log_params_norm", "the norm of parameters that Megatron-LM logs",
     [](const TrainingJob& j) { return j.training.host.log_params_norm; }},
    {"training.log_zeros", "the count of zeros that Megatron-LM logs",
     [](const TrainingJob& j) { return j.training.host.log_zeros; }},
    {"training.cuda_graphs", "a CUDA graph",
     [](const TrainingJob& j) { return j.training.host.cuda_graphs.any(); }},
    {"parallel.layout", "Megatron's pipeline layout",
     [](const TrainingJob& j) { return !j.parallel.layout.empty(); }},
    {"overlap.grad_reduce", "Megatron's overlap of gradient reduction",
     [](const TrainingJob& j) { return j.overlap.grad_reduce; }},
    {"overlap.tensor", "tensor-parallel communication split over a GEMM's tiles",
     [](const TrainingJob& j) { return j.overlap.tensor; }},
};

// torchtitan compiles layers and loss.
LossTensors LossOf(bool compiled, int tensor) {
  if (compiled) return LossTensors::kCompiled;
  return tensor > 1 ? LossTensors::kEagerSplit : LossTensors::kEager;
}

ActivationRules ActivationsOf(const TrainingJob& job, const ParallelLayout& layout) {
  const bool compiled =
      job.training.framework == FrameworkKind::kFsdp && job.training.kernels.fused;
  ActivationRules rules;
  rules.saves_split_rows = false;
  rules.tensor = layout.tensor;
  rules.keeps_outputs = job.training.recompute.granularity == Recompute::kSelective;
  rules.residual = job.rank_tokens() / (layout.sequence_parallel ? layout.tensor : 1) *
                   job.model.hidden * SizeOf(job.training.precision.type).count();
  rules.repeats_keys = true;
  rules.keeps_gates = !compiled;
  rules.working.loss = LossOf(compiled, layout.tensor);
  return rules;
}

}  // namespace

Status CheckTorchJob(const TrainingJob& job) {
  Diagnostics diagnostics;
  for (const Feature& feature : kNotGenerated) {
    if (!feature.is_used(job)) continue;
    diagnostics.Add(
        job.ErrorAt(feature.key, fmt::format("{} is not generated for framework {}", feature.what,
                                             FrameworkName(job.training.framework))));
  }
  return diagnostics.ToStatus();
}

Workload BuildTorchWorkload(const TrainingJob& job, const ParallelLayout& layout,
                            const Topology& topology, int replicas, const MemoryDetail& detail,
                            const std::function<StateMemory(const TorchContext& context)>& write) {
  Workload workload;
  workload.topology = topology;
  workload.streams = StreamNames();
  GroupNeeds needs = GroupNeedsOf(job);
  needs.stage = false;  // each rank computes its own fp8 scales
  BuildGroups(layout, needs, &workload);
  const ShardRoles roles = AddShardGroups(layout, replicas, &workload);
  WorkTables tables(&workload);
  // Attention is PyTorch's scaled_dot_product_attention, which is always fused.
  TrainingJob fused = job;
  fused.training.kernels.fused = true;
  const RankWork work = MakeRankWork(fused, layout, &tables);
  const TorchModel model = MakeTorchModel(job, layout, work, &tables);
  workload.totals = TotalsOf(job, layout, model, tables);
  std::vector<StateMemory> states;
  for (int stage = 0; stage < layout.pipeline; ++stage) {
    ProgramBuilder builder(&tables);
    const WriterContext writer{job, layout, work, &tables, &builder, stage};
    states.push_back(write(TorchContext{writer, model, roles}));
    workload.programs.push_back(builder.Finish());
  }
  workload.class_count = layout.pipeline;
  for (int rank = 0; rank < layout.world(); ++rank) {
    workload.class_of_rank.push_back(layout.StageOf(rank));
  }
  DropUnusedSubmodules(&workload);
  CollectUses(&workload);
  const GpuSpec& gpu = topology.gpus[static_cast<size_t>(topology.host_kinds.front().gpu)];
  for (StateMemory& state : states) state.libraries += CublasWorkspaces(job.memory, gpu);
  FillMemory(job.memory, ActivationsOf(job, layout), states, detail, &workload);
  return workload;
}

}  // namespace drydock
