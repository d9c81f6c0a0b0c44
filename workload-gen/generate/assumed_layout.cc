#include "workload-gen/generate/assumed_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/memory_total.h"
#include "workload-gen/import/hf/hf_job.h"
#include "workload-gen/job/key.h"
#include "workload-gen/layout/fitting_layout.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

// What a rank's states need on average, which saves building what cannot fit: weights and
// gradients, and the optimizer's two moments and weights in fp32, split over data-parallel ranks or
// not.
double StateBytes(const TrainingJob& job, const Topology& topology) {
  const ModelShape& m = job.model;
  const ParallelRules& p = job.parallel;
  const auto all = static_cast<double>(ParameterCount(m));
  const int others = m.moe.experts - m.moe.per_token;
  const double routed =
      others <= 0 ? 0
                  : (all - static_cast<double>(ActiveParameterCount(m))) / others * m.moe.experts;
  const int expert_tensor = p.expert_tensor > 0 ? p.expert_tensor : p.tensor;
  const double held =
      (all - routed) / p.tensor / p.pipeline + routed / expert_tensor / p.expert / p.pipeline;
  const double gradient = job.training.precision.gradients == DataType::kFp32 ? 4 : 2;
  const double optimizer = job.training.optimizer.is_muon() ? 8 : 12;
  return held * (2 + gradient) + (job.training.optimizer.distributed
                                      ? all / topology.gpu_count() * optimizer
                                      : held * optimizer);
}

// "": the states fit.
std::string StatesMistake(const TrainingJob& job, const Topology& topology) {
  if (job.model.lora.any()) return "";
  const double bytes = StateBytes(job, topology);
  const auto capacity = static_cast<double>(SmallestGpu(topology).count());
  if (bytes <= capacity) return "";
  return fmt::format("more than {:.1f} of {:.1f} GB", bytes / 1e9, capacity / 1e9);
}

bool IsAssumed(const ImportNotes& notes, const std::string& key) {
  return std::any_of(notes.assumed.begin(), notes.assumed.end(),
                     [&key](const AssumedKey& each) { return each.key == key; });
}

}  // namespace

std::optional<std::string> MemoryMistakeOf(const Framework& framework, const Topology& topology,
                                           TrainingJob job, ParallelLayout layout) {
  const int most = 2 * layout.virtual_stages();
  if (layout.microbatches > most) {
    job.training.batch.global = job.training.batch.micro * layout.data * most;
    Result<ParallelLayout> fewer = ResolveLayout(job, topology);
    if (fewer.ok()) layout = *std::move(fewer);
  }
  if (!framework.Check(job).ok() || !framework.CheckLayout(job, layout).ok()) return std::nullopt;
  const std::optional<MemoryVerdict> verdict =
      JudgeMemory(framework.Build(job, layout, topology, {.reserved = false}));
  if (!verdict || verdict->fits()) return "";
  return fmt::format("{:.1f} of {:.1f} GB", static_cast<double>(verdict->total.count()) / 1e9,
                     static_cast<double>(verdict->capacity.count()) / 1e9);
}

Status ChooseAssumed(const Framework& framework, const Topology& topology, ImportNotes* notes,
                     TrainingJob* job) {
  const OpenChoices open = {.tensor = IsAssumed(*notes, "parallel.tensor"),
                            .pipeline = IsAssumed(*notes, "parallel.pipeline"),
                            .expert = IsAssumed(*notes, "parallel.expert"),
                            .recompute = IsAssumed(*notes, "training.recompute"),
                            .batch = IsAssumed(*notes, "training.global_batch"),
                            .step_tokens = kAssumedStepTokens};
  if (!open.tensor && !open.pipeline && !open.expert && !open.recompute && !open.batch) {
    return OkStatus();
  }
  RETURN_IF_ERROR(FitLayout(
      open, topology,
      [&](const TrainingJob& other, const ParallelLayout& layout) -> std::optional<std::string> {
        const std::string mistake = StatesMistake(other, topology);
        return mistake.empty() ? MemoryMistakeOf(framework, topology, other, layout) : mistake;
      },
      job));
  for (AssumedKey& each : notes->assumed) each.value = FindKey(each.key)->kind->Text(*job);
  if (!job->parallel.layout.empty() && !job->places.contains("parallel.layout")) {
    notes->assumed.push_back({"parallel.layout", job->parallel.layout,
                              "the stages do not divide the layers; they differ by one"});
  }
  return OkStatus();
}

}  // namespace drydock
