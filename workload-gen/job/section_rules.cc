#include "workload-gen/job/section_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/scan.h"
#include "workload-gen/job/key.h"
#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

void CheckHeads(YamlReader* reader, ModelShape* model) {
  AttentionLayerShape& attention = model->attention;
  if (attention.heads > 0 && attention.kv_heads > 0 && attention.heads % attention.kv_heads != 0) {
    reader->Fail("kv_heads", fmt::format("heads {} is not divisible by kv_heads {}",
                                         attention.heads, attention.kv_heads));
  }
  if (reader->Has("head_dim") || attention.is_latent() || attention.heads <= 0) return;
  if (model->hidden % attention.heads != 0) {
    reader->Fail("heads", fmt::format("hidden {} is not divisible by heads {}; give head_dim",
                                      model->hidden, attention.heads));
  }
  attention.head_dim = model->hidden / attention.heads;
}

void CheckLatentAttention(YamlReader* reader, AttentionLayerShape* attention) {
  if (!reader->Has("kv_lora_rank")) return;
  attention->head_dim = attention->latent.nope_dim + attention->latent.rope_dim;
  if (attention->kv_heads != attention->heads) {
    reader->Fail("kv_heads",
                 "with kv_lora_rank, each head has its own keys and values; remove kv_heads");
  }
  if (attention->qk_norm) {
    reader->Fail("qk_norm",
                 "with kv_lora_rank, the latent widths are normalized already; remove qk_norm");
  }
}

// As MLATransformerConfig and AbsorbedMLASelfAttention of Megatron-LM have it.
void CheckSparseAttention(YamlReader* reader, const ModelShape& model) {
  const AttentionLayerShape& attention = model.attention;
  if (!attention.is_sparse() || !attention.is_latent()) return;
  const std::pair<const char*, bool> wrong[] = {
      {"causal: true", !attention.causal},
      {"bias: false: its projections of keys and values are absorbed", model.bias}};
  for (const auto& [needed, misses] : wrong) {
    if (misses) reader->Fail("index_topk", fmt::format("'index_topk' needs {}", needed));
  }
  if (attention.window > 0) {
    reader->Fail("index_topk", "'index_topk' excludes window: the indexer picks the keys");
  }
  if (attention.sparse.head_dim < attention.latent.rope_dim) {
    reader->Fail(
        "index_head_dim",
        fmt::format("index_head_dim {} is less than qk_rope_dim {}, its part with positions",
                    attention.sparse.head_dim, attention.latent.rope_dim));
  }
}

// "M-M*E" as it is written, or "" and the mistake.
std::string PatternMistake(const ModelShape& model) {
  for (const char symbol : model.pattern) {
    if (std::string_view("M*-E").find(symbol) != std::string_view::npos) continue;
    return fmt::format(
        "'{}' is not a symbol of layer_pattern; valid symbols are M (Mamba-2), * "
        "(attention), - (MLP), E (experts)",
        symbol);
  }
  if (static_cast<int>(model.pattern.size()) != model.layers) {
    return fmt::format("layer_pattern has {} symbols for {} layers", model.pattern.size(),
                       model.layers);
  }
  const bool has_experts = model.pattern.find('E') != std::string::npos;
  if (has_experts && model.moe.experts == 0) return "'E' in layer_pattern needs experts";
  if (!has_experts && model.moe.experts > 0) return "experts need an 'E' in layer_pattern";
  return "";
}

// Expands "28672*2,14336"; returns what is wrong with the text, or "".
std::string ExpandWidths(const std::string& text, size_t most, std::vector<int64_t>* widths) {
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, comma - begin);
    const size_t star = item.find('*');
    const std::optional<int64_t> width = WholeNumber(item.substr(0, star));
    const std::optional<int64_t> times =
        star == std::string::npos ? std::optional<int64_t>(1) : WholeNumber(item.substr(star + 1));
    if (!width || !times || *width < 1 || *width > kMaxDimension || *times < 1) {
      return fmt::format("'{}' is not a width between 1 and {}, or one with *n behind it", item,
                         kMaxDimension);
    }
    if (*times > static_cast<int64_t>(most - widths->size())) {
      return fmt::format("pattern_ffn has more widths than the {} '-' of layer_pattern", most);
    }
    widths->insert(widths->end(), static_cast<size_t>(*times), *width);
    begin = comma + 1;
  }
  if (widths->size() == most) return "";
  return fmt::format("pattern_ffn has {} widths for the {} '-' of layer_pattern", widths->size(),
                     most);
}

constexpr size_t kMaxWidths = 64;  // each makes a kind of layer

void CheckWidths(YamlReader* reader, ModelShape* model) {
  if (model->pattern_widths.empty() || model->pattern.empty()) return;
  const auto count =
      static_cast<size_t>(std::count(model->pattern.begin(), model->pattern.end(), '-'));
  std::vector<int64_t> widths;
  if (const std::string mistake = ExpandWidths(model->pattern_widths, count, &widths);
      !mistake.empty()) {
    return reader->Fail("pattern_ffn", mistake);
  }
  if (std::set<int64_t>(widths.begin(), widths.end()).size() > kMaxWidths) {
    return reader->Fail("pattern_ffn",
                        fmt::format("more than {} different widths are not generated", kMaxWidths));
  }
  size_t next = 0;
  for (const char symbol : model->pattern) {
    model->pattern_ffn.push_back(symbol == '-' ? widths[next++] : 0);
  }
  if (!reader->Has("ffn") && !widths.empty()) {
    model->mlp.ffn = *std::max_element(widths.begin(), widths.end());
  }
}

// Makes a pattern that has a mistake harmless: the rules below read a symbol per layer.
void CheckPattern(YamlReader* reader, ModelShape* model) {
  if (model->pattern.empty()) return;
  const std::pair<const char*, bool> others[] = {
      {"first_dense_layers", model->moe.first_dense_layers > 0},
      {"moe_every", model->moe.every > 1},
      {"moe_offset", model->moe.offset > 0}};
  for (const auto& [key, given] : others) {
    if (given) reader->Fail(key, fmt::format("'{}' excludes layer_pattern", key));
  }
  if (const std::string mistake = PatternMistake(*model); !mistake.empty()) {
    reader->Fail("layer_pattern", mistake);
    model->pattern.clear();
  }
}

void CheckMamba(YamlReader* reader, ModelShape* model) {
  MambaShape& mamba = model->mamba;
  if (model->pattern.find('M') == std::string::npos) return;
  if (mamba.head_dim <= 0 || mamba.groups <= 0) return;
  if (!reader->Has("mamba_heads")) {
    if (2 * model->hidden % mamba.head_dim != 0) {
      reader->Fail("mamba_head_dim",
                   fmt::format("2 x hidden {} is not divisible by mamba_head_dim {}; give "
                               "mamba_heads",
                               model->hidden, mamba.head_dim));
    }
    mamba.heads = std::max(int64_t{1}, 2 * model->hidden / mamba.head_dim);
  }
  if (mamba.heads % mamba.groups != 0) {
    reader->Fail("mamba_groups", fmt::format("mamba_heads {} is not divisible by mamba_groups {}",
                                             mamba.heads, mamba.groups));
  }
}

void CheckDeltaNet(YamlReader* reader, const ModelShape& model) {
  const DeltaNetShape& delta = model.delta;
  if (delta.key_heads <= 0 || delta.value_heads % delta.key_heads == 0) return;
  reader->Fail("delta_value_heads",
               fmt::format("delta_value_heads {} is not divisible by delta_key_heads {}",
                           delta.value_heads, delta.key_heads));
}

void CheckPositions(YamlReader* reader, const ModelShape& model) {
  const EmbeddingShape& embedding = model.embedding;
  if (embedding.learned_positions() && embedding.max_positions < model.sequence) {
    reader->Fail("max_positions", fmt::format("max_positions {} is less than sequence {}",
                                              embedding.max_positions, model.sequence));
  }
}

void CheckExpertLayers(YamlReader* reader, const ModelShape& model) {
  const ExpertShape& moe = model.moe;
  if (moe.offset >= moe.every) {
    reader->Fail("moe_offset",
                 fmt::format("moe_offset {} must be below moe_every {}", moe.offset, moe.every));
  }
  if (moe.first_dense_layers > model.layers) {
    reader->Fail("first_dense_layers", fmt::format("first_dense_layers {} is more than layers {}",
                                                   moe.first_dense_layers, model.layers));
  } else if (model.layers > 0 && model.pattern.empty() && model.expert_layers() == 0) {
    reader->Fail("experts", fmt::format("none of the {} layers has experts, by first_dense_layers "
                                        "{} and moe_every {}",
                                        model.layers, moe.first_dense_layers, moe.every));
  }
}

void CheckExperts(YamlReader* reader, const ModelShape& model) {
  if (!reader->Has("experts")) return;
  const ExpertShape& moe = model.moe;
  if (moe.per_token > moe.experts) {
    reader->Fail("experts_per_token", fmt::format("experts_per_token {} is more than experts {}",
                                                  moe.per_token, moe.experts));
  }
  CheckExpertLayers(reader, model);
  if (moe.shared_gate && moe.shared_ffn == 0) {
    reader->Fail("shared_expert_gate", "'shared_expert_gate' needs shared_expert_ffn");
  }
}

// Layers without a norm before them are generated for dense layers with ordinary attention.
void CheckPreNorms(YamlReader* reader, const ModelShape& model) {
  if (model.pre_norms) return;
  if (!model.post_norms) {
    reader->Fail("pre_norms", "'pre_norms: false' needs post_norms: true; a layer has one of them");
  }
  const char* excluded = model.moe.experts > 0             ? "experts"
                         : model.attention.is_latent()     ? "kv_lora_rank"
                         : !model.pattern.empty()          ? "layer_pattern"
                         : model.delta.attention_every > 0 ? "delta_attention_every"
                         : model.lora.any()                ? "lora_rank"
                                                           : nullptr;
  if (excluded == nullptr) return;
  reader->Fail("pre_norms", fmt::format("'pre_norms: false' is not generated with '{}'", excluded));
}

bool NoLayerIsDense(const ModelShape& model) {
  for (int layer = 0; layer < model.layers; ++layer) {
    if (model.PartsOf(layer).mlp) return false;
  }
  return true;
}

// Completes the widths of dense layers and experts. A model whose layers all have experts needs no
// width of dense layers.
void CompleteWidths(YamlReader* reader, ModelShape* model) {
  const bool all_experts = model->moe.experts > 0 && NoLayerIsDense(*model);
  const bool only_experts = all_experts && reader->Has("expert_ffn");
  if (!reader->Has("ffn")) {
    if (!model->pattern_ffn.empty()) return;
    if (model->mlp.gated() && !only_experts) reader->Fail("ffn", "'model' lacks the key 'ffn'");
    model->mlp.ffn = only_experts ? model->moe.ffn : 4 * model->hidden;
  }
  if (model->moe.experts > 0 && !reader->Has("expert_ffn")) model->moe.ffn = model->mlp.ffn;
}

// Counts parameters roughly: the exact count overflows for models that are too large to train.
void CheckSize(YamlReader* reader, const ModelShape& m) {
  const LatentAttention& latent = m.attention.latent;
  const auto hidden = static_cast<double>(m.hidden);
  const auto heads = static_cast<double>(m.attention.heads);
  const double attention = heads *
                           static_cast<double>(3 * m.attention.head_dim + latent.value_dim) * 2 *
                           (hidden + static_cast<double>(latent.q_rank + latent.kv_rank));
  const double experts = static_cast<double>(m.moe.experts) * static_cast<double>(m.moe.ffn);
  const double mlp = 3 * hidden * (static_cast<double>(m.mlp.ffn + m.moe.shared_ffn) + experts);
  const double scans = 2 * hidden * static_cast<double>(m.mamba.projected() + m.delta.projected());
  const double total = (m.layers + m.mtp_layers) * (attention + mlp + scans + 2 * hidden * hidden);
  if (total > 1e15) reader->Fail("layers", "the model has more than 1e15 parameters");
}

void CheckLayoutExcludes(YamlReader* reader, const ParallelRules& parallel) {
  const std::pair<const char*, bool> others[] = {
      {"first_stage_layers", parallel.first_stage_layers > 0},
      {"last_stage_layers", parallel.last_stage_layers > 0},
      {"account_for_embedding", parallel.account_for_embedding},
      {"account_for_loss", parallel.account_for_loss}};
  for (const auto& [key, given] : others) {
    if (given) reader->Fail(key, fmt::format("'layout' excludes '{}'", key));
  }
}

// Completes the number of virtual stages from the layout. CheckSectionsTogether checks whether the
// layout fits the model.
void CheckLayout(YamlReader* reader, ParallelRules* parallel) {
  if (!reader->Has("layout")) return;
  CheckLayoutExcludes(reader, *parallel);
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

// Adapters are generated for dense layers with ordinary attention.
void CheckAdapters(YamlReader* reader, const ModelShape& model) {
  if (!model.lora.any()) return;
  const char* excluded = model.moe.experts > 0                ? "experts"
                         : model.attention.is_latent()        ? "kv_lora_rank"
                         : model.mtp_layers > 0               ? "mtp_layers"
                         : model.embedding.patch_features > 0 ? "patch_features"
                         : !model.pattern.empty()             ? "layer_pattern"
                         : model.delta.attention_every > 0    ? "delta_attention_every"
                         : model.attention.gate               ? "attention_gate"
                                                              : nullptr;
  if (excluded == nullptr) return;
  reader->Fail("lora_rank",
               fmt::format("adapters are not generated with '{}'; remove 'lora_rank' to train all "
                           "parameters",
                           excluded));
}

}  // namespace

void CheckModel(YamlReader* reader, TrainingJob* job) {
  ModelShape* model = &job->model;
  // Values out of range are reported already; the rules below must not divide by 0 or loop long.
  model->layers = std::min(kMaxLayers, model->layers);
  model->moe.every = std::max(1, model->moe.every);
  CheckPattern(reader, model);
  CheckWidths(reader, model);
  CheckMamba(reader, model);
  CheckDeltaNet(reader, *model);
  CheckHeads(reader, model);
  CheckLatentAttention(reader, &model->attention);
  CheckSparseAttention(reader, *model);
  if (model->attention.full_attention_first > model->layers) {
    reader->Fail("full_attention_first",
                 fmt::format("full_attention_first {} is more than layers {}",
                             model->attention.full_attention_first, model->layers));
  }
  CheckPositions(reader, *model);
  CheckExperts(reader, *model);
  CheckPreNorms(reader, *model);
  CompleteWidths(reader, model);
  if (model->embedding.patch_features > 0 && model->embedding.tied) {
    reader->Fail("patch_features", "'patch_features' needs tied_embedding: false");
  }
  CheckAdapters(reader, *model);
  if (model->sample_length > model->sequence) {
    reader->Fail("sample_length", fmt::format("sample_length {} is more than sequence {}",
                                              model->sample_length, model->sequence));
  }
  CheckSize(reader, *model);
}

void CheckTraining(YamlReader* reader, TrainingJob* job) {
  const ExpertRules& moe = job->training.moe;
  if (moe.dispatch_sms > 0 && !moe.without_nccl()) {
    reader->Fail("moe_dispatch_sms",
                 "'moe_dispatch_sms' has no effect without moe_dispatcher: flex or hybridep");
  }
  // Buffer.set_num_sms of DeepEP: half of them send, half receive.
  if (moe.dispatcher == MoeDispatcher::kFlex && moe.dispatch_sms % 2 != 0) {
    reader->Fail("moe_dispatch_sms",
                 fmt::format("moe_dispatch_sms {} must be even with moe_dispatcher: flex; write {}",
                             moe.dispatch_sms, moe.dispatch_sms + 1));
  }
  if (moe.low_latency && (moe.dispatcher != MoeDispatcher::kFlex || !moe.one_kernel)) {
    reader->Fail(
        "moe_deepep",
        "'moe_deepep: low-latency' needs moe_dispatcher: flex and moe_grouped_kernel: one, "
        "because the host never learns how many tokens an expert gets");
  }
  if (moe.low_latency && moe.dispatch_sms > 0) {
    reader->Fail(
        "moe_dispatch_sms",
        "'moe_dispatch_sms' has no effect with moe_deepep: low-latency, whose kernels take "
        "one SM for one or more experts");
  }
  if (moe.device_counts && (moe.dispatcher != MoeDispatcher::kHybridEp || !moe.one_kernel)) {
    reader->Fail("moe_counts",
                 "'moe_counts: device' needs moe_dispatcher: hybridep and moe_grouped_kernel: one");
  }
  if (moe.one_kernel && !moe.grouped_gemm) {
    reader->Fail("moe_grouped_kernel", "'moe_grouped_kernel: one' needs moe_grouped_gemm: true");
  }
  if (moe.pad_to_capacity && moe.capacity_factor == 0) {
    reader->Fail("moe_pad_to_capacity", "'moe_pad_to_capacity' needs moe_capacity_factor");
  }
}

void CheckParallel(YamlReader* reader, TrainingJob* job) {
  ParallelRules* parallel = &job->parallel;
  CheckLayout(reader, parallel);
  if (parallel->sequence_parallel && parallel->tensor == 1) {
    reader->Fail("sequence_parallel", "'sequence_parallel' needs tensor > 1");
  }
  const bool uneven = parallel->first_stage_layers > 0 || parallel->last_stage_layers > 0;
  if (uneven && (parallel->account_for_embedding || parallel->account_for_loss)) {
    const char* key =
        parallel->account_for_embedding ? "account_for_embedding" : "account_for_loss";
    reader->Fail(key, fmt::format("'{}' excludes first_stage_layers and last_stage_layers", key));
  }
}

void CheckOverlap(YamlReader* reader, TrainingJob* job) {
  if (job->overlap.delay_weight_gradients && !job->overlap.expert) {
    reader->Fail("delay_weight_gradients", "'delay_weight_gradients' needs expert");
  }
}

void CheckZero(YamlReader* reader, TrainingJob* job) {
  const ZeroRules& zero = job->zero;
  if (!zero.offload_param) return;
  if (zero.stage != 3) reader->Fail("offload_param", "'offload_param' needs stage: 3");
  if (!zero.offload_optimizer) {
    reader->Fail("offload_param", "'offload_param' needs offload_optimizer: cpu");
  }
}

}  // namespace drydock
