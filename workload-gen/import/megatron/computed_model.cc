// The keys of the section `model`, except those of experts.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/scan.h"
#include "workload-gen/import/megatron/computed_keys.h"
#include "workload-gen/import/megatron/vocabulary_table.h"
#include "workload-gen/import/tree/layer_pattern.h"
#include "workload-gen/job/model_shape.h"

namespace drydock {
namespace {

class ComputedModel {
 public:
  ComputedModel(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes)
      : line_(line), r_(*reader), notes_(*notes) {}

  void Set() {
    SetPositions();
    SetActivation();
    r_.Choose("--normalization", "model.norm",
              {{"LayerNorm", "layernorm"}, {"RMSNorm", "rmsnorm"}});
    if (r_.Has("--group-query-attention") && !r_.Has("--multi-latent-attention")) {
      r_.Set("model.kv_heads", r_.Text("--num-query-groups", "1"),
             r_.Has("--num-query-groups") ? "--num-query-groups" : "--group-query-attention");
    }
    SetVocabulary();
    SetLatent();
    SetWindow();
  }

 private:
  void SetPositions() {
    if (r_.Has("--use-rotary-position-embeddings")) {
      r_.Set("model.positions", "rotary", "--use-rotary-position-embeddings");
    } else {
      r_.Choose("--position-embedding-type", "model.positions",
                {{"learned_absolute", "learned"},
                 {"rope", "rotary"},
                 {"mrope", "rotary"},
                 {"yarn", "yarn"},
                 {"none", "none"}});
    }
    const std::string type = r_.Text("--position-embedding-type", "learned_absolute");
    const bool learned = type == "learned_absolute" && !r_.Has("--use-rotary-position-embeddings");
    if (learned && r_.Has("--no-position-embedding")) {
      r_.Fail("--no-position-embedding", "needs --position-embedding-type rope or none");
    }
    if (learned && r_.Has("--max-position-embeddings")) {
      r_.Set("model.max_positions", r_.Text("--max-position-embeddings"),
             "--max-position-embeddings");
    }
  }

  // The default width of a gated MLP is two thirds of 4 x hidden, rounded down to a multiple of 64.
  void SetActivation() {
    const char* gated = r_.Has("--swiglu")        ? "--swiglu"
                        : r_.Has("--quick-geglu") ? "--quick-geglu"
                                                  : "";
    if (r_.Has("--swiglu")) r_.Set("model.activation", "swiglu", "--swiglu");
    if (r_.Has("--quick-geglu")) r_.Set("model.activation", "geglu", "--quick-geglu");
    if (r_.Has("--squared-relu")) {
      if (*gated != '\0') r_.Fail("--squared-relu", fmt::format("excludes {}", gated));
      r_.Set("model.activation", "squared-relu", "--squared-relu");
    }
    const std::optional<int64_t> hidden = r_.Number("--hidden-size");
    if (r_.Has("--ffn-hidden-size") || !hidden.has_value()) return;
    const int64_t ffn = r_.Has("--swiglu") ? 4 * *hidden * 2 / 3 / 64 * 64 : 4 * *hidden;
    r_.Set("model.ffn", std::to_string(ffn), "--hidden-size");
  }

  // NullTokenizer adds a token to --vocab-size.
  void SetVocabulary() {
    const std::string tokenizer = r_.Text("--tokenizer-type");
    if (r_.Has("--padded-vocab-size")) {
      r_.Set("model.vocab", r_.Text("--padded-vocab-size"), "--padded-vocab-size");
      r_.Set("model.vocab_multiple", "1", "--padded-vocab-size");
    } else if (r_.Has("--vocab-size")) {
      const std::optional<int64_t> size = r_.Number("--vocab-size");
      const bool more = tokenizer == "NullTokenizer" && size.has_value();
      r_.Set("model.vocab", more ? std::to_string(*size + 1) : r_.Text("--vocab-size"),
             "--vocab-size");
    } else if (!r_.IsSet("model.vocab")) {
      LookUpVocabulary(tokenizer);
    }
  }

  // Takes the size from configs/vocabularies.yaml.
  void LookUpVocabulary(std::string tokenizer) {
    const Result<VocabularyTable> table = LoadVocabularies();
    if (!table.ok()) return r_.Report(table.error());
    if (r_.Has("--patch-tokenizer-type")) return SetPatchVocabulary(*table);
    if (tokenizer == "NullTokenizer") return r_.ReportMissing("--vocab-size", "model.vocab");
    const bool stated = r_.Has("--tokenizer-type");
    if (!stated) tokenizer = table->TypeOfScript(line_.script.text);
    if (const std::optional<Vocabulary> found = table->OfType(tokenizer)) {
      if (!stated) return Assume(*found, fmt::format("{}, the default", tokenizer));
      return r_.Set("model.vocab", std::to_string(found->tokens), "--tokenizer-type");
    }
    const std::string model = r_.Text("--tokenizer-model");
    if (const std::optional<Vocabulary> found = table->OfModel(model)) {
      return Assume(*found, model);
    }
    Assume(table->otherwise(), fmt::format("{}, whose size is not known",
                                           !model.empty()      ? model
                                           : tokenizer.empty() ? "a tokenizer that is not named"
                                                               : tokenizer));
  }

  void SetPatchVocabulary(const VocabularyTable& table) {
    const std::string type = r_.Text("--patch-tokenizer-type");
    const int64_t extra = WholeNumber(r_.Text("--extra-vocab-size", "0")).value_or(0);
    const std::optional<Vocabulary> found =
        table.OfPatchType(type, r_.Has("--extra-vocab-size") ? extra : -1);
    if (!found.has_value() || extra < 0 || extra > kMaxDimension) {
      return Assume(table.otherwise(), fmt::format("{}, whose size is not known", type));
    }
    r_.Set("model.vocab", std::to_string(found->tokens + extra), "--patch-tokenizer-type");
    r_.Set("model.vocab_multiple", "1", "--patch-tokenizer-type");
  }

  void Assume(const Vocabulary& vocabulary, const std::string& of) {
    r_.tree.Assume({"model.vocab", std::to_string(vocabulary.tokens),
                    fmt::format("of {} ({})", of, vocabulary.source)},
                   &notes_);
  }

  void SetLatent() {
    if (!r_.Has("--multi-latent-attention")) return;
    const auto set = [&](const char* key, const char* argument, const char* otherwise) {
      r_.Set(key, r_.Text(argument, otherwise),
             r_.Has(argument) ? argument : "--multi-latent-attention");
    };
    set("model.kv_lora_rank", "--kv-lora-rank", "32");
    set("model.qk_nope_dim", "--qk-head-dim", "128");
    set("model.qk_rope_dim", "--qk-pos-emb-head-dim", "64");
    set("model.value_dim", "--v-head-dim", "128");
    if (r_.Has("--q-lora-rank")) set("model.q_lora_rank", "--q-lora-rank", "");
    // --qk-layernorm of Megatron-LM normalizes the latent widths; model.yaml always does.
    r_.tree.Set("model.qk_norm", "false");
    r_.tree.Unset("model.head_dim");
  }

  // "(127,0)": a query sees its own key and the 127 keys before it.
  void SetWindow() {
    if (!r_.Has("--window-size")) return;
    std::string text = r_.Text("--window-size");
    std::erase_if(text, [](char c) { return c == '(' || c == ')' || c == ' '; });
    const std::optional<int64_t> left = WholeNumber(text.substr(0, text.find(',')));
    const size_t comma = text.find(',');
    const bool right = comma != std::string::npos && text.substr(comma + 1) != "0";
    if (!left.has_value() || *left < 0 || *left > kMaxDimension || right) {
      return r_.Fail("--window-size", fmt::format("'{}': expected (number of keys before, 0)",
                                                  r_.Text("--window-size")));
    }
    r_.Set("model.window", std::to_string(*left + 1), "--window-size");
    if (r_.Has("--window-attn-skip-freq")) SetWindowPattern();
  }

  void SetWindowPattern() {
    const char* argument = "--window-attn-skip-freq";
    const std::string text = r_.Text(argument);
    std::optional<WindowPattern> pattern;
    if (text.find('[') != std::string::npos) {
      const std::optional<std::vector<int>> list = ExpandPattern(text, kMaxLayers);
      if (list.has_value()) pattern = AsWindowPattern(*list);
      const std::optional<int64_t> layers = r_.Number("--num-layers");
      if (list.has_value() && layers.has_value() && *layers != static_cast<int64_t>(list->size())) {
        return r_.Fail(argument, fmt::format("'{}' is a list of {} layers; the model has {}", text,
                                             list->size(), *layers));
      }
    } else if (const std::optional<int64_t> number = r_.Number(argument)) {
      pattern = WindowPattern{0, static_cast<int>(std::min<int64_t>(*number, kMaxDimension))};
    }
    if (!pattern.has_value()) {
      return r_.Fail(argument,
                     fmt::format("'{}': expected a number, or a list with n layers without a "
                                 "window at the start, then every n-th",
                                 text));
    }
    SetWindows(*pattern, argument);
  }

  // If no layer has a window, the model has none.
  void SetWindows(const WindowPattern& pattern, const char* argument) {
    const int64_t layers = r_.Number("--num-layers").value_or(kMaxDimension);
    if (pattern.every == 1 || pattern.first >= layers) return r_.tree.Unset("model.window");
    if (pattern.every > 0) {
      r_.Set("model.full_attention_every", std::to_string(pattern.every), argument);
    }
    if (pattern.first > 0) {
      r_.Set("model.full_attention_first", std::to_string(pattern.first), argument);
    }
  }

  const LaunchLine& line_;
  MegatronReader& r_;
  ImportNotes& notes_;
};

}  // namespace

void ComputeModel(const LaunchLine& line, MegatronReader* reader, ImportNotes* notes) {
  ComputedModel(line, reader, notes).Set();
}

}  // namespace drydock
