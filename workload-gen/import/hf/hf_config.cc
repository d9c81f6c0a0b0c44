#include "workload-gen/import/hf/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/spelling.h"
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
    if (family_.Reads("num_experts_per_tok")) ReadExperts();
    if (family_.Reads("patch_size")) ReadPatches();
    CheckHead();
    CheckAttention();
    // Latent attention replaces these widths; configurations repeat them.
    if (family_.Reads("kv_lora_rank")) used_.insert({"num_key_value_heads", "head_dim"});
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
    if (value == nullptr || family_.own_activation) return;
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
    const int64_t stated = Number("sliding_window").value_or(0);
    if (off) return 0;
    return Has("sliding_window") ? stated : family_.windows.width;
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
    if (width.has_value() && shared.has_value() && *shared > 0 && !stated) {
      if (*shared * *width <= kMaxDimension) {
        PutNumber("shared_expert_ffn", *shared * *width, "n_shared_experts");
      } else {
        diagnostics_.Add(
            Field("n_shared_experts")->ErrorHere("the shared experts are too wide together"));
      }
    }
    const YamlNode* method = Field("topk_method");
    if (method != nullptr && method->scalar == "noaux_tc") Put("router_bias", "true", *method);
    ReadDenseLayers();
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
    if (family_.Reads("hybrid_override_pattern") && Field("hybrid_override_pattern") == nullptr) {
      diagnostics_.Add(
          config_.ErrorHere("'hybrid_override_pattern' is needed: the part that each "
                            "layer has"));
    }
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
    const YamlNode* bidirectional = config_.Find("use_bidirectional_attention");
    if (bidirectional != nullptr && bidirectional->scalar == "true") {
      Put("causal", "false", *bidirectional);
      used_.insert("use_bidirectional_attention");
    }
    const YamlNode* positions = config_.Find("position_embedding_type");
    if (positions == nullptr || IsNull(*positions) || positions->scalar == "absolute") return;
    diagnostics_.Add(positions->ErrorHere(
        fmt::format("position_embedding_type '{}' is not supported; the valid value is absolute",
                    positions->scalar)));
  }

  void Unmodeled(const YamlNode& key, const std::string& what) {
    const std::string text = fmt::format("{} ({})", key.scalar, what);
    if (strict_)
      diagnostics_.Add(key.ErrorHere("not modeled: " + text));
    else
      notes_.unmodeled.push_back(text);
  }

  // Sorts the fields that no key reads: harmless, unmodeled, sizes, or unknown.
  void CheckRest() {
    for (const auto& [key, value] : config_.entries) {
      const std::string& name = key.scalar;
      if (used_.contains(name)) continue;
      const auto unmodeled = HfUnmodeled().find(name);
      const bool nothing = IsNullOrZero(value) || IsOneGroup(name, value);
      if (unmodeled != HfUnmodeled().end() && !nothing) {
        Unmodeled(key, unmodeled->second);
      } else if (unmodeled != HfUnmodeled().end() || HfHarmless().contains(name)) {
        notes_.ignored.push_back(name);
      } else if (IsNullOrZero(value) && (LooksLikeASize(name) || family_.Refuses(name))) {
        notes_.ignored.push_back(name);
      } else if (LooksLikeASize(name) || family_.Refuses(name)) {
        diagnostics_.Add(key.ErrorHere(
            fmt::format("'{}' would change the shape of the model; it is not supported for a {}",
                        name, family_.type)));
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
  std::set<std::string> used_ = {"model_type", "architectures"};
};

// Returns the configuration of the text model inside a model of text and images.
Result<const YamlNode*> TextConfig(const YamlNode& root, ImportNotes* notes) {
  const YamlNode* type = root.Find("model_type");
  if (type == nullptr || type->scalar != "gemma3") return &root;
  const YamlNode* text = root.Find("text_config");
  if (text == nullptr || text->kind != YamlNode::Kind::kMap) {
    return root.ErrorHere("model_type gemma3 needs 'text_config'");
  }
  notes->remarks.emplace_back(
      "of a model of text and images, only the text model is read (text_config)");
  return text;
}

Result<const HfFamily*> FamilyOf(const YamlNode& config) {
  const YamlNode* type = config.Find("model_type");
  if (type == nullptr) return config.ErrorHere("a config.json needs 'model_type'");
  for (const HfFamily& family : HfFamilies()) {
    if (type->scalar == family.type) return &family;
  }
  return type->ErrorHere(fmt::format("unsupported model_type '{}'{}; valid values are {}",
                                     type->scalar, DidYouMean(type->scalar, HfModelTypes()),
                                     Join(HfModelTypes())));
}

}  // namespace

const std::vector<std::string>& HfModelTypes() {
  static const std::vector<std::string> types = [] {
    std::vector<std::string> list;
    for (const HfFamily& family : HfFamilies()) list.emplace_back(family.type);
    std::sort(list.begin(), list.end());
    return list;
  }();
  return types;
}

Result<YamlNode> ModelFromHfConfig(const std::string& text, const std::string& file_name,
                                   bool strict, ImportNotes* notes) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, file_name));
  if (root.kind != YamlNode::Kind::kMap) return root.ErrorHere("a config.json must be one object");
  ASSIGN_OR_RETURN(const YamlNode* config, TextConfig(root, notes));
  ASSIGN_OR_RETURN(const HfFamily* family, FamilyOf(*config));
  Diagnostics diagnostics;
  YamlNode model = ConfigReader(*config, *family, file_name, strict, notes, &diagnostics).Read();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return model;
}

Status ExpandModelFrom(bool strict, YamlNode* root, ImportNotes* notes) {
  const auto read = [&](const std::string& text, const std::string& path) {
    return ModelFromHfConfig(text, path, strict, notes);
  };
  return ExpandFrom("model", read, root);
}

}  // namespace drydock
