#include "study/search/quick_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/model/memory_total.h"

namespace drydock {
namespace {

bool IsOfPipeline(const std::string& assignment) {
  return assignment.starts_with("parallel.pipeline=") ||
         assignment.starts_with("parallel.virtual_pipeline=");
}

// The run in one stage, with a first, a middle and a last micro-batch. Errors: it is not possible.
Result<Outline> InOneStage(const Outline& outline) {
  Outline one;
  one.cluster_overrides = outline.cluster_overrides;
  one.run.job = outline.run.job;
  one.run.cluster = outline.run.cluster;
  ParallelRules& parallel = one.run.job.parallel;
  parallel.pipeline = 1;
  parallel.virtual_pipeline = 1;
  parallel.layout.clear();
  parallel.first_stage_layers = parallel.last_stage_layers = 0;
  parallel.account_for_embedding = parallel.account_for_loss = false;
  parallel.microbatch_group = 0;
  parallel.data = 0;
  const int64_t ranks = int64_t{outline.layout.data} * outline.layout.pipeline;
  one.run.job.training.batch.global = one.run.job.training.batch.micro * ranks * 3;
  RETURN_IF_ERROR(Complete(&one.run));
  ASSIGN_OR_RETURN(one.layout, LayoutOf(one.run, LayoutHint::kNone));
  return one;
}

// Tensors that wait on the host are not on the GPU.
bool KeepsAllSaved(const TrainingJob& job) {
  return job.training.offload_layers == 0 && !job.training.module_offload.any();
}

}  // namespace

const LayerCosts* QuickScreen::CostsOf(const std::vector<std::string>& assignments,
                                       const Outline& outline) {
  std::vector<std::string> key = assignments;
  std::erase_if(key, IsOfPipeline);
  const auto [known, added] = costs_.try_emplace(std::move(key));
  std::optional<LayerCosts>& costs = known->second;
  if (added) {
    const Result<Outline> one = InOneStage(outline);
    if (!one.ok()) return nullptr;
    std::vector<Bytes> saved;
    const Workload workload = BuildOps(one->run, one->layout, &saved);
    const Result<KernelTimes> times = evaluator_->TimesOf(*one, workload);
    if (!times.ok()) return nullptr;
    if (!KeepsAllSaved(one->run.job)) saved.clear();
    costs = LayerCostsOf(workload, *times, one->run.job.model.layers, saved);
  }
  return costs ? &*costs : nullptr;
}

QuickLook QuickScreen::Look(const std::vector<std::string>& assignments) {
  QuickLook look;
  const Result<Outline> outline = evaluator_->OutlineOf(assignments);
  if (!outline.ok()) {
    look.state = PointState::kRefused;
    look.reason = OneLine(outline.error());
    return look;
  }
  const TrainingJob& job = outline->run.job;
  const bool megatron = job.training.framework == FrameworkKind::kMegatron;
  if (!megatron || job.megatron_fsdp.any() || outline->varies()) return look;
  const LayerCosts* const costs = CostsOf(assignments, *outline);
  if (costs == nullptr) return look;
  look.bound = LeastTimeOf(outline->layout, *costs);
  int fullest = 0;
  for (int stage = 0; stage < outline->layout.pipeline; ++stage) {
    const Bytes least = outline->run.framework->LeastStates(job, outline->layout,
                                                            outline->run.cluster.topology, stage) +
                        LeastSaved(outline->layout, *costs, stage);
    if (least > look.memory) {
      look.memory = least;
      fullest = stage;
    }
  }
  const Bytes capacity = SmallestGpu(outline->run.cluster.topology);
  if (look.memory > capacity) {
    look.state = PointState::kUnfit;
    look.reason = fmt::format("stage {} needs at least {:.1f} GB of {:.1f} GB: does NOT fit",
                              fullest, static_cast<double>(look.memory.count()) / 1e9,
                              static_cast<double>(capacity.count()) / 1e9);
  }
  return look;
}

}  // namespace drydock
