#include "workload-gen/import/megatron/megatron_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "workload-gen/import/megatron/computed_keys.h"
#include "workload-gen/import/megatron/megatron_reader.h"
#include "workload-gen/job/inference_scope.h"
#include "workload-gen/job/key.h"

namespace drydock {
namespace {

// With the keys of model.yaml that they give.
constexpr std::pair<const char*, const char*> kRequired[] = {
    {"--hidden-size", "model.hidden"},
    {"--num-attention-heads", "model.heads"},
    {"--max-position-embeddings", "model.max_positions"},
    {"--micro-batch-size", "training.micro_batch"},
};

class JobMaker {
 public:
  JobMaker(const LaunchLine& line, bool strict, MegatronReader* reader, ImportNotes* notes)
      : line_(line), strict_(strict), r_(*reader), notes_(*notes) {}

  void Make() {
    CheckScript();
    CheckRequired();
    SetDefaults();
    SetPlainKeys();
    ComputeModel(line_, &r_, &notes_);
    ComputeExperts(&r_);
    ComputePattern(line_, &r_, &notes_);
    ComputeTraining(line_, &r_, &notes_);
    NotePerTokenLoss();
    NoteFourBits();
    NoteFusedExperts();
    CheckForks();
    ComputeParallel(&r_, &notes_);
    ComputeOverlap(strict_, &r_, &notes_);
  }

 private:
  // Of what it changes, Megatron-FSDP's division of gradients alone is modeled.
  void NotePerTokenLoss() {
    const char* argument = "--calculate-per-token-loss";
    if (!r_.Has(argument)) return;
    const std::string what = fmt::format("{} (token counts that are reduced)", argument);
    if (strict_)
      r_.Fail(argument, "not modeled: " + what);
    else
      notes_.unmodeled.push_back(what);
  }

  // Whether Transformer Engine fuses them depends on its version and on the widths.
  void NoteFusedExperts() {
    const char* name = "NVTE_CUTEDSL_FUSED_GROUPED_MLP";
    const auto found = line_.engine_settings.find(name);
    if (found == line_.engine_settings.end() || found->second != "1") return;
    if (!r_.Has("--num-experts")) return;
    notes_.remarks.push_back(
        fmt::format("{}=1 is not read; where Transformer Engine fuses the experts, give --set "
                    "training.moe_fused_mlp=true --set training.moe_grouped_kernel=one",
                    name));
  }

  // Arguments of forks whose meaning depends on others.
  void CheckForks() {
    const char* window = "--sliding-window";
    if (r_.Has(window) && !r_.Has("--window-size")) {
      const std::optional<int64_t> width = r_.Number(window), tokens = r_.Number("--seq-length");
      if (width.has_value() && tokens.has_value() && *tokens <= *width) {
        notes_.ignored.emplace_back(window);
      } else if (width.has_value()) {
        r_.Fail(window,
                fmt::format("no model of Megatron-Core in Pai-Megatron-Patch reads {}; give "
                            "--window-size {},0 if attention has this window, and else "
                            "leave it out",
                            window, *width - 1));
      }
    }
    const char* preset = "--enable-gpt-oss";
    if (!r_.Has(preset)) return;
    if (r_.Text("--softmax-type") == "learnable" && r_.Has("--window-size")) {
      notes_.ignored.emplace_back(preset);
    } else {
      r_.Fail(preset,
              fmt::format("{} stands for other arguments; give them, such as --softmax-type "
                          "learnable --window-size 127,0 --window-attn-skip-freq 2",
                          preset));
    }
  }

  // Variants of NVFP4 that Transformer Engine reads from the environment.
  void NoteFourBits() {
    if (!r_.Has("--fp4-format")) return;
    struct Variant {
      const char* name;
      const char* off;
      const char* what;
    };
    for (const Variant& variant :
         {Variant{"NVTE_NVFP4_ROW_SCALED_ACTIVATION", "0", "scales of rows"},
          Variant{"NVTE_NVFP4_4OVER6", "none", "each block is quantized twice"}}) {
      const auto found = line_.engine_settings.find(variant.name);
      if (found == line_.engine_settings.end() || found->second == variant.off) continue;
      const std::string what = fmt::format("{} ({})", variant.name, variant.what);
      if (strict_)
        r_.FailAt(line_.script, "not modeled: " + what);
      else
        notes_.unmodeled.push_back(what);
    }
  }

  void CheckScript() {
    const std::string name = BaseName(line_.script.text);
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("inference") || has("generat") || has("server")) {
      r_.FailAt(line_.script, fmt::format("'{}': {}", name, kInferenceText));
    }
    for (const char* other :
         {"pretrain_t5", "pretrain_vision", "pretrain_retro", "pretrain_ict", "pretrain_vlm"}) {
      if (!name.starts_with(other)) continue;
      r_.FailAt(
          line_.script,
          fmt::format("'{}' is not supported; pretrain_gpt.py and pretrain_bert.py are", name));
    }
    if (name.starts_with("pretrain_bert")) {
      r_.Set("model.causal", "false");
      notes_.remarks.push_back(
          "BERT's token types, pooler and dense layer of the head are not generated");
    }
    if (!line_.empty_variables.empty()) {
      notes_.remarks.push_back(fmt::format(
          "${}: empty, as the script assigns {} on another path only; --variable "
          "NAME=VALUE gives another value",
          Join(line_.empty_variables, ", $"), line_.empty_variables.size() == 1 ? "it" : "them"));
    }
    if (!line_.nccl_settings.empty()) {
      notes_.remarks.push_back(
          fmt::format("{}: ignored; NCCL settings come from cluster.topo (nccl.settings)",
                      Join(line_.nccl_settings)));
    }
  }

  void CheckRequired() {
    if (!r_.Has("--num-layers") && !r_.Has("--encoder-num-layers") && *HybridArgument(r_) == '\0')
      r_.ReportMissing("--num-layers", "model.layers");
    if (!r_.Has("--seq-length") && !r_.Has("--encoder-seq-length"))
      r_.ReportMissing("--seq-length", "model.sequence");
    for (const auto& [argument, key] : kRequired) {
      if (!r_.Has(argument)) r_.ReportMissing(argument, key);
    }
  }

  // Sets the defaults of Megatron that differ from those of model.yaml.
  void SetDefaults() {
    r_.Set("model.architecture", "gpt");
    r_.Set("model.dropout", "0.1");
    r_.Set("model.attention_dropout", "0.1");
    r_.Set("training.framework", FrameworkName(FrameworkKind::kMegatron));
    r_.Set("training.optimizer", "adam");
    r_.Set("parallel.tensor", "1");
    r_.Set("parallel.pipeline", "1");
  }

  // Sets the keys whose value an argument gives without a computation.
  void SetPlainKeys() {
    for (const Section& section : Sections()) {
      for (const Key& key : section.keys) {
        for (const MegatronSource& source : key.megatron) SetPlainKey(section, key, source);
      }
    }
  }

  void SetPlainKey(const Section& section, const Key& key, const MegatronSource& source) {
    const bool copied = source.use == MegatronSource::Use::kCopied;
    if (source.use == MegatronSource::Use::kComputed || !r_.Has(source.argument)) return;
    r_.Set(section.name + "." + key.name, copied ? r_.Text(source.argument) : source.value,
           source.argument);
  }

  const LaunchLine& line_;
  const bool strict_;
  MegatronReader& r_;
  ImportNotes& notes_;
};

// True if a value of the training command depends on arguments of the script that nobody gives.
bool NeedsArguments(const LaunchLine& line) {
  static const std::regex kArgument("\\$[0-9]");
  return !line.missing_arguments.empty() &&
         std::any_of(line.arguments.begin(), line.arguments.end(), [](const ScriptWord& word) {
           return !word.unresolved.empty() && (std::regex_search(word.unresolved, kArgument) ||
                                               std::regex_search(word.why, kArgument));
         });
}

}  // namespace

Result<YamlNode> MegatronJob(const LaunchLine& line, const std::string& file_name,
                             const ArgumentRules& rules, ImportNotes* notes) {
  Diagnostics diagnostics;
  GivenArguments given = SortMegatronArguments(line.arguments, rules, notes, &diagnostics);
  // Without a value, more would be said to be missing.
  const auto count = std::count_if(line.arguments.begin(), line.arguments.end(),
                                   [](const ScriptWord& word) { return !word.unresolved.empty(); });
  if (count > 0 && !diagnostics.ok() && NeedsArguments(line)) {
    return Error(
        fmt::format("the script takes {} from its caller; give them with --variable '@=VALUE ...', "
                    "all in order, or one by one with --variable N=VALUE",
                    Join(line.missing_arguments)),
        {file_name, 0, 0});
  }
  if (count > 0) RETURN_IF_ERROR(diagnostics.ToStatus());
  MegatronReader reader(file_name, std::move(given), rules.set_keys, line.keys, &diagnostics);
  JobMaker(line, rules.strict, &reader, notes).Make();
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return reader.tree.root();
}

Result<YamlNode> MegatronJob(const std::string& text, const std::string& file_name,
                             const std::map<std::string, std::string>& variables,
                             const ArgumentRules& rules, ImportNotes* notes) {
  ASSIGN_OR_RETURN(const LaunchLine line, ReadLaunchScript(text, file_name, variables));
  return MegatronJob(line, file_name, rules, notes);
}

}  // namespace drydock
