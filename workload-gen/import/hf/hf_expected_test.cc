#include "workload-gen/import/hf/hf_expected.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/yaml.h"
#include "workload-gen/import/hf/hf_config.h"
#include "workload-gen/import/hf/hf_families.h"

namespace drydock {
namespace {

struct Answer {
  std::string error;
  ImportNotes notes;
};

Answer Read(const std::string& type, const std::string& field, const std::string& value,
            bool strict = false) {
  const std::string config =
      R"({"model_type": ")" + type +
      R"(", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
      "num_key_value_heads": 8, "intermediate_size": 128, "vocab_size": 100, ")" +
      field + "\": " + value + "}";
  Answer answer;
  const Result<YamlNode> model = ModelFromHfConfig(config, "config.json", strict, &answer.notes);
  if (!model.ok()) answer.error = model.error().message();
  return answer;
}

bool Ignores(const Answer& answer, const std::string& field) {
  return std::count(answer.notes.ignored.begin(), answer.notes.ignored.end(), field) == 1;
}

TEST(HfExpected, OtherValuesAreErrorsThatSayWhatToWrite) {
  struct Case {
    const char* type;
    const char* field;
    const char* good;
    const char* bad;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"llama", "residual_in_fp32", "false", "true",
       "'residual_in_fp32' is true: residuals in fp32 are not generated; expected false"},
      {"llama", "gradient_checkpointing", "false", "true",
       "'gradient_checkpointing' is true: recomputation belongs to the training; remove it, and "
       "set training.recompute to full"},
      {"llama", "pretraining_tp", "1", "2",
       "'pretraining_tp' is 2: linear layers that are computed in slices are not generated; "
       "expected 0 or 1"},
      {"llama", "chunk_size_feed_forward", "0", "64",
       "'chunk_size_feed_forward' is 64: an MLP that takes its tokens in chunks is not generated; "
       "expected 0"},
      {"llama", "pruned_heads", "{}", R"({"0": [1]})",
       "'pruned_heads' is a map: layers that lack some heads of attention are not generated; "
       "expected null"},
      {"llama", "resid_pdrop", "0.0", "0.1",
       "'resid_pdrop' is 0.1: this family's dropout is not generated; remove it, and set "
       "model.dropout"},
      {"llama", "swiglu_limit", "0", "7.0",
       "'swiglu_limit' is 7.0: a bound of the MLP's activations; remove it, and set "
       "model.activation_clamp"},
      {"mixtral", "expert_capacity", "null", "64",
       "'expert_capacity' is 64: experts with a capacity; remove it, and set "
       "training.moe_capacity_factor"},
      {"mixtral", "moe_shared_expert_overlap", "false", "true",
       "'moe_shared_expert_overlap' is true: the overlap of shared experts belongs to the "
       "training; "
       "remove it, and set overlap.shared_expert to true"},
      {"mistral", "attention_bias", "false", "true",
       "'attention_bias' is true and contradicts the biases of attention; expected false"},
      {"mistral", "mlp_bias", "false", "true",
       "'mlp_bias' is true: biases of an MLP alone are not generated; expected false"},
      {"mixtral", "experts_per_token", "2", "4",
       "'experts_per_token' is 4 and contradicts num_experts_per_tok; expected 2"},
      {"gpt2", "embd_pdrop", "0.1", "0.2",
       "'embd_pdrop' is 0.2 and contradicts the dropout of the layers (model.dropout), which the "
       "embedding shares; expected 0.1"},
      {"phi3", "embd_pdrop", "0.0", "0.1",
       "'embd_pdrop' is 0.1 and contradicts the dropout of the layers (model.dropout), which the "
       "embedding shares; expected 0"},
      {"deepseek_v3", "use_mla", "true", "false",
       "'use_mla' is false and contradicts the attention of the family; expected true"},
      {"llama", "qk_layernorm", "false", "true",
       "'qk_layernorm' is true and contradicts the norms of queries and keys (model.qk_norm); "
       "expected false"},
      {"qwen3", "use_qk_norm", "true", "false",
       "'use_qk_norm' is false and contradicts the norms of queries and keys (model.qk_norm); "
       "expected true"},
      {"llama", "layer_types", R"(["full_attention", "full_attention"])",
       R"(["full_attention", "sliding_attention"])",
       "layers of 'sliding_attention' are not supported for a llama; the valid value is "
       "full_attention"},
  };
  for (const Case& each : cases) {
    const Answer good = Read(each.type, each.field, each.good);
    EXPECT_EQ(good.error.find(each.field), std::string::npos) << good.error;
    if (std::string(each.good) != "null" && std::string(each.type) != "gpt2") {
      EXPECT_TRUE(Ignores(good, each.field)) << each.type << " " << each.field;
    }
    const std::string error = Read(each.type, each.field, each.bad).error;
    EXPECT_NE(error.find(each.message), std::string::npos) << each.field << ": " << error;
  }
}

TEST(HfExpected, EveryFieldRefusesOrNotesAnUnexpectedValue) {
  for (const HfExpected& expected : HfExpectedFields()) {
    const bool flag = std::string(expected.values.empty() ? "" : expected.values.front()) == "true";
    const Answer answer = Read("llama", expected.field, flag ? "false" : "77");
    if (expected.effect == HfExpected::Effect::kLarge) {
      EXPECT_FALSE(answer.error.empty()) << expected.field;
    } else {
      EXPECT_EQ(answer.notes.unmodeled.size(), 1U) << expected.field;
      EXPECT_FALSE(Read("llama", expected.field, "77", /*strict=*/true).error.empty());
    }
  }
}

TEST(HfExpected, NoFieldIsBothComparedAndWithoutEffect) {
  for (const HfExpected& expected : HfExpectedFields()) {
    EXPECT_FALSE(HfHarmless().contains(expected.field)) << expected.field;
    EXPECT_FALSE(HfUnmodeled().contains(expected.field)) << expected.field;
  }
}

TEST(HfExpected, TheFormatOfStoredWeightsIsSaid) {
  const Answer answer = Read("llama", "quantization_config", R"({"quant_method": "fp8"})");
  EXPECT_EQ(answer.notes.remarks,
            std::vector<std::string>{
                "'quantization_config' is the format of the stored weights; training.precision and "
                "training.fp8_recipe give that of the training"});
}

TEST(HfExpected, TheActivationOfAFamilyThatHasItsOwn) {
  EXPECT_NE(Read("gpt_oss", "hidden_act", R"("relu")")
                .error.find("'relu' is not the activation of a gpt_oss; expected silu"),
            std::string::npos);
}

}  // namespace
}  // namespace drydock
