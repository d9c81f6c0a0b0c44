#include "workload-gen/import/recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scan.h"
#include "workload-gen/import/recipe/bridge_settings.h"
#include "workload-gen/import/recipe/recipe_reader.h"

namespace drydock {
namespace {

// Both kinds of a recipe.
class RecipeWords {
 public:
  explicit RecipeWords(RecipeReader* reader) : r_(*reader) {}

  void AddGroups() {
    const char* groups = "model.num_query_groups";
    if (!r_.Has(groups) || r_.Text(groups) == r_.Text("model.num_attention_heads")) return;
    r_.Add("--group-query-attention", groups);
    r_.AddValue("--num-query-groups", groups);
  }

  // [127, 0]
  void AddWindow() {
    const char* window = "model.window_size";
    if (!r_.Has(window)) return;
    r_.Add("--window-size", r_.List(window), window);
  }

  void AddRecompute(const char* granularity, const char* method, const char* layers) {
    if (r_.Text(granularity) != "full") return;
    r_.AddValue("--recompute-method", method);
    r_.AddValue("--recompute-num-layers", layers);
  }

  void AddTokenizer(const std::string& type, const char* type_path, const char* model_path) {
    if (!type.empty()) r_.Add("--tokenizer-type", type, type_path);
    if (r_.Has(model_path)) r_.AddValue("--tokenizer-model", model_path);
  }

 protected:
  RecipeReader& r_;
};

class NemoWords : public RecipeWords {
 public:
  using RecipeWords::RecipeWords;

  void Add() {
    AddPrecision();
    CheckSpecification();
    AddLayers();
    AddKernels();
    AddFormat();
    AddGroups();
    AddWindow();
    AddRecompute("model.activations_checkpoint_granularity", "model.activations_checkpoint_method",
                 "model.activations_checkpoint_num_layers");
    if (r_.IsTrue("model.cpu_offloading")) {
      r_.AddValue("--cpu-offloading-num-layers", "model.cpu_offloading_num_layers");
    }
    if (r_.IsTrue("model.defer_embedding_wgrad_compute") && r_.Has("model.wgrad_deferral_limit")) {
      r_.AddValue("--wgrad-deferral-limit", "model.wgrad_deferral_limit");
    }
    if (!r_.IsTrue("model.overlap_p2p_comm")) {
      r_.Add("--no-overlap-p2p-communication", "model.overlap_p2p_comm");
    }
    AddTokenizer();
    AddOptimizer();
    if (const char* file = "model.ub_tp_comm_overlap_cfg"; !r_.Text(file).empty()) {
      r_.AddValue("--tp-comm-overlap-cfg", file);
    }
    r_.CheckSame("model.data.seq_length", "model.encoder_seq_length");
  }

  int64_t gpus() {
    const auto nodes = WholeNumber(r_.Text("trainer.num_nodes"));
    const auto devices = WholeNumber(r_.Text("trainer.devices"));
    const bool sane = nodes && devices && *nodes <= 1 << 20 && *devices <= 1 << 10;
    return sane ? *nodes * *devices : 0;
  }

 private:
  void AddPrecision() {
    const char* path = r_.Has("model.precision") ? "model.precision" : "trainer.precision";
    const std::string type = r_.Text(path, "32");
    if (type == "bf16" || type == "bf16-mixed") return AddHalf("--bf16", path);
    if (type == "16" || type == "fp16" || type == "16-mixed") return AddHalf("--fp16", path);
    r_.Fail(path,
            fmt::format("'{0}' is {1}; expected bf16 or 16: training in fp32 is not generated; "
                        "--variable {0}=bf16 replaces it",
                        path, type));
  }

  // Without O2, PyTorch casts the weights of fp32 in each use.
  void AddHalf(const char* argument, const char* path) {
    r_.Add(argument, path);
    if (!r_.IsTrue("model.megatron_amp_O2")) {
      r_.Fail("model.megatron_amp_O2",
              "'model.megatron_amp_O2' is false: weights in fp32 that are cast in each use are not "
              "generated; --variable model.megatron_amp_O2=true sets it");
    }
  }

  void AddLayers() {
    const char* norm = "model.normalization";
    const std::string kind = r_.Text(norm, "layernorm");
    r_.Add("--normalization",
           kind == "layernorm" || kind == "layernorm1p" ? "LayerNorm"
           : kind == "rmsnorm"                          ? "RMSNorm"
                                                        : kind,
           norm);
    const char* activation = "model.activation";
    const std::string name = r_.Text(activation, "gelu");
    if (name == "swiglu" || name == "fast-swiglu") {
      r_.Add("--swiglu", activation);
    } else if (name == "geglu" || name == "fast-geglu") {
      r_.Add("--quick-geglu", activation);
    } else if (name == "squared-relu") {
      r_.Add("--squared-relu", activation);
    } else if (name != "gelu") {
      r_.Fail(activation, fmt::format("'{}' is {}; gelu, swiglu, geglu and squared-relu are "
                                      "generated",
                                      activation, name));
    }
    if (!r_.Has("model.ffn_hidden_size")) {
      const std::optional<int64_t> hidden = WholeNumber(r_.Text("model.hidden_size"));
      if (hidden.has_value() && *hidden < 1 << 24) {
        r_.Add("--ffn-hidden-size", std::to_string(4 * *hidden), "model.hidden_size");
      }
    }
  }

  // `name` selects the specification of a layer. That of Falcon alone reads two of the settings
  // that are passed on to Megatron-Core.
  void CheckSpecification() {
    const char* path = "model.name";
    const std::string name = r_.Text(path);
    for (const char* part : {"hyena", "griffin", "modelopt", "retro"}) {
      if (name.find(part) == std::string::npos) continue;
      return r_.Fail(path,
                     fmt::format("'{}' is {}: this kind of model is not generated", path, name));
    }
    for (const char* field : {"new_decoder_architecture", "parallel_attention"}) {
      const std::string key = std::string("model.mcore_customization_config.") + field;
      if (!r_.IsTrue(key)) continue;
      if (name == "megatron_falcon_gpt") {
        r_.Fail(key,
                fmt::format("'{}' is true: attention and MLP side by side on one input are not "
                            "generated",
                            key));
      } else {
        r_.Remark(key, "has no effect without model.name: megatron_falcon_gpt");
      }
    }
  }

  void AddKernels() {
    if (!r_.IsTrue("model.mcore_gpt") && !r_.IsTrue("model.mcore_bert")) {
      r_.NoteUnmodeled("model.mcore_gpt",
                       "NeMo's own layers; those of Megatron-Core are generated");
    }
    if (!r_.IsTrue("model.transformer_engine")) {
      r_.Add("--transformer-impl", "local", "model.transformer_engine");
      if (r_.IsTrue("model.use_flash_attention")) {
        r_.Add("--use-flash-attn", "model.use_flash_attention");
      }
    }
    if (!r_.IsTrue("model.gradient_accumulation_fusion")) {
      r_.Add("--no-gradient-accumulation-fusion", "model.gradient_accumulation_fusion");
    }
    if (!r_.IsTrue("model.apply_rope_fusion"))
      r_.Add("--no-rope-fusion", "model.apply_rope_fusion");
  }

  void AddFormat() {
    if (!r_.IsTrue("model.fp8")) return;
    r_.Add("--fp8-format", r_.IsTrue("model.fp8_e4m3") ? "e4m3" : "hybrid", "model.fp8");
    if (r_.IsTrue("model.fp8_params")) r_.Add("--fp8-param-gather", "model.fp8_params");
    if (!r_.IsTrue("model.fp8_wgrad", true)) r_.Add("--no-fp8-wgrad", "model.fp8_wgrad");
  }

  // Other libraries than Megatron's name a tokenizer of Hugging Face.
  void AddTokenizer() {
    const char* path = "model.tokenizer.type";
    const std::string library = r_.Text("model.tokenizer.library", "megatron");
    const std::string type = r_.Text(path);
    const bool of_megatron = type == "GPT2BPETokenizer" || type.starts_with("BertWordPiece");
    if (library == "sentencepiece") {
      return RecipeWords::AddTokenizer("GPTSentencePieceTokenizer", "model.tokenizer.library",
                                       "model.tokenizer.model");
    }
    if (of_megatron || library == "tiktoken") {
      return RecipeWords::AddTokenizer(of_megatron ? type : "TikTokenizer", path,
                                       "model.tokenizer.model");
    }
    r_.Add("--tokenizer-type", "HuggingFaceTokenizer", path);
    if (!type.empty()) r_.Add("--tokenizer-model", type, path);
  }

  // megatron_gpt_model.py of NeMo: gradients are reduced in fp32 unless grad_sync_dtype says
  // otherwise, and buckets have Megatron-Core's size, not bucket_cap_mb.
  void AddOptimizer() {
    const char* path = "model.optim.name";
    const std::string name = r_.Text(path, "fused_adam");
    const bool distributed = name == "mcore_distributed_optim" || name == "distributed_fused_adam";
    if (!distributed && name != "fused_adam" && name != "adam" && name != "adamw") {
      r_.Fail(path, fmt::format("'{}' is {}; mcore_distributed_optim, distributed_fused_adam, "
                                "fused_adam, adam and adamw are generated",
                                path, name));
    }
    if (distributed) {
      r_.Add("--use-distributed-optimizer", path);
      const char* gradients = "model.optim.overlap_grad_sync";
      const char* parameters = "model.optim.overlap_param_sync";
      if (r_.IsTrue(gradients)) r_.Add("--overlap-grad-reduce", gradients);
      if (r_.IsTrue(parameters)) r_.Add("--overlap-param-gather", parameters);
    }
    const char* type = "model.optim.grad_sync_dtype";
    if (r_.Text(type, "fp32") == "bf16") {
      r_.Add("--grad-reduce-in-bf16", type);
    } else if (r_.Has(type) && r_.Text(type) != "fp32") {
      r_.Fail(type, fmt::format("'{}' is {}; expected fp32 or bf16", type, r_.Text(type)));
    }
    if (r_.Text("trainer.precision") == "16") r_.Add("--accumulate-allreduce-grads-in-fp32", path);
    if (r_.Has("model.optim.ddp_bucket_size")) {
      r_.AddValue("--ddp-bucket-size", "model.optim.ddp_bucket_size");
    }
    const char* bucket = "model.optim.bucket_cap_mb";
    if (r_.Has(bucket) && name == "distributed_fused_adam") {
      r_.NoteUnmodeled(bucket, "buckets of Apex's optimizer; those of Megatron-Core are generated");
    } else if (r_.Has(bucket)) {
      r_.NoteIgnored(bucket);
    }
    if (r_.IsTrue("model.optim.nccl_ub")) r_.Add("--use-nccl-ub", "model.optim.nccl_ub");
  }
};

class BridgeWords : public RecipeWords {
 public:
  using RecipeWords::RecipeWords;

  void Add() {
    AddBridgePrecision(&r_);
    AddBridgeOverlap(&r_);
    AddSequence();
    AddActivation();
    AddGroups();
    AddWindow();
    AddRecompute("model.recompute_granularity", "model.recompute_method",
                 "model.recompute_num_layers");
    for (const char* modules : {"model.cuda_graph_modules", "model.cuda_graph_scope"}) {
      if (r_.Has(modules)) r_.AddValue("--cuda-graph-modules", modules);
    }
    if (const char* file = "model.tp_comm_overlap_cfg"; !r_.Text(file).empty()) {
      r_.AddValue("--tp-comm-overlap-cfg", file);
    }
    const char* layers = "model.transformer_impl";
    if (r_.Has(layers)) r_.AddValue("--transformer-impl", layers);
    AddVocabulary();
  }

 private:
  void AddSequence() {
    const char* path = r_.Has("model.seq_length") ? "model.seq_length" : "dataset.seq_length";
    if (r_.Has(path)) r_.AddValue("--seq-length", path);
    r_.CheckSame("dataset.seq_length", "model.seq_length");
    const char* most =
        r_.Has("model.max_position_embeddings") ? "model.max_position_embeddings" : path;
    if (r_.Has(most)) r_.AddValue("--max-position-embeddings", most);
  }

  // A function is a map with its name: {_target_: torch.nn.functional.silu, _call_: false}.
  void AddActivation() {
    const char* path = "model.activation_func";
    const char* target = "model.activation_func._target_";
    std::string name = r_.Text(r_.Has(target) ? target : path, "gelu");
    name = name.substr(name.rfind('.') + 1);
    const bool gated = r_.IsTrue("model.gated_linear_unit");
    const std::string argument =
        name == "silu" && gated                                                    ? "--swiglu"
        : (name == "gelu" || name == "quick_gelu" || name == "fast_gelu") && gated ? "--quick-geglu"
        : name == "squared_relu" && !gated                  ? "--squared-relu"
        : (name == "gelu" || name == "fast_gelu") && !gated ? ""
                                                            : "?";
    if (argument == "?") {
      r_.Fail(path, fmt::format("'{}' is {}{}; gelu, squared_relu, and gated silu and gelu are "
                                "generated",
                                path, gated ? "a gated " : "", name));
    } else if (!argument.empty()) {
      r_.Add(argument, path);
    }
  }

  // The vocabulary of the model is padded already, unless should_pad_vocab says otherwise.
  void AddVocabulary() {
    const char* size = "model.vocab_size";
    const std::string type = r_.Text("tokenizer.tokenizer_type");
    if (r_.Has(size)) {
      return r_.AddValue(
          r_.IsTrue("model.should_pad_vocab") ? "--vocab-size" : "--padded-vocab-size", size);
    }
    if (r_.Has("tokenizer.vocab_size")) r_.AddValue("--vocab-size", "tokenizer.vocab_size");
    AddTokenizer(type, "tokenizer.tokenizer_type", "tokenizer.tokenizer_model");
  }
};

// env_vars of Megatron-Bridge.
void ReadEnvironment(const YamlNode& root, LaunchLine* line) {
  const YamlNode* environment = root.Find("env_vars");
  if (environment == nullptr) return;
  for (const auto& [name, value] : environment->entries) {
    if (IsEngineSetting(name.scalar)) line->engine_settings[name.scalar] = value.scalar;
    if (name.scalar.starts_with("NCCL_")) line->nccl_settings.push_back(name.scalar);
  }
}

YamlNode* FindOrAdd(const std::string& name, const Location& location, YamlNode* map) {
  for (auto& [key, value] : map->entries) {
    if (key.scalar == name) return &value;
  }
  YamlNode key;
  key.kind = YamlNode::Kind::kScalar;
  key.scalar = name;
  key.location = location;
  map->entries.emplace_back(key, YamlNode());
  return &map->entries.back().second;
}

// "model.seq_length=4096" replaces or adds a key, as on the command line of a recipe. A name whose
// first part is no section is of a reference, such as ${data_dir}.
Status ReplaceKeys(const std::map<std::string, std::string>& variables, YamlNode* root) {
  for (const auto& [path, text] : variables) {
    const size_t dot = path.find('.');
    if (dot == std::string::npos || root->Find(path.substr(0, dot)) == nullptr) continue;
    const Location place = {fmt::format("--variable {}={}", path, text), 0, 0};
    YamlNode* node = root;
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find('.', begin), path.size());
      if (node->kind == YamlNode::Kind::kNull) node->kind = YamlNode::Kind::kMap;
      if (node->kind != YamlNode::Kind::kMap || end == begin) {
        return Error("this names no key of the recipe", place);
      }
      node = FindOrAdd(path.substr(begin, end - begin), place, node);
      begin = end + 1;
    }
    const Result<YamlNode> value = ParseYaml(text, place.file);
    if (!value.ok()) return Error(value.error().message(), place);
    *node = *value;
    node->location = place;
    node->source_line.clear();
    for (YamlNode& item : node->items) {
      item.location = place;
      item.source_line.clear();
    }
  }
  return OkStatus();
}

}  // namespace

bool IsRecipe(const YamlNode& root) {
  if (root.kind != YamlNode::Kind::kMap) return false;
  const YamlNode* model = root.Find("model");
  return model != nullptr && model->kind == YamlNode::Kind::kMap &&
         (root.Find("trainer") != nullptr || root.Find("train") != nullptr ||
          root.Find("optimizer") != nullptr);
}

const YamlNode* OverlapMapOf(const YamlNode& root) {
  for (const auto& [section, key] :
       {std::pair("comm_overlap", "tp_comm_overlap_cfg"), std::pair("model", "tp_comm_overlap_cfg"),
        std::pair("model", "ub_tp_comm_overlap_cfg")}) {
    const YamlNode* map = root.Find(section);
    const YamlNode* value = map == nullptr ? nullptr : map->Find(key);
    if (value != nullptr && value->kind == YamlNode::Kind::kMap && !value->entries.empty()) {
      return value;
    }
  }
  return nullptr;
}

Result<LaunchLine> ReadRecipe(const YamlNode& file, const std::string& file_name,
                              const std::map<std::string, std::string>& variables, bool strict,
                              ImportNotes* notes) {
  YamlNode root = file;
  RETURN_IF_ERROR(ReplaceKeys(variables, &root));
  const bool nemo = root.Find("trainer") != nullptr;
  if (nemo && root.Find("train") != nullptr) {
    return Error("'trainer' is of a recipe of NeMo, 'train' of Megatron-Bridge: remove one",
                 {file_name, 0, 0});
  }
  Diagnostics diagnostics;
  RecipeReader reader(root, nemo ? NemoKeys() : BridgeKeys(), strict, variables, notes,
                      &diagnostics);
  LaunchLine line;
  reader.ReadAll();
  if (nemo) {
    NemoWords words(&reader);
    words.Add();
    line.gpus = words.gpus();
  } else {
    BridgeWords(&reader).Add();
    ReadEnvironment(root, &line);
  }
  RETURN_IF_ERROR(diagnostics.ToStatus());
  line.script.text = reader.IsTrue("model.mcore_bert") ? "pretrain_bert.py" : "recipe";
  line.script.location = root.location;
  line.arguments = reader.TakeWords();
  for (const RecipeKey& key : nemo ? NemoKeys() : BridgeKeys()) {
    if (key.use == RecipeKey::Use::kValue) line.keys[key.argument] = key.path;
  }
  line.keys["--bf16 or --fp16"] = nemo ? "trainer.precision" : "model.bf16";
  if (!nemo) line.keys["--seq-length"] = "model.seq_length";
  return line;
}

}  // namespace drydock
