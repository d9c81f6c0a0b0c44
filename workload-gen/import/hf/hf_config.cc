#include "workload-gen/import/hf/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/spelling.h"
#include "workload-gen/import/hf/hf_expected.h"
#include "workload-gen/import/hf/hf_families.h"
#include "workload-gen/import/hf/hf_layer_types.h"
#include "workload-gen/import/tree/job_tree.h"
#include "workload-gen/job/model_shape.h"

namespace drydock {
namespace {

bool IsNull(const YamlNode& node) { return node.kind == YamlNode::Kind::kNull; }

// True if the name of an unknown field looks like that of a size.
bool LooksLikeASize(const std::string& field) {
  for (const char* end :
       {"_size", "_dim", "_rank", "_layers", "_heads", "_experts", "_window", "_groups"}) {
    if (field.ends_with(end)) return true;
  }
  return field.starts_with("n_") || field.starts_with("num_");
}

bool IsNullOrZero(const YamlNode& value) {
  if (value.kind == YamlNode::Kind::kList) return value.items.empty();
  return IsNull(value) || (value.kind == YamlNode::Kind::kScalar &&
                           (value.scalar == "0" || value.scalar == "false"));
}

// True for a single group of experts (DeepSeek), which does not restrict their choice.
bool IsOneGroup(const std::string& name, const YamlNode& value) {
  return name.ends_with("_group") && value.kind == YamlNode::Kind::kScalar && value.scalar == "1";
}

class ConfigReader {
 public:
  ConfigReader(const YamlNode& config, const HfFamily& family, const std::string& file_name,
               bool strict, ImportNotes* notes, Diagnostics* diagnostics)
      : config_(config),
        family_(family),
        strict_(strict),
        notes_(*notes),
        diagnostics_(*diagnostics),
        tree_(file_name) {}

  YamlNode Read() {
    for (const HfDefault& preset : family_.presets) tree_.Set(Key(preset.key), preset.value);
    for (const HfField& field : HfCopiedFields()) {
      if (!family_.Reads(field.name)) continue;
      CopyField(field);
    }
    if (family_.Reads("hidden_act")) ReadActivation();
    ReadScans();
    if (family_.Reads("sliding_window")) ReadWindow();
    if (family_.Reads("attention_chunk_size")) ReadChunks();
    if (family_.Reads("no_rope_layers")) ReadLayersWithoutPositions();
    if (family_.Reads("interleave_moe_layer_step")) ReadInterleavedExperts();
    if (family_.Reads("qk_norm_type")) ReadHeadNorms();
    if (family_.Reads("num_mtp_modules")) ReadPredictionModules();
    if (family_.Reads("mamba_n_heads")) ReadHybridLayers();
    if (family_.Reads("state_size")) ReadScanLayers();
    if (family_.Reads("block_configs")) ReadBlocks();
    if (family_.Reads("num_experts_per_tok")) ReadExperts();
    if (family_.Reads("patch_size")) ReadPatches();
    CheckHead();
    CheckAttention();
    // Latent attention replaces these widths; configurations repeat them.
    if (family_.Reads("kv_lora_rank")) used_.insert({"num_key_value_heads", "head_dim"});
    if (family_.Reads("index_topk")) CheckIndexers();
    CheckRepeated();
    NoteStoredType();
    NoteStoredFormat();
    CheckRest();
    const YamlNode* model = tree_.root().Find("model");
    return model == nullptr ? YamlNode() : *model;
  }

 private:
  static std::string Key(const char* name) { return std::string("model.") + name; }

  // Returns the value of a field; null if the field is absent or null in the file.
  const YamlNode* Field(const std::string& name) {
    if (!family_.Reads(name)) return nullptr;
    used_.insert(name);
    const YamlNode* value = config_.Find(name);
    return value == nullptr || IsNull(*value) ? nullptr : value;
  }

  void Put(const char* key, const std::string& text, const YamlNode& at) {
    tree_.Set(Key(key), text, at.location, at.source_line);
  }

  // A null removes the family's assumption about the field, so that model.yaml's default applies.
  void CopyField(const HfField& field) {
    const YamlNode* value = Field(field.name);
    if (value == nullptr) {
      if (Has(field.name)) tree_.Unset(Key(field.key));
      return;
    }
    if (value->kind != YamlNode::Kind::kScalar) {
      diagnostics_.Add(value->ErrorHere(fmt::format("'{}' is not a single value", field.name)));
      return;
    }
    Put(field.key, value->scalar, *value);
  }

  std::optional<int64_t> Number(const char* name) {
    const YamlNode* value = Field(name);
    if (value == nullptr) return std::nullopt;
    const Result<int64_t> number = AsInteger(*value);
    if (!number.ok()) {
      diagnostics_.Add(number.error());
      return std::nullopt;
    }
    if (*number < 0 || *number > kMaxDimension) {
      diagnostics_.Add(value->ErrorHere(
          fmt::format("'{}' is {}; it must be between 0 and {}", name, *number, kMaxDimension)));
      return std::nullopt;
    }
    return *number;
  }

  void PutNumber(const char* key, int64_t number, const char* field) {
    Put(key, std::to_string(number), *config_.Find(field));
  }

  void ReadActivation() {
    const YamlNode* value = nullptr;
    for (const char* name :
         {"hidden_activation", "hidden_act", "activation_function", "mlp_hidden_act"}) {
      const YamlNode* found = Field(name);
      if (value == nullptr) value = found;
    }
    if (value == nullptr) return;
    if (family_.own_activation) {
      if (value->scalar == "silu") return;
      return diagnostics_.Add(value->ErrorHere(fmt::format(
          "'{}' is not the activation of a {}; expected silu", value->scalar, family_.type)));
    }
    for (const HfActivation& activation : HfActivations()) {
      if (value->scalar != activation.name) continue;
      const char* meaning = family_.gated ? activation.gated : activation.plain;
      if (meaning != nullptr) return Put("activation", meaning, *value);
    }
    std::vector<std::string> names;
    for (const HfActivation& activation : HfActivations()) {
      if ((family_.gated ? activation.gated : activation.plain) != nullptr) {
        names.emplace_back(activation.name);
      }
    }
    diagnostics_.Add(value->ErrorHere(
        fmt::format("'{}' is not an activation of a {}{}; valid values are {}", value->scalar,
                    family_.type, DidYouMean(value->scalar, names), Join(names))));
  }

  // True if the file has the field, even as null.
  bool Has(const char* name) const { return config_.Find(name) != nullptr; }

  // Returns the largest number of keys that a query sees; 0: all keys. The field takes precedence
  // over the family.
  int64_t Window() {
    const YamlNode* switched = Field("use_sliding_window");
    const bool has_switch = family_.Reads("use_sliding_window");
    const bool off = has_switch && (switched == nullptr || switched->scalar == "false");
    // Gemma 2 states it under both names.
    const char* name = Has("sliding_window") ? "sliding_window" : "sliding_window_size";
    const int64_t stated = Number(name).value_or(0);
    used_.insert("sliding_window_size");
    if (off) return 0;
    return Has(name) ? stated : family_.windows.width;
  }

  // Newer files list the kind of each layer in layer_types; older ones rely on a rule per family.
  void ReadWindow() {
    const int64_t window = Window();
    const YamlNode* types = Field("layer_types");
    WindowPattern pattern = {family_.windows.full_first, family_.windows.full_every};
    if (const auto every = Number("sliding_window_pattern")) {
      pattern.every = static_cast<int>(*every);
    }
    if (const auto first = Number("max_window_layers")) pattern.first = static_cast<int>(*first);
    if (types != nullptr) {
      const std::optional<WindowPattern> stated =
          WindowsOfLayerTypes(*types, Number("num_hidden_layers"), &diagnostics_);
      if (!stated.has_value()) return;
      pattern = *stated;
    }
    const int64_t layers = Number("num_hidden_layers").value_or(0);
    if (window == 0 || pattern.every == 1 || pattern.first >= layers) return;
    PutAt("window", window, "sliding_window");
    if (pattern.every > 1) {
      PutAt("full_attention_every", pattern.every, "sliding_window_pattern");
    }
    if (pattern.first > 0) PutAt("full_attention_first", pattern.first, "max_window_layers");
  }

  // The value has the place of the field if the file has the field.
  void PutAt(const char* key, int64_t number, const char* field) {
    if (Has(field)) return PutNumber(key, number, field);
    tree_.Set(Key(key), std::to_string(number));
  }

  void ReadExperts() {
    const std::optional<int64_t> width = Number("moe_intermediate_size");
    const std::optional<int64_t> shared = Number("n_shared_experts");
    const bool stated = Field("moe_shared_expert_intermediate_size") != nullptr;
    if (no_experts_) return;
    const std::optional<int64_t> together = Number("shared_intermediate_size");
    if (together.has_value()) {
      PutNumber("shared_expert_ffn", *together, "shared_intermediate_size");
    }
    if (width.has_value() && shared.has_value() && *shared > 0 && !stated) {
      if (*shared * *width <= kMaxDimension) {
        PutNumber("shared_expert_ffn", *shared * *width, "n_shared_experts");
      } else {
        diagnostics_.Add(
            Field("n_shared_experts")->ErrorHere("the shared experts are too wide together"));
      }
    }
    if (family_.Reads("mlp_layer_types")) ReadMlpTypes();
    const YamlNode* method = Field("topk_method");
    if (method != nullptr && method->scalar == "noaux_tc") Put("router_bias", "true", *method);
    ReadDenseLayers();
  }

  // Writes a key of a value that several fields give together.
  void Compute(const char* key, const std::string& text, const char* field) {
    const YamlNode* at = config_.Find(field);
    if (at == nullptr) return tree_.Set(Key(key), text);
    Put(key, text, *at);
  }

  // Llama 4: the layers that do not rotate see all keys, the others those of their chunk.
  void ReadChunks() {
    const int64_t chunk = Has("attention_chunk_size") ? Number("attention_chunk_size").value_or(0)
                                                      : 8192;  // the default of transformers
    used_.insert("layer_types");
    if (chunk == 0) return;
    Compute("window", std::to_string(chunk), "attention_chunk_size");
    Compute("window_kind", "chunked", "attention_chunk_size");
    if (const int every = LayersWithoutPositions(); every > 1) {
      Compute("full_attention_every", std::to_string(every), "no_rope_layers");
    }
    const YamlNode* norm = Field("use_qk_norm");
    if (norm == nullptr || norm->scalar != "false") {
      Compute("qk_norm", "true", "use_qk_norm");
      Compute("qk_norm_kind", "weightless", "use_qk_norm");
    }
  }

  // The distance of layers that do not rotate; 0: all rotate. no_rope_layers has a 1 for each layer
  // that does.
  int LayersWithoutPositions() {
    const YamlNode* list = Field("no_rope_layers");
    const auto interval = static_cast<int>(Number("no_rope_layer_interval").value_or(4));
    if (list == nullptr || list->items.empty()) return interval;
    std::vector<int> rotates;
    for (const YamlNode& item : list->items) rotates.push_back(item.scalar == "0" ? 0 : 1);
    const std::optional<WindowPattern> pattern = AsWindowPattern(rotates);
    if (pattern.has_value() && pattern->first == 0) return pattern->every;
    diagnostics_.Add(list->ErrorHere(
        "model.yaml can only state that every n-th layer has no positions (no_positions_every)"));
    return 0;
  }

  void ReadLayersWithoutPositions() {
    if (!family_.Reads("attention_chunk_size")) CheckAllLayersSeeAll();
    const int every = LayersWithoutPositions();
    if (every > 1) Compute("no_positions_every", std::to_string(every), "no_rope_layers");
  }

  // SmolLM3 lists its layers, and none has a window.
  void CheckAllLayersSeeAll() {
    const YamlNode* types = Field("layer_types");
    if (types == nullptr) return;
    for (const YamlNode& item : types->items) {
      if (item.scalar == "full_attention") continue;
      return diagnostics_.Add(item.ErrorHere(fmt::format(
          "'{}' is not supported here; the valid value is full_attention", item.scalar)));
    }
  }

  // Llama 4: intermediate_size is the width of an expert and of the shared one.
  void ReadInterleavedExperts() {
    const int64_t step = Number("interleave_moe_layer_step").value_or(1);
    const YamlNode* listed = Field("moe_layers");
    if (listed != nullptr) {
      for (size_t i = 0; i < listed->items.size(); ++i) {
        if (listed->items[i].scalar == std::to_string((i + 1) * static_cast<size_t>(step) - 1)) {
          continue;
        }
        diagnostics_.Add(listed->items[i].ErrorHere(
            fmt::format("'moe_layers' differs from interleave_moe_layer_step {}", step)));
        break;
      }
    }
    if (step > 1) {
      Compute("moe_every", std::to_string(step), "interleave_moe_layer_step");
      Compute("moe_offset", std::to_string(step - 1), "interleave_moe_layer_step");
    }
    const std::optional<int64_t> width = Number("intermediate_size");
    if (!width.has_value()) return;
    PutNumber("expert_ffn", *width, "intermediate_size");
    PutNumber("shared_expert_ffn", *width, "intermediate_size");
    const std::optional<int64_t> dense = Number("intermediate_size_mlp");
    if (dense.has_value()) PutNumber("ffn", *dense, "intermediate_size_mlp");
  }

  // MiniMax-M2: "per_layer" normalizes all heads together.
  void ReadHeadNorms() {
    if (const YamlNode* kinds = Field("attn_type_list")) {
      for (const YamlNode& item : kinds->items) {
        if (item.scalar == "1") continue;
        return diagnostics_.Add(
            item.ErrorHere("attention other than softmax's (attn_type_list) is not modeled; "
                           "the valid value is 1"));
      }
    }
    const YamlNode* type = Field("qk_norm_type");
    const std::string kind = type == nullptr ? "per_layer" : type->scalar;
    if (kind != "per_layer" && kind != "per_head") {
      return diagnostics_.Add(type->ErrorHere(
          fmt::format("'{}' is not a qk_norm_type; valid values are per_layer, per_head", kind)));
    }
    const YamlNode* used = Field("use_qk_norm");
    if (used != nullptr && used->scalar == "false") return;
    Compute("qk_norm_kind", kind == "per_layer" ? "whole" : "head", "qk_norm_type");
  }

  void ReadPredictionModules() {
    const YamlNode* use = Field("use_mtp");
    const int64_t modules = Number("num_mtp_modules").value_or(0);
    const int64_t each = Number("mtp_transformer_layers").value_or(1);
    if (use == nullptr || use->scalar != "true" || modules == 0) return;
    if (each != 1) {
      return diagnostics_.Add(Field("mtp_transformer_layers")
                                  ->ErrorHere("a module of multi-token prediction with several "
                                              "layers is not supported; write 1"));
    }
    PutNumber("mtp_layers", modules, "num_mtp_modules");
  }

  // GLM: "dense" layers first, then "sparse" ones, as first_k_dense_replace has them.
  void ReadMlpTypes() {
    const YamlNode* types = Field("mlp_layer_types");
    if (types == nullptr) return;
    size_t dense = 0;
    while (dense < types->items.size() && types->items[dense].scalar == "dense") ++dense;
    for (size_t i = dense; i < types->items.size(); ++i) {
      if (types->items[i].scalar == "sparse") continue;
      return diagnostics_.Add(
          types->items[i].ErrorHere("dense layers are supported only at the start of the model"));
    }
    Put("first_dense_layers", std::to_string(dense), *types);
  }

  // GLM-5.2: a part of the layers takes the keys that the indexer of another layer picked.
  void CheckIndexers() {
    const int64_t every = Number("index_topk_freq").value_or(1);
    used_.insert({"index_skip_topk_offset", "indexer_types"});
    if (every == 1) return;
    diagnostics_.Add(Field("index_topk_freq")
                         ->ErrorHere(fmt::format("an indexer in every {}th layer, whose keys the "
                                                 "layers behind it share, is not modeled",
                                                 every)));
  }

  // Nemotron-NAS (DeciLM): each block has attention, an MLP, both or one of them. The width of an
  // MLP is two thirds of ffn_mult x hidden_size, rounded up to 256.
  void ReadBlocks() {
    const YamlNode* blocks = Field("block_configs");
    const std::optional<int64_t> hidden = Number("hidden_size"),
                                 heads = Number("num_attention_heads");
    if (blocks == nullptr || !hidden || !heads) {
      return diagnostics_.Add(
          config_.ErrorHere("'block_configs' is needed: the parts of each layer"));
    }
    std::string pattern, widths;
    int64_t kv_heads = 0;
    for (const YamlNode& block : blocks->items) {
      const YamlNode* attention = block.Find("attention");
      const YamlNode* ffn = block.Find("ffn");
      if (attention == nullptr || ffn == nullptr) {
        return diagnostics_.Add(block.ErrorHere("a block needs 'attention' and 'ffn'"));
      }
      for (const YamlNode* part : {attention, ffn}) {
        const YamlNode* linear = part->Find("replace_with_linear");
        if (linear == nullptr || linear->scalar != "true") continue;
        return diagnostics_.Add(linear->ErrorHere(
            "a linear layer in place of attention or an MLP is not modeled (replace_with_linear)"));
      }
      if (!IsTrue(*attention, "no_op")) {
        const YamlNode* group = attention->Find("n_heads_in_group");
        const Result<int64_t> size =
            group == nullptr ? Result<int64_t>(int64_t{1}) : AsInteger(*group);
        if (!size.ok() || *size < 1 || *heads % *size != 0 ||
            (kv_heads != 0 && kv_heads != *heads / *size)) {
          return diagnostics_.Add(
              attention->ErrorHere("groups of heads that differ from layer to layer are not "
                                   "modeled (n_heads_in_group)"));
        }
        kv_heads = *heads / *size;
        pattern += '*';
      }
      if (IsTrue(*ffn, "no_op")) continue;
      const YamlNode* factor = ffn->Find("ffn_mult");
      const Result<double> times = factor == nullptr
                                       ? Result<double>(ffn->ErrorHere("'ffn' needs 'ffn_mult'"))
                                       : AsNumber(*factor);
      if (!times.ok()) return diagnostics_.Add(times.error());
      if (*times <= 0 || *times > 1000) {
        return diagnostics_.Add(factor->ErrorHere("'ffn_mult' must be between 0 and 1000"));
      }
      const auto width = static_cast<int64_t>(2 * *times * static_cast<double>(*hidden) / 3);
      widths += (widths.empty() ? "" : ",") + std::to_string((width + 255) / 256 * 256);
      pattern += '-';
    }
    Put("layer_pattern", pattern, *blocks);
    Put("pattern_ffn", widths, *blocks);
    if (kv_heads > 0) Put("kv_heads", std::to_string(kv_heads), *blocks);
    PutNumber("layers", static_cast<int64_t>(pattern.size()), "num_hidden_layers");
    notes_.remarks.push_back(fmt::format(
        "the attention layers and MLPs of the {} blocks are {} layers of a layer_pattern",
        blocks->items.size(), pattern.size()));
  }

  static bool IsTrue(const YamlNode& map, const char* name) {
    const YamlNode* value = map.Find(name);
    return value != nullptr && value->scalar == "true";
  }

  // Bamba and Granite 4: each layer has a mixer and an MLP or experts, with a norm before either.
  // They are layers of their own in a pattern.
  void ReadHybridLayers() {
    const std::optional<int64_t> layers = Number("num_hidden_layers");
    if (!layers.has_value() || *layers < 1 || 2 * *layers > kMaxLayers) return;
    std::vector<bool> attends(static_cast<size_t>(*layers), false);
    const YamlNode* types = Field("layer_types");
    if (types == nullptr) types = Field("layers_block_type");
    const YamlNode* indices = Field("attn_layer_indices");
    if (types != nullptr) {
      const auto stated = AttentionOfLayerTypes(*types, *layers, &diagnostics_);
      if (!stated.has_value()) return;
      attends = *stated;
    }
    if (indices != nullptr) {
      for (const YamlNode& item : indices->items) {
        const Result<int64_t> layer = AsInteger(item);
        if (!layer.ok() || *layer < 0 || *layer >= *layers) {
          return diagnostics_.Add(
              item.ErrorHere(fmt::format("'{}' is not the number of a layer", item.scalar)));
        }
        attends[static_cast<size_t>(*layer)] = true;
      }
    }
    const bool experts = Number("num_local_experts").value_or(0) > 0;
    std::string pattern;
    for (const bool attention : attends) {
      pattern += attention ? '*' : 'M';
      pattern += experts ? 'E' : '-';
    }
    Compute("layer_pattern", pattern, types != nullptr ? "layer_types" : "attn_layer_indices");
    Compute("layers", std::to_string(2 * *layers), "num_hidden_layers");
    no_experts_ = !experts;
    if (no_experts_) {
      for (const char* key : {"experts", "experts_per_token"}) tree_.Unset(Key(key));
      if (const auto width = Number("shared_intermediate_size")) {
        PutNumber("ffn", *width, "shared_intermediate_size");
      }
    } else if (const auto width = Number("intermediate_size")) {
      PutNumber("expert_ffn", *width, "intermediate_size");
    }
    const YamlNode* positions = Field("position_embedding_type");
    if (positions != nullptr && positions->scalar == "nope") Put("positions", "none", *positions);
    if (const YamlNode* taps = Field("mamba_d_conv"); taps != nullptr && taps->scalar != "4") {
      diagnostics_.Add(taps->ErrorHere(fmt::format(
          "'mamba_d_conv' is {}; convolutions of {} rows are generated", taps->scalar, kScanTaps)));
    }
    used_.insert("mamba_expand");  // mamba_n_heads x mamba_d_head / hidden_size
    notes_.remarks.push_back(
        fmt::format("each of the {} layers is two of a layer_pattern: a mixer, and {}", *layers,
                    experts ? "experts" : "an MLP"));
  }

  // Mamba-2: num_heads and head_dim are those of the scan. A model without attention still states
  // heads, which split a model over tensor parallelism.
  void ReadScanLayers() {
    tree_.Unset("model.head_dim");
    const int64_t layers = Number("num_hidden_layers").value_or(0);
    const int64_t hidden = Number("hidden_size").value_or(0);
    const int64_t heads = Has("num_heads") ? Number("num_heads").value_or(0) : 128;
    const int64_t width = Has("head_dim") ? Number("head_dim").value_or(0) : 64;
    if (layers < 1 || layers > kMaxLayers || hidden < 1 || heads < 1 || width < 1) return;
    Compute("layer_pattern", std::string(static_cast<size_t>(layers), 'M'), "num_hidden_layers");
    Compute("mamba_heads", std::to_string(heads), "num_heads");
    Compute("mamba_head_dim", std::to_string(width), "head_dim");
    Compute("mamba_state", std::to_string(Number("state_size").value_or(128)), "state_size");
    Compute("heads", std::to_string(hidden % heads == 0 ? heads : 1), "num_heads");
    Compute("ffn", std::to_string(heads * width), "intermediate_size");  // that no layer has
    CheckScanWidth("expand", Number("expand").value_or(2) * hidden, heads * width);
    if (Has("intermediate_size")) {
      CheckScanWidth("intermediate_size", Number("intermediate_size").value_or(0), heads * width);
    }
    const YamlNode* residual = Field("residual_in_fp32");
    if (residual != nullptr && residual->scalar != "true" && residual->scalar != "false") {
      diagnostics_.Add(residual->ErrorHere(
          fmt::format("'residual_in_fp32' is {}; expected true or false", residual->scalar)));
    } else if (residual == nullptr || residual->scalar == "true") {
      Unmodeled(residual == nullptr ? Named("residual_in_fp32") : KeyOf("residual_in_fp32"),
                "a residual stream in fp32, which sums and norms read and write");
    }
  }

  void CheckScanWidth(const char* name, int64_t stated, int64_t width) {
    if (stated == width) return;
    const YamlNode* at = config_.Find(name);
    diagnostics_.Add((at == nullptr ? config_ : *at)
                         .ErrorHere(fmt::format("'{}' makes a scan {} wide; num_heads x head_dim "
                                                "are {}",
                                                name, stated, width)));
  }

  // The node of a field's name; for a field that the file does not have, the file as a whole.
  const YamlNode& KeyOf(const std::string& name) const {
    for (const auto& [key, value] : config_.entries) {
      if (key.scalar == name) return key;
    }
    return config_;
  }
  YamlNode Named(const std::string& name) const {
    YamlNode node = config_;
    node.kind = YamlNode::Kind::kScalar;
    node.scalar = name;
    return node;
  }

  // mlp_only_layers lists dense layers; supported only for the first layers.
  void ReadDenseLayers() {
    const YamlNode* step = Field("decoder_sparse_step");
    if (step != nullptr && step->scalar != "1") {
      diagnostics_.Add(
          step->ErrorHere("'decoder_sparse_step' must be 1 (all layers have experts); other values "
                          "are not supported"));
    }
    const YamlNode* dense = Field("mlp_only_layers");
    if (dense == nullptr || dense->items.empty()) return;
    for (size_t i = 0; i < dense->items.size(); ++i) {
      if (dense->items[i].scalar == std::to_string(i)) continue;
      diagnostics_.Add(
          dense->items[i].ErrorHere("dense layers are supported only at the start of the model"));
      return;
    }
    Put("first_dense_layers", std::to_string(dense->items.size()), *dense);
  }

  // Convolutions before scans have kScanTaps rows. full_attention_interval states what layer_types
  // lists.
  void ReadScans() {
    for (const char* name : {"conv_kernel", "linear_conv_kernel_dim"}) {
      const std::optional<int64_t> taps = Number(name);
      if (!taps.has_value() || *taps == kScanTaps) continue;
      diagnostics_.Add(Field(name)->ErrorHere(fmt::format(
          "'{}' is {}; convolutions of {} rows are generated", name, *taps, kScanTaps)));
    }
    if (family_.Reads("full_attention_interval")) used_.insert("layer_types");
    if (family_.Reads("hybrid_override_pattern")) ReadPattern();
  }

  // Older files have the symbols of the pattern, newer ones a word for each layer.
  void ReadPattern() {
    const YamlNode* types = Field("layers_block_type");
    if (types != nullptr) {
      const std::optional<std::string> pattern = PatternOfBlockTypes(*types, &diagnostics_);
      if (!pattern.has_value()) return;
      Put("layer_pattern", *pattern, *types);
      if (!Has("num_hidden_layers")) Put("layers", std::to_string(pattern->size()), *types);
    } else if (Field("hybrid_override_pattern") == nullptr) {
      diagnostics_.Add(
          config_.ErrorHere("'hybrid_override_pattern' is needed: the part that each "
                            "layer has"));
    }
    // The router picks by sigmoids with a bias that keeps the load even, as that of DeepSeek-V3.
    if (Number("n_routed_experts").value_or(0) > 0)
      Compute("router_bias", "true", "n_routed_experts");
    const YamlNode* predicting = Field("mtp_layers_block_type");
    std::optional<std::string> parts;
    if (predicting != nullptr) parts = PatternOfBlockTypes(*predicting, &diagnostics_);
    const YamlNode* symbols = Field("mtp_hybrid_override_pattern");
    if (symbols != nullptr) {
      predicting = symbols;
      parts = symbols->scalar;
    }
    if (!parts.has_value() || *parts == "*E" || *parts == "*-") return;
    diagnostics_.Add(predicting->ErrorHere(fmt::format(
        "layers of multi-token prediction '{}' are not supported; attention and experts "
        "or an MLP are generated",
        *parts)));
  }

  // A class token comes in addition to the patches.
  void ReadPatches() {
    const std::optional<int64_t> image = Number("image_size");
    const std::optional<int64_t> patch = Number("patch_size");
    const int64_t channels = Number("num_channels").value_or(3);
    if (!image.has_value() || !patch.has_value()) {
      diagnostics_.Add(config_.ErrorHere("'image_size' and 'patch_size' are needed"));
      return;
    }
    if (*patch < 1 || *patch > 4096 || channels < 1 || channels > 4096 || *image > 1 << 16 ||
        *image % *patch != 0) {
      diagnostics_.Add(
          Field("patch_size")
              ->ErrorHere(fmt::format("patches of {} x {} do not divide an image of {}", *patch,
                                      *patch, *image)));
      return;
    }
    const int64_t side = *image / *patch;
    PutNumber("patch_features", *patch * *patch * channels, "patch_size");
    PutNumber("sequence", side * side + 1, "image_size");
    const YamlNode* labels = Field("id2label");
    const YamlNode* count = Field("num_labels");
    if (labels != nullptr && !labels->entries.empty()) {
      Put("vocab", std::to_string(labels->entries.size()), *labels);
    } else if (count != nullptr) {
      Put("vocab", count->scalar, *count);
    } else {
      tree_.Set("model.vocab", "2");  // the default of transformers
    }
  }

  // Notes a head that differs from the generated one: a language model's, or with patches a
  // classifier's.
  void CheckHead() {
    const YamlNode* list = config_.Find("architectures");
    if (list == nullptr || list->items.empty()) return;
    const std::string& name = list->items.front().scalar;
    for (const char* known : {"ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForPreTraining",
                              "ForConditionalGeneration", "ForImageClassification"}) {
      if (name.ends_with(known)) return;
    }
    notes_.remarks.push_back(
        fmt::format("'{}' has another head or none; the generated head is that of a {}", name,
                    family_.Reads("patch_size") ? "classifier of images" : "language model"));
  }

  // Checks fields that change what attention computes.
  void CheckAttention() {
    CheckDirections();
    CheckPositions();
    // BERT reads it; a decoder is one with or without the field.
    const YamlNode* decoder = config_.Find("is_decoder");
    if (decoder != nullptr && family_is_encoder()) {
      CheckRepeat("is_decoder", "false", "the attention of the family, which sees both sides");
    } else if (decoder != nullptr) {
      Ignore("is_decoder");
    }
    if (config_.Find("max_window_layers") != nullptr && !family_.Reads("max_window_layers")) {
      const YamlNode* layers = config_.Find("num_hidden_layers");
      if (!IsTrue(config_, "use_sliding_window")) return Ignore("max_window_layers");
      CheckRepeat("max_window_layers", layers == nullptr ? "0" : layers->scalar,
                  "the layers that this family gives windows");
    }
  }

  bool family_is_encoder() const {
    return std::any_of(family_.presets.begin(), family_.presets.end(),
                       [](const HfDefault& preset) { return std::string(preset.key) == "causal"; });
  }

  void Ignore(const std::string& name) {
    used_.insert(name);
    notes_.ignored.push_back(name);
  }

  void CheckDirections() {
    const char* name = "use_bidirectional_attention";
    const YamlNode* both = config_.Find(name);
    if (both == nullptr) return;
    used_.insert(name);
    if (IsNull(*both) || both->scalar == "false") return notes_.ignored.push_back(name);
    if (family_.Reads(name) && both->scalar == "true") return Put("causal", "false", *both);
    diagnostics_.Add(both->ErrorHere(
        family_.Reads(name)
            ? fmt::format("'{}' is {}; expected true or false", name, both->scalar)
            : fmt::format("'{}' is {}, which a {} does not read; remove it, and set model.causal "
                          "to false if attention sees both sides",
                          name, both->scalar, family_.type)));
  }

  // The field is compared with the positions that are generated.
  void CheckPositions() {
    const char* name = "position_embedding_type";
    const YamlNode* positions = config_.Find(name);
    if (positions == nullptr) return;
    used_.insert(name);
    if (IsNull(*positions)) return notes_.ignored.push_back(name);
    const std::string given = Given("positions");
    const bool learned = given.empty() && Given("architecture") == "gpt";
    std::vector<std::string> expected = {"rope", "rotary"};
    if (family_.Reads(name))
      expected = {"nope", "rope"};
    else if (given == "none")
      expected = {"nope", "none"};
    else if (learned)
      expected = {"absolute", "learned_absolute"};
    if (std::find(expected.begin(), expected.end(), positions->scalar) != expected.end()) {
      return notes_.ignored.push_back(name);
    }
    diagnostics_.Add(positions->ErrorHere(
        fmt::format("'{}' is {}, which is not generated for a {}; expected {}", name,
                    positions->scalar, family_.type, Join(expected, " or "))));
  }

  void Unmodeled(const YamlNode& key, const std::string& what) {
    const std::string text = fmt::format("{} ({})", key.scalar, what);
    if (strict_)
      diagnostics_.Add(key.ErrorHere("not modeled: " + text));
    else
      notes_.unmodeled.push_back(text);
  }

  void Refuse(const YamlNode& key, const std::string& name) {
    diagnostics_.Add(key.ErrorHere(
        fmt::format("'{}' would change the shape of the model; it is not supported for a {}", name,
                    family_.type)));
  }

  void CheckExpected(const HfExpected& expected, const YamlNode& key, const YamlNode& value) {
    if (IsExpected(expected, value)) return notes_.ignored.push_back(key.scalar);
    if (expected.effect == HfExpected::Effect::kSmall) return Unmodeled(key, expected.what);
    diagnostics_.Add(key.ErrorHere(UnexpectedMessage(expected, value)));
  }

  // The text of the key that the fields before this one gave; empty: none did.
  std::string Given(const char* key) const {
    const YamlNode* model = tree_.root().Find("model");
    const YamlNode* value = model == nullptr ? nullptr : model->Find(key);
    return value == nullptr ? "" : value->scalar;
  }

  // Fields that repeat what other fields or the family say: a contradiction changes the model.
  void CheckRepeated() {
    const bool own_bias = !Given("qkv_bias").empty() || Given("architecture") == "gpt";
    if (!own_bias) CheckRepeat("attention_bias", "false", "the biases of attention");
    CheckRepeat("experts_per_token", Given("experts_per_token"), "num_experts_per_tok");
    CheckRepeat("embd_pdrop", Given("dropout").empty() ? "0" : Given("dropout"),
                "the dropout of the layers (model.dropout), which the embedding shares");
    CheckRepeat("use_mla", family_.Reads("kv_lora_rank") ? "true" : "false",
                "the attention of the family");
    for (const char* name : {"use_qk_norm", "qk_layernorm", "qk_norm"}) {
      CheckRepeat(name, Given("qk_norm").empty() ? "false" : Given("qk_norm"),
                  "the norms of queries and keys (model.qk_norm)");
    }
    if (Given("layer_pattern").empty() && config_.Find("layer_types") != nullptr &&
        !used_.contains("layer_types")) {
      CheckLayersSeeAll();
    }
  }

  void CheckRepeat(const char* name, const std::string& expected, const char* what) {
    const YamlNode* value = config_.Find(name);
    if (value == nullptr || IsNull(*value)) return;
    if (used_.contains(name) || family_.Refuses(name)) return;
    used_.insert(name);
    const HfExpected equal = {name, {expected.c_str()}, ""};
    if (IsExpected(equal, *value)) return notes_.ignored.push_back(name);
    diagnostics_.Add(
        value->ErrorHere(fmt::format("'{}' is {} and contradicts {}; expected {}", name,
                                     value->scalar, what, expected.empty() ? "null" : expected)));
  }

  // The type of the stored weights is not that of the training.
  void NoteStoredType() {
    for (const char* name : {"torch_dtype", "dtype"}) {
      const YamlNode* type = config_.Find(name);
      if (type == nullptr) continue;
      Ignore(name);
      static const std::vector<std::string> kTypes = {"bfloat16", "float16", "float32", "auto",
                                                      "float8_e4m3fn"};
      std::string stored = type->scalar;
      if (stored.starts_with("torch.")) stored = stored.substr(6);
      if (IsNull(*type) || stored == "bfloat16" || stored == "auto") continue;
      if (std::find(kTypes.begin(), kTypes.end(), stored) == kTypes.end()) {
        diagnostics_.Add(type->ErrorHere(
            fmt::format("'{}' is {}, which is not a type of weights{}; valid values are {}", name,
                        type->scalar, DidYouMean(type->scalar, kTypes), Join(kTypes))));
      } else {
        notes_.remarks.push_back(
            fmt::format("'{}' is {}, the type of the stored weights; "
                        "training.precision gives that of the training",
                        name, type->scalar));
      }
    }
  }

  void NoteStoredFormat() {
    const YamlNode* stored = config_.Find("quantization_config");
    if (stored == nullptr || IsNull(*stored)) return;
    notes_.remarks.emplace_back(
        "'quantization_config' is the format of the stored weights; training.precision and "
        "training.fp8_recipe give that of the training");
  }

  void CheckLayersSeeAll() {
    used_.insert("layer_types");
    for (const YamlNode& item : config_.Find("layer_types")->items) {
      if (item.scalar == "full_attention" || item.scalar == "attention") continue;
      return diagnostics_.Add(item.ErrorHere(
          fmt::format("'layer_types' has '{}', which is not supported for a {}; the valid value is "
                      "full_attention",
                      item.scalar, family_.type)));
    }
    notes_.ignored.push_back("layer_types");
  }

  // Sorts the fields that no key reads: harmless, unmodeled, sizes, or unknown.
  void CheckRest() {
    for (const auto& [key, value] : config_.entries) {
      const std::string& name = key.scalar;
      if (used_.contains(name)) continue;
      const auto unmodeled = HfUnmodeled().find(name);
      const bool nothing = IsNullOrZero(value) || IsOneGroup(name, value);
      if (family_.Refuses(name) && !nothing) {
        Refuse(key, name);
      } else if (const HfExpected* expected = FindHfExpected(name); expected != nullptr) {
        CheckExpected(*expected, key, value);
      } else if (unmodeled != HfUnmodeled().end() && !nothing) {
        Unmodeled(key, unmodeled->second);
      } else if (unmodeled != HfUnmodeled().end() || HfHarmless().contains(name)) {
        notes_.ignored.push_back(name);
      } else if (IsNullOrZero(value) && (LooksLikeASize(name) || family_.Refuses(name))) {
        notes_.ignored.push_back(name);
      } else if (LooksLikeASize(name) || family_.Refuses(name)) {
        Refuse(key, name);
      } else if (strict_) {
        diagnostics_.Add(key.ErrorHere(fmt::format("unknown field '{}'", name)));
      } else {
        notes_.unknown.push_back(name);
      }
    }
  }

  const YamlNode& config_;
  const HfFamily& family_;
  const bool strict_;
  ImportNotes& notes_;
  Diagnostics& diagnostics_;
  JobTree tree_;
  bool no_experts_ = false;  // the fields of experts are there, and have 0
  std::set<std::string> used_ = {"model_type", "architectures", "vision_config"};
};

const YamlNode* NestedText(const YamlNode& root) {
  for (const char* size : {"hidden_size", "num_hidden_layers", "n_layer"}) {
    if (root.Find(size) != nullptr) return nullptr;
  }
  for (const char* name : {"text_config", "llm_config", "language_config"}) {
    const YamlNode* text = root.Find(name);
    if (text != nullptr && text->kind == YamlNode::Kind::kMap) return text;
  }
  return nullptr;
}

// A family's name without digits: "llama" of "llama4".
std::string Letters(const std::string& type) {
  std::string letters;
  for (const char c : type) {
    if (c < '0' || c > '9') letters += c;
  }
  return letters;
}

// A hint for a name that is misspelled, not for another member of a family.
std::string TypeHint(const std::string& type) {
  const std::string nearest = Nearest(type, HfModelTypes());
  if (nearest.empty() || nearest.front() != type.front()) return "";
  const bool same_digits =
      nearest.size() - Letters(nearest).size() == type.size() - Letters(type).size();
  const bool same_letters = Letters(nearest) == Letters(type);
  const bool close = nearest.size() <= type.size() + 2 && type.size() <= nearest.size() + 2;
  if (!same_digits || same_letters || !close) return "";
  return DidYouMean(type, HfModelTypes());
}

Result<const HfFamily*> FamilyOf(const YamlNode& config) {
  const YamlNode* type = config.Find("model_type");
  if (type == nullptr) return config.ErrorHere("a config.json needs 'model_type'");
  std::string name = type->scalar;
  for (const HfAlias& alias : HfAliases()) {
    if (name == alias.type) name = alias.family;
  }
  for (const HfFamily& family : HfFamilies()) {
    if (name == family.type) return &family;
  }
  std::string plain = name;
  for (const char* suffix : {"_text", "_vl", "_unified"}) {
    if (plain.ends_with(suffix)) plain.resize(plain.size() - std::string(suffix).size());
  }
  for (const HfMissing& missing : HfMissingParts()) {
    if (name != missing.type && plain != missing.type) continue;
    return type->ErrorHere(
        fmt::format("model_type '{}' needs what Drydock does not model: {}", name, missing.what));
  }
  return type->ErrorHere(fmt::format("unsupported model_type '{}'{}; valid values are {}", name,
                                     TypeHint(name), Join(HfModelTypes())));
}

}  // namespace

const std::vector<std::string>& HfModelTypes() {
  static const std::vector<std::string> types = [] {
    std::vector<std::string> list;
    for (const HfFamily& family : HfFamilies()) list.emplace_back(family.type);
    for (const HfAlias& alias : HfAliases()) list.emplace_back(alias.type);
    std::sort(list.begin(), list.end());
    return list;
  }();
  return types;
}

YamlNode TextConfigOf(const YamlNode& root) {
  const YamlNode* text = NestedText(root);
  if (text == nullptr) return root;
  YamlNode config = *text;
  for (const auto& [key, value] : root.entries) {
    const std::string& name = key.scalar;
    const bool shared = name == "tie_word_embeddings" || name == "model_type";
    if (shared && config.Find(name) == nullptr) {
      config.entries.emplace_back(key, value);
      if (name == "model_type") config.entries.back().second.scalar += "_text";
    }
  }
  return config;
}

Result<YamlNode> ModelFromHfConfig(const YamlNode& root, const std::string& file_name, bool strict,
                                   ImportNotes* notes) {
  if (root.kind != YamlNode::Kind::kMap) return root.ErrorHere("a config.json must be one object");
  const YamlNode config = TextConfigOf(root);
  if (NestedText(root) != nullptr || root.Find("vision_config") != nullptr) {
    notes->remarks.emplace_back(
        "only the text part is taken; towers of images or sound are left out");
  }
  ASSIGN_OR_RETURN(const HfFamily* family, FamilyOf(config));
  Diagnostics diagnostics;
  YamlNode model = ConfigReader(config, *family, file_name, strict, notes, &diagnostics).Read();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return model;
}

Result<YamlNode> ModelFromHfConfig(const std::string& text, const std::string& file_name,
                                   bool strict, ImportNotes* notes) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  return ModelFromHfConfig(root, file_name, strict, notes);
}

Status ExpandModelFrom(bool strict, YamlNode* root, ImportNotes* notes) {
  const auto read = [&](const std::string& text, const std::string& path) {
    return ModelFromHfConfig(text, path, strict, notes);
  };
  return ExpandFrom("model", read, root);
}

}  // namespace drydock
