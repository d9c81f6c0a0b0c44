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

// The fields of a small model.
std::string FieldsOf(const std::string& type) {
  const std::string all = R"("num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 100)";
  if (type == "mamba2") return all + R"(, "num_heads": 8, "head_dim": 16, "state_size": 32)";
  if (type == "gpt2") return R"("n_layer": 2, "n_embd": 64, "n_head": 8, "vocab_size": 100)";
  if (type == "bert") return all + R"(, "num_attention_heads": 8, "intermediate_size": 128)";
  const std::string decoder = all + R"(, "num_attention_heads": 8, "num_key_value_heads": 8,
      "intermediate_size": 128)";
  if (type == "nemotron_h") {
    return decoder + R"(, "hybrid_override_pattern": "M*", "mamba_num_heads": 8,
        "mamba_head_dim": 16)";
  }
  if (type == "deepseek_v3") return decoder + R"(, "kv_lora_rank": 16, "n_routed_experts": 4)";
  return decoder;
}

Answer Read(const std::string& type, const std::string& field, const std::string& value,
            bool strict = false) {
  const std::string config = R"({"model_type": ")" + type + "\", " + FieldsOf(type) + ", \"" +
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
       "'layer_types' has 'sliding_attention', which is not supported for a llama; the valid value "
       "is full_attention"},
      {"bert", "is_decoder", "false", "true",
       "'is_decoder' is true and contradicts the attention of the family, which sees both sides; "
       "expected false"},
      {"llama", "use_bidirectional_attention", "false", "true",
       "'use_bidirectional_attention' is true, which a llama does not read; remove it, and set "
       "model.causal to false if attention sees both sides"},
      {"gemma3_text", "use_bidirectional_attention", "true", R"("vision")",
       "'use_bidirectional_attention' is vision; expected true or false"},
      {"llama", "cross_attention_hidden_size", "null", "64",
       "'cross_attention_hidden_size' is 64: attention to an encoder is not generated; expected "
       "null"},
      {"llama", "position_embedding_type", R"("rope")", R"("relative_key")",
       "'position_embedding_type' is relative_key, which is not generated for a llama; expected "
       "rope or rotary"},
      {"bert", "position_embedding_type", R"("absolute")", R"("relative_key")",
       "'position_embedding_type' is relative_key, which is not generated for a bert; expected "
       "absolute or learned_absolute"},
      {"nemotron_h", "position_embedding_type", R"("nope")", R"("rope")",
       "'position_embedding_type' is rope, which is not generated for a nemotron_h; expected nope "
       "or none"},
      {"mamba2", "expand", "2", "4",
       "'expand' makes a scan 256 wide; num_heads x head_dim are 128"},
      {"nemotron_h", "mamba_ssm_dtype", R"("float32")", R"("bfloat16")",
       "'mamba_ssm_dtype' is bfloat16: scans with states of another type are not generated; "
       "expected float32"},
      {"llama", "torch_dtype", R"("bfloat16")", R"("bfloat")",
       "'torch_dtype' is bfloat, which is not a type of weights; did you mean 'bfloat16'?; valid "
       "values are bfloat16, float16, float32, auto, float8_e4m3fn"},
      {"mixtral", "routing_function", R"("softmax")", R"("hash")",
       "'routing_function' is hash: another choice of experts is not generated; expected softmax "
       "or sigmoid"},
  };
  for (const Case& each : cases) {
    const Answer base = Read(each.type, "prefix", "null");
    const Answer good = Read(each.type, each.field, each.good);
    EXPECT_EQ(base.error, "") << each.type;
    EXPECT_EQ(good.error, "") << each.type << " " << each.field;
    const std::string bad = Read(each.type, each.field, each.bad).error;
    EXPECT_EQ(bad, each.message) << each.type << " " << each.field;
    EXPECT_NE(std::string(each.message).find("'" + std::string(each.field) + "'"),
              std::string::npos);
  }
}

TEST(HfExpected, ValuesThatAreGeneratedAreNamed) {
  for (const auto& [field, value] : std::vector<std::pair<const char*, const char*>>{
           {"residual_in_fp32", "false"},
           {"pretraining_tp", "1"},
           {"is_decoder", "true"},
           {"use_bidirectional_attention", "false"},
           {"cross_attention_hidden_size", "null"},
           {"position_embedding_type", R"("rope")"},
           {"torch_dtype", R"("bfloat16")"},
           {"max_window_layers", "1"},
           {"layer_types", R"(["full_attention", "full_attention"])"}}) {
    const Answer answer = Read("llama", field, value);
    EXPECT_EQ(answer.error, "") << field;
    EXPECT_TRUE(Ignores(answer, field)) << field;
    EXPECT_TRUE(answer.notes.remarks.empty()) << field;
  }
}

TEST(HfExpected, TheTypeOfStoredWeightsIsSaid) {
  EXPECT_EQ(Read("llama", "torch_dtype", R"("float16")").notes.remarks,
            std::vector<std::string>{"'torch_dtype' is float16, the type of the stored weights; "
                                     "training.precision gives that of the training"});
  EXPECT_EQ(Read("llama", "dtype", R"("float32")").notes.remarks.size(), 1U);
}

TEST(HfExpected, EveryFieldRefusesOrNotesAnUnexpectedValue) {
  for (const HfExpected& expected : HfExpectedFields()) {
    const bool flag = std::string(expected.values.empty() ? "" : expected.values.front()) == "true";
    const std::string name = "'" + std::string(expected.field) + "'";
    const Answer answer = Read("llama", expected.field, flag ? "false" : "77");
    if (expected.effect == HfExpected::Effect::kLarge) {
      EXPECT_NE(answer.error.find(name), std::string::npos) << expected.field << answer.error;
    } else {
      EXPECT_EQ(answer.error, "");
      ASSERT_EQ(answer.notes.unmodeled.size(), 1U) << expected.field;
      EXPECT_TRUE(answer.notes.unmodeled.front().starts_with(expected.field));
      const std::string error = Read("llama", expected.field, "77", /*strict=*/true).error;
      EXPECT_EQ(error, "not modeled: " + answer.notes.unmodeled.front());
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
