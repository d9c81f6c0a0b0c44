#include "workload-gen/layout.h"

#include <fmt/format.h>

namespace drydock {
namespace {

class Validator {
 public:
  Validator(const TrainingJob& job, const Topology& topology)
      : job_(job), model_(job.model), parallel_(job.parallel), topology_(topology) {}

  Result<Layout> Run() {
    CheckTensor();
    CheckDivision();
    CheckStages();
    CheckRanks();
    if (diagnostics_.ok()) CheckBatch();
    RETURN_IF_ERROR(diagnostics_.ToStatus());
    return Finished();
  }

 private:
  template <typename... Args>
  void Fail(const std::string& key, fmt::format_string<Args...> text, Args&&... args) {
    diagnostics_.Add(job_.ErrorAt(key, fmt::format(text, std::forward<Args>(args)...)));
  }

  void CheckTensor() {
    for (const HostKind& kind : topology_.host_kinds) {
      if (parallel_.tensor > kind.gpus) {
        Fail("parallel.tensor", "tensor {} is more than the {} GPUs of a {} host", parallel_.tensor,
             kind.gpus, kind.name);
        return;
      }
      if (kind.gpus % parallel_.tensor != 0) {
        Fail("parallel.tensor",
             "tensor {} does not divide the {} GPUs of a {} host, so a tensor group would span "
             "hosts",
             parallel_.tensor, kind.gpus, kind.name);
        return;
      }
    }
  }

  void CheckDivision() {
    const auto divide = [&](const char* what, int64_t value) {
      if (value % parallel_.tensor == 0) return;
      Fail("parallel.tensor", "{} {} is not divisible by tensor {}", what, value, parallel_.tensor);
    };
    divide("heads", model_.heads);
    if (model_.kv_heads != model_.heads) divide("kv_heads", model_.kv_heads);
    divide("hidden", model_.hidden);
    divide("ffn", model_.ffn);
    if (parallel_.sequence_parallel) divide("sequence", model_.sequence);
  }

  void CheckStages() {
    const int64_t stages = int64_t{parallel_.pipeline} * parallel_.virtual_pipeline;
    if (parallel_.virtual_pipeline > 1 && parallel_.pipeline == 1) {
      Fail("parallel.virtual_pipeline", "virtual_pipeline {} needs pipeline > 1",
           parallel_.virtual_pipeline);
    } else if (model_.layers % stages != 0) {
      if (parallel_.virtual_pipeline > 1) {
        Fail("parallel.virtual_pipeline",
             "layers {} is not divisible by pipeline {} x virtual_pipeline {} = {} stages",
             model_.layers, parallel_.pipeline, parallel_.virtual_pipeline, stages);
      } else {
        Fail("parallel.pipeline", "layers {} is not divisible by pipeline {}", model_.layers,
             parallel_.pipeline);
      }
    }
  }

  void CheckRanks() {
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

  void CheckBatch() {
    const int64_t micro = job_.training.micro_batch;
    const int64_t global = job_.training.global_batch;
    const int64_t together = micro * layout_.data;
    if (global % together != 0) {
      Fail("training.global_batch",
           "global_batch {} is not divisible by micro_batch {} x data {} = {}", global, micro,
           layout_.data, together);
      return;
    }
    const int64_t count = global / together;
    if (parallel_.virtual_pipeline > 1 && count % parallel_.pipeline != 0) {
      Fail("parallel.virtual_pipeline",
           "{} micro-batches are not divisible by pipeline {}, which interleaving (virtual_pipeline"
           " {}) needs",
           count, parallel_.pipeline, parallel_.virtual_pipeline);
    }
    // A send/recv tag numbers (micro-batch, virtual stage, direction) in 31 bits.
    const int64_t stages = int64_t{parallel_.pipeline} * parallel_.virtual_pipeline;
    if (count > INT32_MAX / (2 * stages)) {
      Fail("training.global_batch", "{} micro-batches over {} stages are too many", count, stages);
    }
    layout_.microbatches = static_cast<int>(count);
  }

  Layout Finished() {
    layout_.tensor = parallel_.tensor;
    layout_.pipeline = parallel_.pipeline;
    layout_.chunks = parallel_.virtual_pipeline;
    layout_.sequence_parallel = parallel_.sequence_parallel;
    layout_.order = parallel_.order;
    layout_.layers_per_chunk = model_.layers / layout_.virtual_stages();
    const int64_t multiple = model_.vocab_multiple * parallel_.tensor;
    layout_.padded_vocab = (model_.vocab + multiple - 1) / multiple * multiple;
    return layout_;
  }

  const TrainingJob& job_;
  const ModelShape& model_;
  const ParallelRules& parallel_;
  const Topology& topology_;
  Diagnostics diagnostics_;
  Layout layout_;
};

}  // namespace

std::string Layout::ToString() const {
  std::string text = fmt::format("TP{} PP{}", tensor, pipeline);
  if (chunks > 1) text += fmt::format(" ({} virtual)", chunks);
  text += fmt::format(" DP{}", data);
  if (sequence_parallel) text += ", sequence parallel";
  return text + fmt::format(", {} micro-batch{}", microbatches, microbatches == 1 ? "" : "es");
}

Result<Layout> ResolveLayout(const TrainingJob& job, const Topology& topology) {
  return Validator(job, topology).Run();
}

}  // namespace drydock
