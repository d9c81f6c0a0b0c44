#include "workload-gen/megatron/megatron.h"

#include <algorithm>
#include <vector>

#include "core/model/attention_backend.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/layout/shard_groups.h"
#include "workload-gen/megatron/megatron_scope.h"
#include "workload-gen/memory/activation_memory.h"
#include "workload-gen/memory/rank_memory.h"
#include "workload-gen/program/program_builder.h"
#include "workload-gen/stages/stage_program.h"
#include "workload-gen/work/layer_work.h"
#include "workload-gen/work/model_size.h"
#include "workload-gen/work/table_finish.h"

namespace drydock {
namespace {

WorkloadTotals TotalsOf(const TrainingJob& job, const ParallelLayout& layout) {
  const IterationFlops flops = FlopsOfIteration(job);
  WorkloadTotals totals;
  totals.tokens = job.training.batch.global * job.model.sequence;
  totals.model_flops = flops.model;
  totals.hardware_flops = flops.hardware;
  totals.parameters = ParameterCount(job.model);
  totals.model_name = job.model.name;
  totals.layout = layout.ToString();
  totals.precision = job.training.precision.products();
  return totals;
}

// Ranks run one program per stage; with an imbalance of experts, one per stage and load.
std::vector<ExpertLoad> LoadsOf(const TrainingJob& job) {
  if (job.model.moe.experts == 0 || job.training.moe.imbalance <= 1) return {ExpertLoad::kMean};
  return {ExpertLoad::kBusiest, ExpertLoad::kOthers};
}

void WritePrograms(const TrainingJob& job, const ParallelLayout& layout, const ShardRoles& shards,
                   int64_t offloaded_layer, Workload* workload) {
  WorkTables tables(workload);
  const std::vector<ExpertLoad> loads = LoadsOf(job);
  const int gpus = workload->topology.host_kinds.front().gpus;
  std::vector<RankWork> works;
  for (const ExpertLoad load : loads) {
    works.push_back(MakeRankWork(job, layout, &tables, load, gpus));
    works.back().offloaded_layer = offloaded_layer;
  }
  for (int stage = 0; stage < layout.pipeline; ++stage) {
    for (const RankWork& work : works) {
      workload->programs.push_back(WriteStageProgram(job, layout, work, stage, shards, &tables));
    }
  }
  workload->class_count = static_cast<int>(workload->programs.size());
  const int count = static_cast<int>(loads.size());
  for (int rank = 0; rank < layout.world(); ++rank) {
    const int load = std::min(layout.ExpertRankOf(rank), count - 1);
    workload->class_of_rank.push_back(layout.StageOf(rank) * count + load);
  }
}

LossTensors LossOf(CrossEntropyFusion fusion) {
  switch (fusion) {
    case CrossEntropyFusion::kNone:
      return LossTensors::kSoftmax;
    case CrossEntropyFusion::kNative:
      return LossTensors::kCompiledSoftmax;
    case CrossEntropyFusion::kTransformerEngine:
      return LossTensors::kGradientInPlace;
  }
  return LossTensors::kSoftmax;
}

ActivationRules ActivationsOf(const TrainingJob& job, const ParallelLayout& layout) {
  const KernelRules& kernels = job.training.kernels;
  const int64_t rows = job.rank_tokens();
  const bool several = layout.context > 1;
  ActivationRules rules;
  rules.saves_split_rows = layout.sequence_parallel;
  rules.tensor = layout.tensor;
  rules.residual = rows / (layout.sequence_parallel ? layout.tensor : 1) * job.model.hidden *
                   SizeOf(job.training.precision.type).count();
  rules.head_gradient_waits =
      job.model.embedding.tied && layout.pipeline == 1 && !kernels.gradient_accumulation_fusion;
  const LoraShape& lora = job.model.lora;
  const ContextType type = job.parallel.context_type;
  rules.keeps_attention = (several && ExchangesHeads(type)) ||
                          (lora.any() && kernels.fused && (!lora.targets.proj || lora.dropout > 0));
  rules.gathers_keys = several && type == ContextType::kAllGather;
  rules.working.loss = LossOf(kernels.cross_entropy_fusion);
  rules.working.weight_gradients = true;
  if (several && PassesKeys(type)) rules.working.ring = layout.context_ring();
  return rules;
}

// Returns the bytes that a layer saves in a run that offloads nothing.
int64_t OffloadedLayer(const TrainingJob& job, const ParallelLayout& layout,
                       const ShardRoles& shards, const ActivationRules& rules, Workload workload) {
  if (job.training.offload_layers == 0) return 0;
  WritePrograms(job, layout, shards, 0, &workload);
  return WalkActivations(workload, workload.programs[0], rules).of_layer.count();
}

class Megatron : public Framework {
 public:
  Status Check(const TrainingJob& job) const override { return CheckMegatronScope(job); }

  Workload Build(const TrainingJob& job, const ParallelLayout& layout, const Topology& topology,
                 const MemoryDetail& detail) const override {
    Workload workload;
    workload.topology = topology;
    workload.streams = StreamNames();
    workload.totals = TotalsOf(job, layout);
    BuildGroups(layout, GroupNeedsOf(job), &workload);
    const ShardRoles shards = AddInstanceGroups(layout, job.model.moe.experts > 0, &workload);
    ActivationRules activations = ActivationsOf(job, layout);
    const int64_t offloaded = OffloadedLayer(job, layout, shards, activations, workload);
    activations.offloaded = offloaded * job.training.offload_layers;
    WritePrograms(job, layout, shards, offloaded, &workload);
    DropUnusedSubmodules(&workload);
    CollectUses(&workload);
    std::vector<StateMemory> states;
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(topology.host_kinds.front().gpu)];
    const int loads = workload.class_count / layout.pipeline;
    for (int c = 0; c < workload.class_count; ++c) {
      states.push_back(MegatronStates(job, layout, c / loads, gpu));
    }
    FillMemory(job.memory, activations, states, detail, &workload);
    return workload;
  }

  // Sharded weights and gradients come and go, so they are left out.
  Bytes LeastStates(const TrainingJob& job, const ParallelLayout& layout, const Topology& topology,
                    int stage) const override {
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(topology.host_kinds.front().gpu)];
    const StateMemory state = MegatronStates(job, layout, stage, gpu);
    return Bytes(state.parameters + state.gradients + state.optimizer + state.gathered +
                 state.buffers + state.fp8_weights + state.libraries);
  }

  const char* AttentionBackend() const override { return kAttentionByTransformerEngine; }
};

}  // namespace

std::unique_ptr<Framework> MakeMegatron() { return std::make_unique<Megatron>(); }

}  // namespace drydock
