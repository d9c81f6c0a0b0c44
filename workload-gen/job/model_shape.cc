#include "workload-gen/job/model_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "workload-gen/job/section_readers.h"

namespace drydock {
namespace {

constexpr int kMostLayers = 10000;

// The family fills in what its members have in common; every key can still say otherwise.
void ReadFamily(YamlReader* reader, ModelShape* model) {
  int family = 0;
  reader->ReadChoice("architecture", {"gpt", "llama"}, &family, /*required=*/true);
  if (family == 0) return;
  model->embedding.positions = Positions::kRotary;
  model->mlp.activation = Activation::kSwiglu;
  model->rms_norm = true;
  model->embedding.tied = false;
  model->bias = false;
}

void ReadLatentAttention(YamlReader* reader, ModelShape* model) {
  LatentAttention& latent = model->attention.latent;
  ReadCount(reader, "kv_lora_rank", false, 1, kMaxDimension, &latent.kv_rank);
  const bool latent_given = reader->Has("kv_lora_rank");
  ReadCount(reader, "q_lora_rank", false, 1, kMaxDimension, &latent.q_rank);
  ReadCount(reader, "qk_nope_dim", latent_given, 1, 1 << 16, &latent.nope_dim);
  ReadCount(reader, "qk_rope_dim", latent_given, 1, 1 << 16, &latent.rope_dim);
  ReadCount(reader, "value_dim", latent_given, 1, 1 << 16, &latent.value_dim);
  if (!latent_given) {
    RefuseWithout(reader, {"q_lora_rank", "qk_nope_dim", "qk_rope_dim", "value_dim"},
                  "kv_lora_rank");
    return;
  }
  model->attention.head_dim = latent.nope_dim + latent.rope_dim;
  if (model->attention.kv_heads != model->attention.heads) {
    reader->Fail("kv_heads", "with kv_lora_rank, all heads have keys of their own: no kv_heads");
  }
  if (reader->Has("head_dim")) {
    reader->Fail("head_dim",
                 "with kv_lora_rank, a head has qk_nope_dim + qk_rope_dim: no head_dim");
  }
}

void ReadHeads(YamlReader* reader, ModelShape* model) {
  ReadCount(reader, "heads", true, 1, 1 << 16, &model->attention.heads);
  model->attention.kv_heads = model->attention.heads;
  ReadCount(reader, "kv_heads", false, 1, 1 << 16, &model->attention.kv_heads);
  if (model->attention.heads > 0 && model->attention.kv_heads > 0 &&
      model->attention.heads % model->attention.kv_heads != 0) {
    reader->Fail("kv_heads", fmt::format("heads {} is not divisible by kv_heads {}",
                                         model->attention.heads, model->attention.kv_heads));
  }
  ReadCount(reader, "head_dim", false, 1, 1 << 16, &model->attention.head_dim);
  ReadLatentAttention(reader, model);
  if (reader->Has("head_dim") || model->attention.is_latent() || model->attention.heads <= 0)
    return;
  if (model->hidden % model->attention.heads != 0) {
    reader->Fail("heads", fmt::format("hidden {} is not divisible by heads {}; give head_dim",
                                      model->hidden, model->attention.heads));
  }
  model->attention.head_dim = model->hidden / model->attention.heads;
}

void ReadAttentionKinds(YamlReader* reader, ModelShape* model) {
  reader->ReadOptional("qk_norm", &model->attention.qk_norm);
  reader->ReadOptional("causal", &model->attention.causal);
  ReadCount(reader, "window", false, 1, kMaxDimension, &model->attention.window);
  if (model->attention.qk_norm && model->attention.is_latent()) {
    reader->Fail("qk_norm", "with kv_lora_rank, the narrow widths are normed already: no qk_norm");
  }
  ReadCount(reader, "full_attention_every", false, 2, 10000,
            &model->attention.full_attention_every);
  ReadCount(reader, "full_attention_first", false, 0, 10000,
            &model->attention.full_attention_first);
  if (model->attention.full_attention_first > model->layers) {
    reader->Fail("full_attention_first",
                 fmt::format("full_attention_first {} is more than layers {}",
                             model->attention.full_attention_first, model->layers));
  }
  if (!reader->Has("window")) {
    RefuseWithout(reader, {"full_attention_every", "full_attention_first"}, "window");
  }
}

void ReadPositions(YamlReader* reader, ModelShape* model) {
  ReadEnum(reader, "positions", PositionsNames(), false, &model->embedding.positions);
  model->embedding.max_positions = model->sequence;
  ReadCount(reader, "max_positions", false, 1, kMaxDimension, &model->embedding.max_positions);
  if (model->embedding.learned_positions() && model->embedding.max_positions < model->sequence) {
    reader->Fail("max_positions", fmt::format("max_positions {} is less than sequence {}",
                                              model->embedding.max_positions, model->sequence));
  }
}

void CheckExperts(YamlReader* reader, const ModelShape& model) {
  const ExpertShape& moe = model.moe;
  if (moe.per_token > moe.experts) {
    reader->Fail("experts_per_token", fmt::format("experts_per_token {} is more than experts {}",
                                                  moe.per_token, moe.experts));
  }
  if (moe.first_dense_layers > model.layers) {
    reader->Fail("first_dense_layers", fmt::format("first_dense_layers {} is more than layers {}",
                                                   moe.first_dense_layers, model.layers));
  } else if (model.layers > 0 && model.layers <= 10000 && moe.every >= 1 &&
             model.expert_layers() == 0) {
    reader->Fail("experts", fmt::format("none of the {} layers has experts, by first_dense_layers "
                                        "{} and moe_every {}",
                                        model.layers, moe.first_dense_layers, moe.every));
  }
  if (moe.shared_gate && moe.shared_ffn == 0) {
    reader->Fail("shared_expert_gate", "'shared_expert_gate' needs shared_expert_ffn");
  }
}

void ReadExperts(YamlReader* reader, ModelShape* model) {
  ExpertShape& moe = model->moe;
  ReadCount(reader, "experts", false, 1, 1 << 16, &moe.experts);
  const bool given = reader->Has("experts");
  ReadCount(reader, "experts_per_token", given, 1, 1 << 16, &moe.per_token);
  ReadCount(reader, "expert_ffn", false, 1, kMaxDimension, &moe.ffn);
  ReadCount(reader, "shared_expert_ffn", false, 0, kMaxDimension, &moe.shared_ffn);
  reader->ReadOptional("shared_expert_gate", &moe.shared_gate);
  ReadCount(reader, "first_dense_layers", false, 0, 10000, &moe.first_dense_layers);
  ReadCount(reader, "moe_every", false, 1, 10000, &moe.every);
  moe.every = std::max(1, moe.every);  // what is wrong is reported, and divides no more
  reader->ReadOptional("router_bias", &moe.router_bias);
  if (given) return CheckExperts(reader, *model);
  RefuseWithout(reader,
                {"experts_per_token", "expert_ffn", "shared_expert_ffn", "shared_expert_gate",
                 "first_dense_layers", "moe_every", "router_bias"},
                "experts");
}

// The width of dense layers and of experts. Where there are only experts, their own will do.
void ReadWidths(YamlReader* reader, ModelShape* model) {
  ReadEnum(reader, "activation", ActivationNames(), false, &model->mlp.activation);
  ReadExperts(reader, model);
  const bool all_experts = model->moe.experts > 0 && model->expert_layers() == model->layers;
  const bool expert_width = reader->Has("expert_ffn");
  model->mlp.ffn = all_experts && expert_width ? model->moe.ffn : 4 * model->hidden;
  ReadCount(reader, "ffn", model->mlp.gated() && !(all_experts && expert_width), 1, kMaxDimension,
            &model->mlp.ffn);
  if (model->moe.experts > 0 && !expert_width) model->moe.ffn = model->mlp.ffn;
}

void ReadProbability(YamlReader* reader, const std::string& key, double* out) {
  reader->ReadOptional(key, out);
  if (*out < 0 || *out >= 1) {
    reader->Fail(key, fmt::format("'{}' is {}; it must be at least 0 and below 1", key, *out));
  }
}

// Parameters, roughly: sizes that no one would train overflow what counts them.
void CheckSize(YamlReader* reader, const ModelShape& m) {
  const auto hidden = static_cast<double>(m.hidden);
  const auto heads = static_cast<double>(m.attention.heads);
  const double attention =
      heads * static_cast<double>(3 * m.attention.head_dim + m.attention.latent.value_dim) * 2 *
      (hidden + static_cast<double>(m.attention.latent.q_rank + m.attention.latent.kv_rank));
  const double experts = static_cast<double>(m.moe.experts) * static_cast<double>(m.moe.ffn);
  const double mlp = 3 * hidden * (static_cast<double>(m.mlp.ffn + m.moe.shared_ffn) + experts);
  const double total = (m.layers + m.mtp_layers) * (attention + mlp + 2 * hidden * hidden);
  if (total > 1e15) reader->Fail("layers", "the model has more than 1e15 parameters");
}

}  // namespace

const std::vector<std::string>& PositionsNames() {
  static const std::vector<std::string> names = {"rotary", "learned", "none"};
  return names;
}

const std::vector<std::string>& ActivationNames() {
  static const std::vector<std::string> names = {"gelu", "swiglu", "geglu", "squared-relu", "relu"};
  return names;
}

int ModelShape::expert_layers() const {
  int count = 0;
  for (int layer = 0; layer < layers; ++layer) count += HasExperts(layer) ? 1 : 0;
  return count;
}

void ReadModelSection(const YamlNode& node, Diagnostics* diagnostics, ModelShape* model) {
  YamlReader reader(node, "model", diagnostics);
  ReadFamily(&reader, model);
  reader.ReadOptional("name", &model->name);
  ReadCount(&reader, "layers", true, 1, kMostLayers, &model->layers);
  model->layers = std::min(kMostLayers, model->layers);  // more are reported, and not walked
  ReadCount(&reader, "hidden", true, 1, kMaxDimension, &model->hidden);
  ReadHeads(&reader, model);
  ReadCount(&reader, "vocab", true, 1, kMaxDimension, &model->embedding.vocab);
  ReadCount(&reader, "vocab_multiple", false, 1, kMaxDimension, &model->embedding.vocab_multiple);
  ReadCount(&reader, "sequence", true, 1, kMaxDimension, &model->sequence);
  ReadPositions(&reader, model);
  ReadEither(&reader, "norm", "layernorm", "rmsnorm", &model->rms_norm);
  ReadWidths(&reader, model);
  reader.ReadOptional("tied_embedding", &model->embedding.tied);
  reader.ReadOptional("bias", &model->bias);
  model->attention.qkv_bias = model->bias;
  reader.ReadOptional("qkv_bias", &model->attention.qkv_bias);
  reader.ReadOptional("post_norms", &model->post_norms);
  ReadAttentionKinds(&reader, model);
  ReadCount(&reader, "mtp_layers", false, 0, 16, &model->mtp_layers);
  ReadCount(&reader, "patch_features", false, 1, kMaxDimension, &model->embedding.patch_features);
  if (model->embedding.patch_features > 0 && model->embedding.tied) {
    reader.Fail("patch_features", "'patch_features' needs tied_embedding: false");
  }
  ReadProbability(&reader, "dropout", &model->dropout);
  ReadProbability(&reader, "attention_dropout", &model->attention.dropout);
  CheckSize(&reader, *model);
  reader.Finish();
}

}  // namespace drydock
