#include "study/search/layout_arguments.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "workload-gen/job/key.h"

namespace drydock {
namespace {

class Arguments {
 public:
  void Add(std::string_view name, int64_t value, int64_t usual) {
    if (value != usual) text_ += fmt::format("{} {}\n", name, value);
  }
  void AddWord(std::string_view name, std::string_view value) {
    text_ += fmt::format("{} {}\n", name, value);
  }
  void AddFlag(std::string_view name, bool present) {
    if (present) text_ += fmt::format("{}\n", name);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void AddRecompute(const TrainingJob& job, Arguments* arguments) {
  const RecomputeRules& recompute = job.training.recompute;
  if (recompute.granularity == Recompute::kNone) return;
  if (recompute.granularity == Recompute::kFull) {
    arguments->AddWord("--recompute-granularity", "full");
    arguments->AddWord("--recompute-method",
                       recompute.method == RecomputeMethod::kUniform ? "uniform" : "block");
    arguments->AddWord("--recompute-num-layers", std::to_string(recompute.layers));
    return;
  }
  arguments->AddWord("--recompute-granularity", "selective");
  // "[core_attn, mlp]"
  std::string modules = FindKey("training.recompute_modules")->kind->Text(job);
  std::erase_if(modules, [](char c) { return c == '[' || c == ']' || c == ','; });
  if (!modules.empty()) arguments->AddWord("--recompute-modules", modules);
}

std::string MegatronArguments(const TrainingJob& job, const ParallelLayout& layout) {
  Arguments arguments;
  arguments.Add("--tensor-model-parallel-size", layout.tensor, 1);
  arguments.AddFlag("--sequence-parallel", layout.sequence_parallel);
  arguments.Add("--pipeline-model-parallel-size", layout.pipeline, 1);
  arguments.Add("--num-virtual-stages-per-pipeline-rank", layout.chunks, 1);
  arguments.AddFlag("--no-overlap-p2p-communication", layout.chunks > 1 && !job.overlap.p2p);
  arguments.AddFlag("--account-for-embedding-in-pipeline-split",
                    job.parallel.account_for_embedding);
  arguments.AddFlag("--account-for-loss-in-pipeline-split", job.parallel.account_for_loss);
  arguments.Add("--context-parallel-size", layout.context, 1);
  if (job.model.moe.experts > 0) {
    arguments.Add("--expert-model-parallel-size", layout.expert, 1);
    arguments.Add("--expert-tensor-parallel-size", layout.expert_tensor, layout.tensor);
  }
  arguments.Add("--micro-batch-size", job.training.batch.micro, 0);
  arguments.Add("--global-batch-size", job.training.batch.global, 0);
  AddRecompute(job, &arguments);
  return arguments.text();
}

std::string TorchtitanOptions(const TrainingJob& job, const ParallelLayout& layout) {
  Arguments arguments;
  arguments.Add("--parallelism.data_parallel_replicate_degree", job.fsdp.replicas, 0);
  arguments.Add("--parallelism.tensor_parallel_degree", layout.tensor, 0);
  arguments.Add("--parallelism.context_parallel_degree", layout.context, 0);
  arguments.Add("--training.local_batch_size", job.training.batch.micro, 0);
  arguments.Add("--training.global_batch_size", job.training.batch.global, 0);
  const Recompute granularity = job.training.recompute.granularity;
  arguments.AddWord("--activation_checkpoint.mode", granularity == Recompute::kNone ? "none"
                                                    : granularity == Recompute::kFull
                                                        ? "full"
                                                        : "selective");
  return arguments.text();
}

std::string DeepSpeedConfiguration(const TrainingJob& job, const ParallelLayout& layout) {
  const nlohmann::ordered_json out = {{"train_batch_size", job.training.batch.global},
                                      {"train_micro_batch_size_per_gpu", job.training.batch.micro},
                                      {"gradient_accumulation_steps", layout.microbatches},
                                      {"zero_optimization", {{"stage", job.zero.stage}}}};
  return out.dump(2) + "\n";
}

}  // namespace

LayoutArguments ArgumentsOf(const TrainingJob& job, const ParallelLayout& layout) {
  switch (job.training.framework) {
    case FrameworkKind::kMegatron:
      return {".args", MegatronArguments(job, layout)};
    case FrameworkKind::kFsdp:
      return {".args", TorchtitanOptions(job, layout)};
    case FrameworkKind::kDeepSpeed:
      return {".json", DeepSpeedConfiguration(job, layout)};
  }
  return {};
}

}  // namespace drydock
