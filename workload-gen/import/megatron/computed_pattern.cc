// The keys of layers that are not all attention and MLP: hybrid patterns and gated delta nets.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/files.h"
#include "workload-gen/import/megatron/computed_keys.h"
#include "workload-gen/job/pipeline_layout.h"

namespace drydock {
namespace {

constexpr const char* kPattern = "--hybrid-layer-pattern";
constexpr const char* kOverride = "--hybrid-override-pattern";

// "MM|M*/*E/*E": stages of a pipeline, then the layers of each depth of multi-token prediction.
struct HybridText {
  std::vector<std::string> stages;
  std::vector<std::string> depths;
};

std::vector<std::string> Split(std::string_view text, char at) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

HybridText ReadHybrid(const std::string& text) {
  std::vector<std::string> depths = Split(text, '/');
  HybridText hybrid{Split(depths.front(), '|'), {depths.begin() + 1, depths.end()}};
  std::erase(hybrid.depths, "");
  return hybrid;
}

std::string Joined(const std::vector<std::string>& stages) {
  std::string text;
  for (const std::string& stage : stages) text += stage;
  return text;
}

class ComputedPattern {
 public:
  ComputedPattern(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes)
      : line_(line), r_(*reader), notes_(*notes) {}

  void Set() {
    CheckSpec();
    SetSoftmax();
    SetDeltaNet();
    const char* argument = HybridArgument(r_);
    CheckRatios(argument);
    if (*argument == '\0') return DropMamba();
    if (BaseName(line_.script.text).starts_with("pretrain_qwen3_next")) return SetQwen(argument);
    const HybridText hybrid = ReadHybrid(r_.Text(argument));
    r_.Set("model.layer_pattern", Joined(hybrid.stages), argument);
    SetLayers(static_cast<int64_t>(Joined(hybrid.stages).size()), argument);
    SetDepths(hybrid, argument);
    if (hybrid.stages.size() > 1) SetStages(hybrid, argument);
  }

 private:
  // Megatron-Core's own specifications of hybrid models state no more than the pattern.
  void CheckSpec() {
    if (!r_.Has("--spec")) return;
    const std::string module = r_.Text("--spec");
    if (module == "te" || module == "local") return;
    const bool hybrid =
        module.ends_with("hybrid_layer_specs") || module.ends_with("mamba_layer_specs");
    if (hybrid && *HybridArgument(r_) != '\0') return;
    if (hybrid) return r_.Fail("--spec", fmt::format("needs {}", kPattern));
    r_.Fail("--spec", "this kind of model is not generated; 'local' and 'te' are");
  }

  // A pattern says itself which layers have attention.
  void CheckRatios(const char* argument) {
    for (const char* ratio : {"--hybrid-attention-ratio", "--hybrid-mlp-ratio"}) {
      if (!r_.Has(ratio)) continue;
      if (*argument != '\0') {
        notes_.ignored.emplace_back(ratio);
      } else if (r_.IsPositive(r_.Place(ratio))) {
        r_.Fail(ratio, fmt::format("{} does not say which layers have attention; give {}", ratio,
                                   kPattern));
      }
    }
  }

  // Qwen3-Next of Pai-Megatron-Patch writes a layer as two symbols: M for a gated delta net or *
  // for attention, then - for experts. Its specification of layers takes the widths of the delta
  // net from its own defaults, not from arguments of Mamba-2.
  void SetQwen(const char* argument) {
    const std::string text = r_.Text(argument);
    size_t every = text.find('*') / 2 + 1;
    bool regular = text.size() % 2 == 0 && every > 1 && every <= text.size() / 2;
    for (size_t i = 0; i < text.size() && regular; ++i) {
      const bool attends = i % 2 == 0 && (i / 2 + 1) % every == 0;
      regular = text[i] == (i % 2 == 1 ? '-' : attends ? '*' : 'M');
    }
    if (!regular) {
      return r_.Fail(argument,
                     "for Qwen3-Next, a pattern such as M-M-M-*-M-M-M-*- is generated: "
                     "every n-th layer has attention, and all have experts");
    }
    for (const char* split :
         {"--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers",
          "--pipeline-model-parallel-layout", "--num-layers-per-virtual-pipeline-stage"}) {
      if (r_.Has(split)) {
        r_.Fail(split, fmt::format("{} counts the symbols of the pattern, two for each layer; give "
                                   "parallel.layout with --set",
                                   split));
      }
    }
    SetLayers(static_cast<int64_t>(text.size()), argument);
    DropMamba();
    r_.Set("model.layers", std::to_string(text.size() / 2), argument);
    r_.Set("model.delta_attention_every", std::to_string(every), argument);
    const std::pair<const char*, const char*> sizes[] = {
        {"delta_key_heads", "16"},  {"delta_value_heads", "32"}, {"delta_key_dim", "128"},
        {"delta_value_dim", "128"}, {"attention_gate", "true"},  {"shared_expert_gate", "true"}};
    for (const auto& [key, value] : sizes) {
      r_.Set(std::string("model.") + key, value, argument);
    }
    notes_.remarks.push_back(fmt::format("{}: two symbols are a layer of Qwen3-Next: {} layers",
                                         argument, text.size() / 2));
  }

  // Without a pattern, Megatron-LM has no Mamba-2 layers.
  void DropMamba() {
    for (const char* key : {"mamba_heads", "mamba_head_dim", "mamba_state", "mamba_groups"}) {
      r_.tree.Unset(std::string("model.") + key);
    }
    if (r_.Has("--is-hybrid-model") && *HybridArgument(r_) == '\0') {
      r_.Fail("--is-hybrid-model", fmt::format("needs {}", kPattern));
    }
  }

  void SetLayers(int64_t layers, const char* argument) {
    const std::optional<int64_t> stated = r_.Number("--num-layers");
    if (!r_.Has("--num-layers")) r_.Set("model.layers", std::to_string(layers), argument);
    if (stated.has_value() && *stated != layers) {
      r_.Fail(argument, fmt::format("'{}' has {} layers; --num-layers says {}", r_.Text(argument),
                                    layers, *stated));
    }
  }

  // A depth is an ordinary layer: attention, then experts or an MLP.
  void SetDepths(const HybridText& hybrid, const char* argument) {
    const bool experts = Joined(hybrid.stages).find('E') != std::string::npos;
    const char* expected = experts ? "*E" : "*-";
    for (const std::string& depth : hybrid.depths) {
      if (depth == expected) continue;
      return r_.Fail(argument, fmt::format("a depth '{}' of multi-token prediction is not "
                                           "generated; '{}' is",
                                           depth, expected));
    }
    const auto depths = static_cast<int64_t>(hybrid.depths.size());
    const std::optional<int64_t> stated = r_.Number("--mtp-num-layers");
    if (depths == 0) return;
    if (stated.has_value() && *stated != depths) {
      r_.Fail(argument, fmt::format("'{}' has {} depths of multi-token prediction; "
                                    "--mtp-num-layers says {}",
                                    r_.Text(argument), depths, *stated));
    }
    r_.Set("model.mtp_layers", std::to_string(depths), argument);
  }

  // A pattern with stages is a layout of the pipeline.
  void SetStages(const HybridText& hybrid, const char* argument) {
    if (r_.Has("--pipeline-model-parallel-layout")) {
      return r_.Fail("--pipeline-model-parallel-layout", fmt::format("excludes | in {}", argument));
    }
    LayoutStages stages;
    for (const std::string& stage : hybrid.stages) stages.emplace_back(stage.size(), 't');
    stages.front().insert(0, "E");
    stages.back() += std::string(hybrid.depths.size(), 'm') + "L";
    r_.Set("parallel.layout", ToLayoutText(stages), argument);
    r_.tree.Unset("parallel.virtual_pipeline");
    const int64_t pipeline = r_.Number("--pipeline-model-parallel-size").value_or(1);
    const bool interleaved = static_cast<int64_t>(stages.size()) > pipeline;
    if (interleaved && !r_.Has("--no-overlap-p2p-communication")) {
      r_.Set("overlap.p2p", "true");
    }
  }

  void SetSoftmax() {
    r_.Choose("--softmax-type", "model.attention_sinks",
              {{"vanilla", "false"}, {"off-by-one", "false"}, {"learnable", "true"}});
  }

  void SetDeltaNet() {
    const char* variant = "--experimental-attention-variant";
    const std::string name = r_.Text(variant);
    const bool delta = name == "gated_delta_net" || name == "gdn";
    if (name == "dsa") SetSparseAttention(variant);
    if (r_.Has(variant) && !delta && name != "dsa") {
      return r_.Fail(variant,
                     fmt::format("'{}' is not generated; dsa, gdn and gated_delta_net are", name));
    }
    if (!delta) return DropDeltaNet();
    const char* every = "--linear-attention-freq";
    if (!r_.Number(every).has_value()) {
      return r_.Fail(r_.Has(every) ? every : variant,
                     fmt::format("{} must be a number n: every n-th layer has attention", every));
    }
    r_.Set("model.delta_attention_every", r_.Text(every), every);
    if (!r_.Has("--linear-num-key-heads")) r_.Set("model.delta_key_heads", "16", variant);
    if (!r_.Has("--linear-num-value-heads")) r_.Set("model.delta_value_heads", "32", variant);
  }

  // Without a coefficient, Megatron-LM does not train the indexer.
  void SetSparseAttention(const char* variant) {
    if (!r_.Has("--multi-latent-attention")) {
      return r_.Fail(variant, "'dsa' needs --multi-latent-attention");
    }
    const std::pair<const char*, const char*> sizes[] = {
        {"--dsa-indexer-topk", "model.index_topk"},
        {"--dsa-indexer-n-heads", "model.index_heads"},
        {"--dsa-indexer-head-dim", "model.index_head_dim"}};
    for (const auto& [argument, key] : sizes) {
      if (!r_.Has(argument)) return r_.Fail(variant, fmt::format("'dsa' needs {}", argument));
      r_.Set(key, r_.Text(argument), argument);
    }
    const char* coefficient = "--dsa-indexer-loss-coeff";
    const char* picked = "--dsa-indexer-use-sparse-loss";
    const bool learns = r_.Has(coefficient) && r_.IsPositive(r_.Place(coefficient));
    r_.Set("model.index_loss",
           !learns          ? "none"
           : r_.Has(picked) ? "sparse"
                            : "dense",
           r_.Has(coefficient) ? coefficient : variant);
    r_.Choose("--dsa-kernel-backend", "training.sparse_attention_kernels",
              {{"none", "unfused"}, {"tilelang", "tilelang"}, {"cudnn", "cudnn"}});
  }

  // Without the variant, Megatron-LM ignores its arguments.
  void DropDeltaNet() {
    for (const char* key :
         {"delta_key_heads", "delta_value_heads", "delta_key_dim", "delta_value_dim"}) {
      r_.tree.Unset(std::string("model.") + key);
    }
  }

  const LaunchLine& line_;
  MegatronReader& r_;
  ImportNotes& notes_;
};

}  // namespace

const char* HybridArgument(const MegatronReader& reader) {
  for (const char* argument : {kPattern, kOverride}) {
    if (reader.Has(argument)) return argument;
  }
  return "";
}

void ComputePattern(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes) {
  ComputedPattern(line, reader, notes).Set();
}

}  // namespace drydock
