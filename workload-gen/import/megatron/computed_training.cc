// The keys of the section `training`, except those of experts.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "core/base/scan.h"
#include "workload-gen/import/megatron/computed_keys.h"
#include "workload-gen/job/job_rules.h"

namespace drydock {
namespace {

class ComputedTraining {
 public:
  ComputedTraining(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes)
      : line_(line), r_(*reader), notes_(*notes) {}

  void Set() {
    SetPrecision();
    SetBatch();
    SetGraphs();
    SetOptimizer();
    SetKernels();
    if (r_.Has("--clip-grad") && !r_.IsPositive(r_.Place("--clip-grad"))) {
      r_.Set("training.gradient_clipping", "false", "--clip-grad");
    }
    if (r_.Has("--cross-entropy-loss-fusion")) {
      r_.Set("training.cross_entropy_fusion", "native", "--cross-entropy-loss-fusion");
      r_.Choose("--cross-entropy-fusion-impl", "training.cross_entropy_fusion",
                {{"native", "native"}, {"te", "te"}});
    }
    if (r_.Has("--use-nccl-ub")) {
      const bool plain = r_.Has("--disable-symmetric-registration");
      r_.Set("training.gradient_buffers", plain ? "registered" : "symmetric", "--use-nccl-ub");
    }
    if (r_.Has("--use-megatron-fsdp") || r_.Has("--use-custom-fsdp")) SetMegatronFsdp();
    SetRecompute();
    if (r_.Has("--cpu-offloading-num-layers")) {
      r_.Set("training.offload_layers", r_.Text("--cpu-offloading-num-layers"),
             "--cpu-offloading-num-layers");
    }
    if (r_.Has("--fine-grained-activation-offloading")) SetModuleOffload();
    SetWorkspace();
  }

 private:
  // `dist_muon` is muon with the distributed optimizer, which then is the layer-wise one.
  void SetOptimizer() {
    r_.Choose("--optimizer", "training.optimizer",
              {{"adam", "adam"}, {"muon", "muon"}, {"dist_muon", "muon"}});
    if (r_.Text("--optimizer", "adam") == "adam") return;
    if (r_.Text("--optimizer") == "dist_muon")
      r_.Set("training.distributed_optimizer", "true", "--optimizer");
    const auto copy = [&](const char* key, const char* argument) {
      if (r_.Has(argument)) r_.Set(key, r_.Text(argument), argument);
    };
    copy("training.muon_steps", "--muon-num-ns-steps");
    copy("training.muon_tensor_mode", "--muon-tp-mode");
    const auto set = [&](const char* key, const char* argument, const char* value) {
      if (r_.Has(argument)) r_.Set(key, value, argument);
    };
    set("training.muon_nesterov", "--muon-nesterov", "true");
    set("training.muon_split_qkv", "--muon-no-split-qkv", "false");
    set("training.muon_layout", "--no-use-layer-wise-param-layout", "false");
  }

  // Megatron-LM turns on the distributed optimizer. Gradients have the type of the parameters,
  // unless --megatron-fsdp-main-grads-dtype names another.
  void SetMegatronFsdp() {
    const char* use = r_.Has("--use-megatron-fsdp") ? "--use-megatron-fsdp" : "--use-custom-fsdp";
    r_.Set("training.distributed_optimizer", "true", use);
    r_.Set("megatron_fsdp.sharding",
           r_.Text("--data-parallel-sharding-strategy", "optim_grads_params"),
           r_.Has("--data-parallel-sharding-strategy") ? "--data-parallel-sharding-strategy" : use);
    const std::string type = r_.Text("--megatron-fsdp-main-grads-dtype", "auto");
    const std::string wire = r_.Text("--megatron-fsdp-grad-comm-dtype", "auto");
    r_.Set("training.gradient_type", type == "auto" ? r_.Has("--fp16") ? "fp16" : "bf16" : type,
           r_.Has("--megatron-fsdp-main-grads-dtype") ? "--megatron-fsdp-main-grads-dtype" : use);
    if (wire != "auto" && wire != (type == "auto" ? "bf16" : type)) {
      r_.Fail("--megatron-fsdp-grad-comm-dtype",
              fmt::format("gradients that are reduced in {} and kept in another type are not "
                          "generated; give both in one type",
                          wire));
    }
    if (r_.Has("--outer-dp-sharding-strategy")) {
      r_.Set("megatron_fsdp.outer_sharding", r_.Text("--outer-dp-sharding-strategy"),
             "--outer-dp-sharding-strategy");
    }
    for (const char* buffers :
         {"--fsdp-double-buffer", "--use-nccl-ub", "--megatron-fsdp-max-pool-double-buffer"}) {
      if (r_.Has(buffers)) r_.Set("megatron_fsdp.double_buffer", "true", buffers);
    }
    if (r_.Has("--suggested-communication-unit-size")) {
      r_.Set("megatron_fsdp.communication_elements", r_.Text("--suggested-communication-unit-size"),
             "--suggested-communication-unit-size");
    }
    if (r_.Has("--calculate-per-token-loss")) {
      r_.Set("megatron_fsdp.per_token_loss", "true", "--calculate-per-token-loss");
    }
  }

  // ":4096:8" is eight pieces of 4096 KiB, ":4096:2:16:8" two of those and eight of 16 KiB.
  void SetWorkspace() {
    const ScriptWord& word = line_.cublas_workspace;
    if (!word.unresolved.empty()) {
      return r_.FailAt(word, "CUBLAS_WORKSPACE_CONFIG: " + word.Unknown());
    }
    if (word.text.empty()) return;
    static const std::regex kForm("(:[0-9]{1,6}:[0-9]{1,6})+");
    if (!std::regex_match(word.text, kForm)) {
      return r_.FailAt(word, fmt::format("CUBLAS_WORKSPACE_CONFIG is '{}'; it must be pairs of a "
                                         "size in KiB and a number, such as :4096:8",
                                         word.text));
    }
    int64_t bytes = 0, size = 0, at = 0;
    std::istringstream numbers(word.text);
    numbers.ignore(1);
    for (std::string number; std::getline(numbers, number, ':'); ++at) {
      if (at % 2 == 0)
        size = std::stoll(number);
      else
        bytes += size * 1024 * std::stoll(number);
    }
    r_.Set("memory.cublas_workspace", fmt::format("{} B", bytes));
  }

  // Megatron-Core's own modules, in place of Transformer Engine's.
  bool has_own_modules() const {
    const bool own = r_.Text("--transformer-impl") == "local" || r_.Text("--spec") == "local" ||
                     r_.Text("--attention-backend") == "local";
    return own && !r_.Has("--use-flash-attn");
  }

  // Modules of Transformer Engine, or Megatron-Core's own (`local`), whose attention is unfused.
  void SetKernels() {
    CheckAttention();
    if (has_own_modules()) {
      r_.Set("training.kernels", "unfused");
      return r_.Set("training.host_launch", "megatron-core");
    }
    r_.Set("training.kernels", "fused");
    r_.Choose("--attention-backend", "training.attention_kernels",
              {{"auto", "auto"},
               {"flash", "flash"},
               {"fused", "cudnn"},
               {"unfused", "unfused"},
               {"local", "auto"}});  // with --use-flash-attn
    if (r_.Text("--attention-backend", "auto") == "auto") SetAttentionOfEngine();
    SetDeterminismOfEngine();
  }

  // --deterministic-mode says it for itself.
  void SetDeterminismOfEngine() {
    const char* name = "NVTE_ALLOW_NONDETERMINISTIC_ALGO";
    const bool fused = r_.Text("--attention-backend") != "unfused" && !has_sinks();
    if (r_.Has("--deterministic-mode") || !fused || !EngineHas(name, "0")) return;
    notes_.remarks.push_back(fmt::format("{}=0: {}", name, kDeterministicAttention));
  }

  // Returns whether a variable of Transformer Engine has the value. A value that the script does
  // not define is noted.
  bool EngineHas(const char* name, const char* value) {
    const auto found = line_.engine_settings.find(name);
    if (found == line_.engine_settings.end()) return false;
    if (found->second.empty()) {
      notes_.remarks.push_back(fmt::format("{}: the script does not define its value", name));
    }
    return found->second == value;
  }

  bool has_sinks() const { return r_.Text("--softmax-type", "vanilla") != "vanilla"; }

  // Transformer Engine takes cuDNN, then FlashAttention, then PyTorch's operators, unless a
  // variable is 0. With another softmax, FlashAttention falls away, and in deterministic runs cuDNN
  // (get_attention_backend of its attention/dot_product_attention/utils.py).
  void SetAttentionOfEngine() {
    const bool fixed = has_sinks() && (r_.Has("--deterministic-mode") ||
                                       EngineHas("NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0"));
    const bool flash_off = EngineHas("NVTE_FLASH_ATTN", "0");
    const bool cudnn = !EngineHas("NVTE_FUSED_ATTN", "0") && !fixed;
    if (cudnn && !flash_off) return;
    const bool flash = !flash_off && !has_sinks();
    r_.Set("training.attention_kernels", flash ? "flash" : cudnn ? "cudnn" : "unfused");
  }

  // What Megatron-LM or Transformer Engine refuses.
  void CheckAttention() {
    if (r_.Text("--attention-backend") == "flash" && has_sinks()) {
      r_.Fail("--attention-backend",
              fmt::format("flash excludes --softmax-type {}, which FlashAttention does not have",
                          r_.Text("--softmax-type")));
    }
    if (r_.Has("--deterministic-mode") && r_.Has("--cross-entropy-loss-fusion")) {
      r_.Fail("--deterministic-mode", "--deterministic-mode excludes --cross-entropy-loss-fusion");
    }
  }

  void SetGraphs() {
    const char* otherwise = r_.Has("--enable-cuda-graph")     ? "local"
                            : r_.Has("--external-cuda-graph") ? "transformer_engine"
                                                              : "none";
    const std::string implementation = r_.Text("--cuda-graph-impl", otherwise);
    if (implementation == "none") return;
    r_.Set("training.cuda_graphs", "layers", "--cuda-graph-impl");
    r_.Choose("--cuda-graph-impl", "training.cuda_graphs",
              {{"local", "layers"},
               {"transformer_engine", "layers"},
               {"full_iteration", "full_iteration"}});
    const char* argument =
        r_.Has("--cuda-graph-modules") ? "--cuda-graph-modules" : "--cuda-graph-scope";
    if (r_.Has(argument)) SetGraphModules(argument, implementation);
  }

  // The names of older releases, `full` and `full_iteration`, stand alone.
  void SetGraphModules(const char* argument, const std::string& implementation) {
    std::vector<std::string> modules;
    for (const ScriptWord& value : r_.Values(argument)) modules.push_back(value.text);
    if (implementation == "full_iteration") {
      return r_.Fail(argument, "--cuda-graph-impl full_iteration excludes parts of a layer");
    }
    if (modules == std::vector<std::string>{"full"}) return;
    if (modules == std::vector<std::string>{"full_iteration"}) {
      if (implementation == "transformer_engine") {
        return r_.Fail(argument, "full_iteration needs --cuda-graph-impl local or full_iteration");
      }
      return r_.Set("training.cuda_graphs", "full_iteration", argument);
    }
    // Megatron-Core's own graphs do not tell the two apart.
    const auto has = [&](const char* name) {
      return std::find(modules.begin(), modules.end(), name) != modules.end();
    };
    if (implementation == "local") {
      r_.Set("training.cuda_graph_impl", "local", "--cuda-graph-impl");
      if (has("moe_router") != has("moe_preprocess")) {
        modules.emplace_back(has("moe_router") ? "moe_preprocess" : "moe_router");
      }
    }
    const ScriptWord& place = r_.Place(argument);
    r_.tree.SetList("training.cuda_graphs", modules, place.location, place.source_line);
  }

  void SetPrecision() {
    const char* type = r_.Has("--bf16") ? "--bf16" : r_.Has("--fp16") ? "--fp16" : nullptr;
    if (type == nullptr)
      return r_.ReportMissing("--bf16 or --fp16", "training.precision",
                              "; training in fp32 is not generated");
    if (r_.Has("--bf16") && r_.Has("--fp16")) r_.Fail("--fp16", "--fp16 excludes --bf16");
    r_.Set("training.precision", r_.Has("--bf16") ? "bf16" : "fp16", type);
    SetFormat();
    if (r_.Has("--bf16") &&
        (r_.Has("--grad-reduce-in-bf16") || r_.Text("--main-grads-dtype") == "bf16")) {
      r_.Set("training.gradient_type", "bf16");
    }
    if (r_.Has("--fp16") && !r_.Has("--accumulate-allreduce-grads-in-fp32")) {
      r_.Set("training.gradient_type", "fp16", "--fp16");
    }
    // Dynamic loss scaling checks for overflow by itself.
    if (r_.Has("--no-check-for-nan-in-loss-and-grad") ||
        (r_.Has("--fp16") && !r_.Has("--loss-scale"))) {
      r_.Set("training.check_gradients", "false");
    }
  }

  // The format of linear layers. Without one, Megatron-LM does not use the arguments of formats.
  void SetFormat() {
    const bool fp8 = r_.Has("--fp8-format");
    if (!fp8 && !r_.Has("--fp4-format")) return;
    const char* format = fp8 ? "--fp8-format" : "--fp4-format";
    if (fp8 && r_.Has("--fp4-format"))
      r_.Fail("--fp4-format", "--fp4-format excludes --fp8-format");
    if (!r_.Has("--bf16")) r_.Fail(format, fmt::format("{} needs --bf16", format));
    r_.Set("training.precision", fp8 ? "fp8" : "nvfp4", format);
    if (fp8) {
      r_.Choose("--fp8-recipe", "training.fp8_recipe",
                {{"delayed", "delayed"},
                 {"tensorwise", "tensorwise"},
                 {"blockwise", "blockwise"},
                 {"mxfp8", "mxfp8"}});
      const bool delayed = r_.Text("--fp8-recipe", "delayed") == "delayed";
      if (delayed && EngineHas("NVTE_DP_AMAX_REDUCE_INTERVAL", "0")) {
        r_.Set("training.tp_only_amax_red", "true");
      }
    } else {
      r_.Choose("--fp4-recipe", "training.precision", {{"nvfp4", "nvfp4"}});
      SetFourBitsOfEngine();
    }
    if (!r_.Has("--first-last-layers-bf16")) return;
    const auto set = [&](const char* key, const char* argument) {
      r_.Set(key, r_.Has(argument) ? r_.Text(argument) : "1",
             r_.Has(argument) ? argument : "--first-last-layers-bf16");
    };
    set("training.bf16_layers_at_start", "--num-layers-at-start-in-bf16");
    set("training.bf16_layers_at_end", "--num-layers-at-end-in-bf16");
  }

  // The variables from which NVFP4BlockScaling of common/recipe/__init__.py takes its defaults.
  void SetFourBitsOfEngine() {
    const std::pair<const char*, const char*> read[] = {
        {"NVTE_NVFP4_DISABLE_RHT", "training.hadamard_transform"},
        {"NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING", "training.stochastic_rounding"},
        {"NVTE_NVFP4_DISABLE_2D_QUANTIZATION", "training.square_blocks"}};
    for (const auto& [name, key] : read) {
      if (EngineHas(name, "1")) r_.Set(key, "false");
    }
  }

  // "0:16 12B:1536": batches by the samples or tokens from which on they hold. The iterations after
  // the last step are predicted.
  void SetSteps() {
    const char* argument = "--step-batch-size-schedule";
    const std::vector<ScriptWord>& values = r_.Values(argument);
    const std::string last = values.empty() ? "" : values.back().text;
    const std::string batch = last.substr(last.find_last_of(": ") + 1);
    if (last.find(':') == std::string::npos || !WholeNumber(batch).has_value()) {
      return r_.Fail(argument,
                     fmt::format("'{}': expected START:BATCH, such as \"0:16 12B:1536\"", last));
    }
    if (r_.Has("--global-batch-size") && r_.Text("--global-batch-size") != batch) {
      return r_.Fail(argument,
                     fmt::format("its last batch is {}, but --global-batch-size is {}; remove one",
                                 batch, r_.Text("--global-batch-size")));
    }
    r_.Set("training.global_batch", batch, argument);
    notes_.remarks.push_back(
        fmt::format("{}: iterations after the last step are predicted, with a "
                    "global batch of {}",
                    argument, batch));
  }

  void SetBatch() {
    if (r_.Has("--step-batch-size-schedule")) return SetSteps();
    if (r_.Has("--global-batch-size")) return;
    const auto size = [&](const char* argument) { return r_.Number(argument).value_or(1); };
    const int64_t model = size("--tensor-model-parallel-size") *
                          size("--pipeline-model-parallel-size") * size("--context-parallel-size");
    if (line_.gpus == 0 || line_.gpus % model != 0) {
      return r_.ReportMissing("--global-batch-size", "training.global_batch",
                              ", and the launch command does not state the number of GPUs");
    }
    r_.Set("training.global_batch",
           std::to_string(size("--micro-batch-size") * line_.gpus / model));
  }

  void SetRecompute() {
    r_.Set("training.recompute", "none");
    r_.Choose("--recompute-granularity", "training.recompute",
              {{"full", "full"}, {"selective", "selective"}});
    if (r_.Has("--recompute-activations")) {
      r_.Set("training.recompute", "selective", "--recompute-activations");
    }
    if (!r_.Has("--recompute-granularity") && !r_.Has("--recompute-activations")) DropRecompute();
    if (r_.Text("--recompute-granularity") == "full" && !r_.Has("--recompute-method")) {
      r_.Fail("--recompute-granularity", "full needs --recompute-method uniform or block");
    }
    if (r_.Has("--recompute-modules") || r_.Has("--moe-layer-recompute")) SetModules();
  }

  // Megatron-LM reads them for a granularity only.
  void DropRecompute() {
    for (const auto& [argument, key] :
         {std::pair("--recompute-num-layers", "training.recompute_layers"),
          std::pair("--recompute-method", "training.recompute_method")}) {
      if (!r_.Has(argument)) continue;
      r_.tree.Unset(key);
      notes_.remarks.push_back(
          fmt::format("{} has no effect without --recompute-granularity", argument));
    }
  }

  void SetModules() {
    std::vector<std::string> modules;
    const char* argument =
        r_.Has("--recompute-modules") ? "--recompute-modules" : "--moe-layer-recompute";
    if (r_.Text("--recompute-granularity") == "full") {
      notes_.remarks.push_back(std::string(argument) +
                               " has no effect with --recompute-granularity full");
      return;
    }
    for (const ScriptWord& value : r_.Values(argument)) modules.push_back(value.text);
    if (r_.Has("--moe-layer-recompute")) {
      modules.emplace_back("moe");
      r_.Set("training.recompute", "selective", "--moe-layer-recompute");
    }
    // Transformer Engine fuses the norms of these models with products, so that Megatron-Core finds
    // no norm that it could repeat.
    if (!has_own_modules() && !r_.Has("--multi-latent-attention") && !r_.Has("--num-experts") &&
        std::erase(modules, "layernorm") > 0) {
      notes_.remarks.push_back(std::string(argument) +
                               " layernorm has no effect: Transformer Engine fuses the norms");
      if (modules.empty()) return r_.Set("training.recompute", "none", argument);
    }
    const ScriptWord& place = r_.Place(argument);
    r_.tree.SetList("training.recompute_modules", modules, place.location, place.source_line);
  }

  void SetModuleOffload() {
    if (!r_.Has("--offload-modules")) {
      return r_.Fail("--fine-grained-activation-offloading",
                     "--fine-grained-activation-offloading needs --offload-modules");
    }
    std::vector<std::string> modules;
    for (const ScriptWord& value : r_.Values("--offload-modules")) modules.push_back(value.text);
    // Megatron-Core offloads a norm that is a module of its own.
    if (!has_own_modules() && !r_.Has("--multi-latent-attention") &&
        std::erase(modules, "attn_norm") > 0) {
      notes_.remarks.emplace_back(
          "--offload-modules attn_norm has no effect: Transformer Engine fuses the norm with the "
          "projections");
      if (modules.empty()) return;
    }
    const ScriptWord& place = r_.Place("--offload-modules");
    r_.tree.SetList("training.offload_modules", modules, place.location, place.source_line);
    const char* minimum = "--min-offloaded-tensor-size";
    if (r_.Has(minimum)) r_.Set("training.offload_min_elements", r_.Text(minimum), minimum);
  }

  const LaunchLine& line_;
  MegatronReader& r_;
  ImportNotes& notes_;
};

}  // namespace

void ComputeTraining(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes) {
  ComputedTraining(line, reader, notes).Set();
}

}  // namespace drydock
