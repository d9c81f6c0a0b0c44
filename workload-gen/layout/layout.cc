#include "workload-gen/layout/layout.h"

#include <fmt/format.h>

#include "workload-gen/job/layout_rules.h"
#include "workload-gen/job/pipeline_layout.h"
#include "workload-gen/layout/layer_split.h"

namespace drydock {
namespace {

class Resolver {
 public:
  Resolver(const TrainingJob& job, const Topology& topology)
      : job_(job), parallel_(job.parallel), topology_(topology) {}

  Result<ParallelLayout> Run() {
    CheckDegrees(job_, topology_, &diagnostics_);
    Split();
    PlaceRanks();
    if (diagnostics_.ok()) PlaceExperts();
    if (diagnostics_.ok()) PlaceInstances();
    if (diagnostics_.ok()) SplitBatch();
    RETURN_IF_ERROR(diagnostics_.ToStatus());
    return Finished();
  }

 private:
  template <typename... Args>
  void Fail(const std::string& key, fmt::format_string<Args...> text, Args&&... args) {
    diagnostics_.Add(job_.ErrorAt(key, fmt::format(text, std::forward<Args>(args)...)));
  }

  void Split() {
    if (parallel_.virtual_pipeline > 1 && parallel_.pipeline == 1) {
      Fail("parallel.virtual_pipeline", "virtual_pipeline {} needs pipeline > 1",
           parallel_.virtual_pipeline);
      return;
    }
    const LayerSplit split = SplitLayers(job_.model.layers, parallel_);
    if (split.layers.empty()) {
      Fail("parallel." + split.key, "{}", split.reason);
      return;
    }
    layout_.first_layer = {0};
    for (const int layers : split.layers) {
      layout_.first_layer.push_back(layout_.first_layer.back() + layers);
    }
    PlaceEnd(split.layers);
  }

  // The final norm is on the last stage. With MTP, it is on the stage of the last layer
  // (transformer_block.py) unless overlap.expert is set.
  void PlaceEnd(const std::vector<int>& layers) {
    layout_.norm_stage = static_cast<int>(layers.size()) - 1;
    if (job_.model.mtp_layers == 0) return;
    std::vector<int> mtp(layers.size(), 0);
    mtp.back() = job_.model.mtp_layers;
    if (!parallel_.layout.empty()) {
      mtp = MtpLayersOf(ExpandPipelineLayout(parallel_.layout).stages);
    }
    layout_.first_mtp_layer = {0};
    for (const int count : mtp) {
      layout_.first_mtp_layer.push_back(layout_.first_mtp_layer.back() + count);
    }
    if (job_.overlap.expert) return;
    while (layout_.norm_stage > 0 && layers[static_cast<size_t>(layout_.norm_stage)] == 0) {
      --layout_.norm_stage;
    }
  }

  void PlaceRanks() {
    const int64_t gpus = topology_.gpu_count();
    const int64_t replica = int64_t{parallel_.tensor} * parallel_.pipeline * parallel_.context;
    if (parallel_.data == 0) {
      if (gpus % replica != 0) {
        Fail("parallel.data",
             "tensor {} x pipeline {} x context {} = {} does not divide the cluster's {} GPUs",
             parallel_.tensor, parallel_.pipeline, parallel_.context, replica, gpus);
      }
      layout_.data = static_cast<int>(gpus / replica);
    } else {
      if (replica * parallel_.data != gpus) {
        Fail("parallel.data",
             "tensor {} x pipeline {} x context {} x data {} = {} GPUs, but the cluster has {}",
             parallel_.tensor, parallel_.pipeline, parallel_.context, parallel_.data,
             replica * parallel_.data, gpus);
      }
      layout_.data = parallel_.data;
    }
  }

  // Places the same ranks in the grid of layers with experts.
  void PlaceExperts() {
    if (job_.model.moe.experts == 0) return;
    layout_.expert = parallel_.expert;
    layout_.expert_tensor = ExpertTensorOf(parallel_);
    const int64_t replica = int64_t{layout_.expert_tensor} * layout_.expert * parallel_.pipeline;
    const int64_t gpus = topology_.gpu_count();
    if (gpus % replica != 0) {
      Fail("parallel.expert",
           "expert_tensor {} x expert {} x pipeline {} = {} does not divide the cluster's {} GPUs",
           layout_.expert_tensor, layout_.expert, parallel_.pipeline, replica, gpus);
      return;
    }
    const int64_t dense = int64_t{parallel_.tensor} * parallel_.context;
    const int64_t experts = int64_t{layout_.expert_tensor} * layout_.expert;
    if (parallel_.order != RankOrder::kTensorContextExpertDataPipeline && parallel_.pipeline > 1 &&
        dense != experts) {
      Fail("parallel.rank_order",
           "with stages before data parallelism, tensor {} x context {} = {} and expert_tensor {} "
           "x expert {} = {} must be equal, so that all layers have the same stages",
           parallel_.tensor, parallel_.context, dense, layout_.expert_tensor, layout_.expert,
           experts);
    }
  }

  // Every instance of the optimizer has the same number of ranks, also of those with the same
  // experts (parallel_state.py).
  void PlaceInstances() {
    const int instances = job_.training.optimizer.instances;
    if (instances == 1) return;
    layout_.instances = instances;
    const auto check = [&](const char* what, int64_t ranks) {
      if (ranks % instances == 0) return;
      Fail("training.optimizer_instances",
           "optimizer_instances {} does not divide the {} ranks that hold the same {}", instances,
           ranks, what);
    };
    check("weights", int64_t{parallel_.context} * layout_.data);
    if (job_.model.moe.experts == 0) return;
    const int64_t sets = int64_t{layout_.expert_tensor} * layout_.expert * parallel_.pipeline;
    check("experts", topology_.gpu_count() / sets);
  }

  void SplitBatch() {
    const int64_t micro = job_.training.batch.micro;
    const int64_t global = job_.training.batch.global;
    const int64_t together = micro * layout_.data;
    if (global % together != 0) {
      Fail("training.global_batch",
           "global_batch {} is not divisible by micro_batch {} x data {} = {}", global, micro,
           layout_.data, together);
      return;
    }
    const int64_t count = global / together;
    CheckInterleaving(count);
    // A send/recv tag numbers (micro-batch, virtual stage, direction) in 31 bits.
    const int64_t stages = int64_t{parallel_.pipeline} * parallel_.virtual_pipeline;
    if (count > INT32_MAX / (2 * stages)) {
      Fail("training.global_batch", "{} micro-batches over {} stages are too many", count, stages);
    }
    layout_.microbatches = static_cast<int>(count);
  }

  void CheckInterleaving(int64_t count) {
    const int group =
        parallel_.microbatch_group > 0 ? parallel_.microbatch_group : parallel_.pipeline;
    layout_.microbatch_group = group;
    if (parallel_.virtual_pipeline == 1) return;
    if (group == parallel_.pipeline && count % group != 0) {
      Fail("parallel.virtual_pipeline",
           "{} micro-batches are not divisible by pipeline {}, which interleaving (virtual_pipeline"
           " {}) needs",
           count, parallel_.pipeline, parallel_.virtual_pipeline);
    } else if (group < parallel_.pipeline || group > count) {
      Fail("parallel.microbatch_group",
           "microbatch_group {} must be between pipeline {} and the {} micro-batches", group,
           parallel_.pipeline, count);
    } else if (count % group != 0 && count % group < parallel_.pipeline) {
      Fail("parallel.microbatch_group",
           "{} micro-batches in groups of {} leave {} for the last, fewer than pipeline {}", count,
           group, count % group, parallel_.pipeline);
    }
  }

  ParallelLayout Finished() {
    layout_.tensor = parallel_.tensor;
    layout_.context = parallel_.context;
    if (parallel_.context > 1 && parallel_.context_type == ContextType::kHeadsAndRing) {
      layout_.context_heads = parallel_.context_heads;
    }
    layout_.pipeline = parallel_.pipeline;
    layout_.chunks = parallel_.virtual_pipeline;
    layout_.sequence_parallel = parallel_.sequence_parallel;
    layout_.order = parallel_.order;
    if (job_.model.moe.experts == 0) layout_.expert_tensor = layout_.tensor;
    const int64_t multiple = job_.model.embedding.vocab_multiple * parallel_.tensor;
    layout_.padded_vocab = (job_.model.embedding.vocab + multiple - 1) / multiple * multiple;
    return layout_;
  }

  const TrainingJob& job_;
  const ParallelRules& parallel_;
  const Topology& topology_;
  Diagnostics diagnostics_;
  ParallelLayout layout_;
};

}  // namespace

std::string ParallelLayout::ToString() const {
  std::string text = fmt::format("TP{}", tensor);
  if (context > 1) text += fmt::format(" CP{}", context);
  if (context_heads > 1) text += fmt::format(" ({} x {})", context_heads, context_ring());
  text += fmt::format(" PP{}", pipeline);
  if (chunks > 1) text += fmt::format(" ({} virtual)", chunks);
  text += fmt::format(" DP{}", data);
  if (expert > 1) text += fmt::format(" EP{}", expert);
  if (expert_tensor != tensor) text += fmt::format(" ETP{}", expert_tensor);
  if (sequence_parallel) text += ", sequence parallel";
  return text + fmt::format(", {} micro-batch{}", microbatches, microbatches == 1 ? "" : "es");
}

Result<ParallelLayout> ResolveLayout(const TrainingJob& job, const Topology& topology) {
  return Resolver(job, topology).Run();
}

}  // namespace drydock
