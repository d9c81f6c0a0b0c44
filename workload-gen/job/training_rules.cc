// The sections of model.yaml that say how a model is trained and spread.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/spelling.h"
#include "workload-gen/job/framework_names.h"
#include "workload-gen/job/pipeline_layout.h"
#include "workload-gen/job/section_readers.h"

namespace drydock {
namespace {

int ModuleIndex(const YamlNode& item, Diagnostics* diagnostics) {
  const Result<std::string> name = AsString(item);
  if (!name.ok()) {
    diagnostics->Add(name.error());
    return -1;
  }
  const std::vector<std::string>& names = RecomputeModuleNames();
  for (size_t i = 0; i < names.size(); ++i) {
    if (*name == names[i]) return static_cast<int>(i);
  }
  diagnostics->Add(
      item.ErrorHere(fmt::format("'{}' is no module to recompute{}; valid values are {}", *name,
                                 DidYouMean(*name, names), Join(names))));
  return -1;
}

void ReadModules(YamlReader* reader, Diagnostics* diagnostics, RecomputeModules* modules) {
  const YamlNode* list = reader->Take("recompute_modules", /*required=*/false);
  if (list == nullptr) return;
  if (list->kind != YamlNode::Kind::kList || list->items.empty()) {
    reader->Fail("recompute_modules", "'recompute_modules' must be a list of names");
    return;
  }
  bool* members[] = {&modules->core_attention,
                     &modules->norms,
                     &modules->moe_activation,
                     &modules->mlp,
                     &modules->moe,
                     &modules->shared_experts,
                     &modules->mla_up_projection};
  *modules = {};
  for (const YamlNode& item : list->items) {
    const int index = ModuleIndex(item, diagnostics);
    if (index >= 0) *members[index] = true;
  }
}

void ReadRecompute(YamlReader* reader, Diagnostics* diagnostics, TrainingRules* training) {
  ReadEnum(reader, "recompute", {"none", "selective", "full"}, true,
           &training->recompute.granularity);
  ReadEnum(reader, "recompute_method", {"uniform", "block"}, false, &training->recompute.method);
  ReadCount(reader, "recompute_layers", false, 1, 10000, &training->recompute.layers);
  training->recompute.modules.core_attention =
      training->recompute.granularity == Recompute::kSelective;
  ReadModules(reader, diagnostics, &training->recompute.modules);
  if (training->recompute.granularity != Recompute::kFull) {
    RefuseWithout(reader, {"recompute_method", "recompute_layers"}, "recompute: full");
  }
  if (training->recompute.granularity != Recompute::kSelective) {
    RefuseWithout(reader, {"recompute_modules"}, "recompute: selective");
  }
}

void ReadMoe(YamlReader* reader, TrainingRules* training) {
  ReadEnum(reader, "moe_dispatcher", MoeDispatcherNames(), false, &training->moe.dispatcher);
  reader->ReadOptional("moe_capacity_factor", &training->moe.capacity_factor);
  if (!(training->moe.capacity_factor >= 0 && training->moe.capacity_factor <= 1e4)) {
    reader->Fail("moe_capacity_factor", fmt::format("'moe_capacity_factor' is {}; it must be "
                                                    "between 0 (no token is dropped) and 10000",
                                                    training->moe.capacity_factor));
  }
  reader->ReadOptional("moe_pad_to_capacity", &training->moe.pad_to_capacity);
  if (training->moe.pad_to_capacity && training->moe.capacity_factor == 0) {
    reader->Fail("moe_pad_to_capacity", "'moe_pad_to_capacity' needs a moe_capacity_factor");
  }
  reader->ReadOptional("moe_imbalance", &training->moe.imbalance);
  if (!(training->moe.imbalance >= 1 && training->moe.imbalance <= 1e4)) {
    reader->Fail("moe_imbalance", fmt::format("'moe_imbalance' is {}; it must be between 1 "
                                              "(uniform) and 10000",
                                              training->moe.imbalance));
  }
  reader->ReadOptional("moe_aux_loss", &training->moe.aux_loss);
  reader->ReadOptional("moe_grouped_gemm", &training->moe.grouped_gemm);
}

void ReadPrecision(YamlReader* reader, TrainingRules* training) {
  int precision = 0;
  reader->ReadChoice("precision", {"fp16", "bf16", "fp8"}, &precision, /*required=*/true);
  training->precision.type = precision == 0 ? DataType::kFp16 : DataType::kBf16;
  training->precision.fp8 = precision == 2;
}

// Megatron-LM insists on fp32 for bf16 only; gradients of fp16 stay in fp16 unless it is told.
void ReadGradientType(YamlReader* reader, TrainingRules* training) {
  int type = training->precision.type == DataType::kFp16 ? 2 : 0;
  reader->ReadChoice("gradient_type", {"fp32", "bf16", "fp16"}, &type, /*required=*/false);
  constexpr DataType kTypes[] = {DataType::kFp32, DataType::kBf16, DataType::kFp16};
  training->precision.gradients = kTypes[type];
}

void ReadData(YamlReader* reader, int* data) {
  const YamlNode* node = reader->Take("data", /*required=*/false);
  if (node == nullptr || (node->kind == YamlNode::Kind::kScalar && node->scalar == "auto")) return;
  ReadCount(reader, "data", false, 1, 1 << 24, data);
}

// A layout says how many virtual stages there are; whether it suits the model is asked later, with
// the other rules between sections.
void ReadLayout(YamlReader* reader, ParallelRules* parallel) {
  reader->ReadOptional("layout", &parallel->layout);
  if (!reader->Has("layout")) return;
  const std::pair<const char*, bool> others[] = {
      {"first_stage_layers", parallel->first_stage_layers > 0},
      {"last_stage_layers", parallel->last_stage_layers > 0},
      {"account_for_embedding", parallel->account_for_embedding},
      {"account_for_loss", parallel->account_for_loss}};
  for (const auto& [key, given] : others) {
    if (given) reader->Fail(key, fmt::format("'layout' excludes '{}'", key));
  }
  if (parallel->layout.empty()) return reader->Fail("layout", "'layout' is empty");
  const LayoutText text = ExpandPipelineLayout(parallel->layout);
  const size_t stages = text.stages.size();
  const auto pipeline = static_cast<size_t>(std::max(1, parallel->pipeline));
  if (!text.mistake.empty() || stages % pipeline != 0) return;
  const auto chunks = static_cast<int>(stages / pipeline);
  if (reader->Has("virtual_pipeline") && parallel->virtual_pipeline != chunks) {
    reader->Fail("virtual_pipeline",
                 fmt::format("virtual_pipeline {} x pipeline {} = {} stages, but layout has {}",
                             parallel->virtual_pipeline, pipeline,
                             static_cast<size_t>(parallel->virtual_pipeline) * pipeline, stages));
  }
  parallel->virtual_pipeline = chunks;
}

}  // namespace

void ReadTrainingSection(const YamlNode& node, Diagnostics* diagnostics, TrainingRules* training) {
  YamlReader reader(node, "training", diagnostics);
  int framework = 0;
  reader.ReadChoice("framework", FrameworkNames(), &framework, /*required=*/true);
  training->framework = FrameworkNames()[static_cast<size_t>(framework)];
  ReadPrecision(&reader, training);
  ReadCount(&reader, "micro_batch", true, 1, 1 << 20, &training->batch.micro);
  ReadCount(&reader, "global_batch", true, 1, 1 << 24, &training->batch.global);
  ReadRecompute(&reader, diagnostics, training);
  int optimizer = 0;
  reader.ReadChoice("optimizer", {"adam"}, &optimizer, /*required=*/true);
  reader.ReadOptional("distributed_optimizer", &training->optimizer.distributed);
  ReadGradientType(&reader, training);
  ReadEither(&reader, "kernels", "unfused", "fused", &training->kernels.fused);
  reader.ReadOptional("gradient_accumulation_fusion",
                      &training->kernels.gradient_accumulation_fusion);
  reader.ReadOptional("tp_only_amax_red", &training->precision.tp_only_amax_red);
  reader.ReadOptional("gradient_clipping", &training->optimizer.gradient_clipping);
  ReadEnum(&reader, "cross_entropy_fusion", {"none", "native", "te"}, false,
           &training->kernels.cross_entropy_fusion);
  ReadEither(&reader, "causal_flops", "full", "half", &training->causal_flops_halved);
  ReadMoe(&reader, training);
  reader.ReadOptional("batch_p2p_sync", &training->p2p.batch_sync);
  reader.ReadOptional("scatter_gather_p2p", &training->p2p.scatter_gather);
  reader.ReadOptional("check_gradients", &training->optimizer.check_gradients);
  reader.ReadOptional("step_checks", &training->optimizer.step_checks);
  reader.ReadOptional("synchronous_timers", &training->host.synchronous_timers);
  training->host.launch = training->kernels.fused ? "fused" : "eager";
  reader.ReadOptional("host_launch", &training->host.launch);
  ReadEnum(&reader, "cuda_graphs", {"none", "layers", "full"}, false, &training->host.cuda_graphs);
  const std::vector<std::string>& kinds = BufferKindNames();  // the last are not of a framework's
  ReadEnum(&reader, "gradient_buffers", {kinds.begin(), kinds.end() - 1}, false,
           &training->optimizer.gradient_buffers);
  ReadCount(&reader, "bucket_elements", false, 1, int64_t{1} << 40,
            &training->optimizer.bucket_elements);
  reader.Finish();
}

void ReadParallelSection(const YamlNode& node, Diagnostics* diagnostics, ParallelRules* parallel) {
  YamlReader reader(node, "parallel", diagnostics);
  ReadCount(&reader, "tensor", true, 1, 1 << 16, &parallel->tensor);
  reader.ReadOptional("sequence_parallel", &parallel->sequence_parallel);
  ReadCount(&reader, "pipeline", true, 1, 1 << 16, &parallel->pipeline);
  ReadCount(&reader, "virtual_pipeline", false, 1, 1 << 16, &parallel->virtual_pipeline);
  ReadCount(&reader, "first_stage_layers", false, 1, 10000, &parallel->first_stage_layers);
  ReadCount(&reader, "last_stage_layers", false, 1, 10000, &parallel->last_stage_layers);
  reader.ReadOptional("account_for_embedding", &parallel->account_for_embedding);
  reader.ReadOptional("account_for_loss", &parallel->account_for_loss);
  ReadLayout(&reader, parallel);
  ReadCount(&reader, "microbatch_group", false, 1, 1 << 24, &parallel->microbatch_group);
  ReadCount(&reader, "context", false, 1, 1 << 20, &parallel->context);
  ReadEnum(&reader, "context_type", ContextTypeNames(), false, &parallel->context_type);
  ReadCount(&reader, "expert", false, 1, 1 << 16, &parallel->expert);
  ReadCount(&reader, "expert_tensor", false, 1, 1 << 16, &parallel->expert_tensor);
  ReadData(&reader, &parallel->data);
  ReadEnum(&reader, "rank_order", RankOrderNames(), false, &parallel->order);
  if (parallel->sequence_parallel && parallel->tensor == 1) {
    reader.Fail("sequence_parallel", "sequence_parallel needs tensor > 1");
  }
  const bool uneven = parallel->first_stage_layers > 0 || parallel->last_stage_layers > 0;
  if (uneven && (parallel->account_for_embedding || parallel->account_for_loss)) {
    reader.Fail(parallel->account_for_embedding ? "account_for_embedding" : "account_for_loss",
                "give either first_stage_layers and last_stage_layers, or what counts as a layer");
  }
  reader.Finish();
}

void ReadOverlapSection(const YamlNode& node, Diagnostics* diagnostics, OverlapRules* overlap) {
  YamlReader reader(node, "overlap", diagnostics);
  reader.ReadOptional("grad_reduce", &overlap->grad_reduce);
  reader.ReadOptional("param_gather", &overlap->param_gather);
  reader.ReadOptional("p2p", &overlap->p2p);
  reader.ReadOptional("p2p_wait_send", &overlap->p2p_wait_send);
  reader.ReadOptional("tensor_backward", &overlap->tensor_backward);
  reader.ReadOptional("tensor", &overlap->tensor);
  reader.ReadOptional("tensor_gather", &overlap->tensor_gather);
  reader.ReadOptional("tensor_scatter", &overlap->tensor_scatter);
  ReadEnum(&reader, "tensor_scatter_proj", ScatterFormNames(), false, &overlap->scatter_proj);
  ReadEnum(&reader, "tensor_scatter_fc2", ScatterFormNames(), false, &overlap->scatter_fc2);
  reader.ReadOptional("tensor_bulk_dgrad", &overlap->tensor_bulk_dgrad);
  reader.ReadOptional("tensor_bulk_wgrad", &overlap->tensor_bulk_wgrad);
  reader.ReadOptional("expert", &overlap->expert);
  reader.ReadOptional("delay_weight_gradients", &overlap->delay_weight_gradients);
  if (overlap->delay_weight_gradients && !overlap->expert) {
    reader.Fail("delay_weight_gradients", "'delay_weight_gradients' needs expert");
  }
  reader.ReadOptional("shared_expert", &overlap->shared_expert);
  reader.Finish();
}

}  // namespace drydock
