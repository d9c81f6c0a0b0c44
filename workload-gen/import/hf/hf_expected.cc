#include "workload-gen/import/hf/hf_expected.h"

#include <fmt/format.h>

#include "core/base/spelling.h"

namespace drydock {
namespace {

using Effect = HfExpected::Effect;

// Families that read a field of these, or refuse it as a change of their shape, come first.
const std::vector<HfExpected>& Table() {
  static const std::vector<HfExpected> table = {
      {"activation_dropout", {"0"}, "dropout inside an MLP is not generated"},
      {"add_cross_attention", {"false"}, "attention to an encoder is not generated"},
      {"alibi", {"false"}, "positions as biases of attention are not generated"},
      {"attention_value_scale", {"1"}, "a kernel that scales the values", "", Effect::kSmall},
      {"chunk_size",
       {"128"},
       "the chunks of a scan; those of 128 tokens are generated",
       "",
       Effect::kSmall},
      {"chunk_size_feed_forward", {"0"}, "an MLP that takes its tokens in chunks is not generated"},
      {"clip_qkv", {}, "kernels that bound queries, keys and values", "", Effect::kSmall},
      {"cross_attention_hidden_size", {}, "attention to an encoder is not generated"},
      {"embedding_dropout", {"0"}, "dropout of the embedding alone is not generated"},
      {"expert_capacity",
       {},
       "experts with a capacity",
       "remove it, and set training.moe_capacity_factor"},
      {"ffn_dropout", {"0"}, "dropout inside an MLP is not generated"},
      {"full_attn_mod", {"1"}, "layers whose attention differs by their number are not generated"},
      {"gradient_checkpointing",
       {"false"},
       "recomputation belongs to the training",
       "remove it, and set training.recompute to full"},
      {"hidden_dropout",
       {"0"},
       "this family's dropout is not generated",
       "remove it, and set model.dropout"},
      {"index_share_for_mtp_iteration",
       {"false"},
       "layers of multi-token prediction that share the picks of an indexer",
       "",
       Effect::kSmall},
      {"index_topk_pattern", {}, "indexers in some layers only are not generated"},
      {"is_encoder_decoder", {"false"}, "models of an encoder and a decoder are not generated"},
      {"jitter_noise", {"0"}, "a kernel of random factors before the router", "", Effect::kSmall},
      {"layerdrop", {"0"}, "layers that are left out at random are not generated"},
      {"lm_head_bias", {"false"}, "a bias of the output layer is not generated"},
      {"mamba_chunk_size",
       {"128"},
       "the chunks of a scan; those of 128 tokens are generated",
       "",
       Effect::kSmall},
      {"mamba_conv_bias", {"true"}, "convolutions without a bias are not generated"},
      {"mamba_hidden_act", {"silu", "swish"}, "another activation of a scan is not generated"},
      {"mamba_proj_bias", {"false"}, "biases of a scan's linear layers are not generated"},
      {"mamba_ssm_dtype", {"float32"}, "scans with states of another type are not generated"},
      {"mlp_bias", {"false"}, "biases of an MLP alone are not generated"},
      {"mlp_dropout", {"0"}, "dropout inside an MLP is not generated"},
      {"moe_router_dtype",
       {"bfloat16", "bf16"},
       "the router's kernels in another type",
       "",
       Effect::kSmall},
      {"moe_shared_expert_overlap",
       {"false"},
       "the overlap of shared experts belongs to the training",
       "remove it, and set overlap.shared_expert to true"},
      {"normalization_function", {"rmsnorm"}, "another norm than RMSNorm is not generated"},
      {"parallel_attn", {"false"}, "attention and MLP side by side are not generated"},
      {"pretraining_tp", {"0", "1"}, "linear layers that are computed in slices are not generated"},
      {"pruned_heads", {}, "layers that lack some heads of attention are not generated"},
      {"resid_pdrop",
       {"0"},
       "this family's dropout is not generated",
       "remove it, and set model.dropout"},
      {"residual_dropout",
       {"0"},
       "this family's dropout is not generated",
       "remove it, and set model.dropout"},
      {"residual_in_fp32", {"false"}, "residuals in fp32 are not generated"},
      {"router_jitter_noise",
       {"0"},
       "a kernel of random factors before the router",
       "",
       Effect::kSmall},
      {"rms_norm", {"true"}, "scans without a gated norm are not generated"},
      {"routing_function", {"softmax", "sigmoid"}, "another choice of experts is not generated"},
      {"swiglu_limit",
       {"0"},
       "a bound of the MLP's activations",
       "remove it, and set model.activation_clamp"},
      {"tie_encoder_decoder", {"false"}, "models of an encoder and a decoder are not generated"},
      {"tie_last_hidden_states", {"false"}, "weights that layers share are not generated"},
      {"use_bias", {"false"}, "biases of this family are not generated"},
      {"use_conv_bias", {"true"}, "convolutions without a bias are not generated"},
      {"use_parallel_residual", {"false"}, "attention and MLP side by side are not generated"},
  };
  return table;
}

}  // namespace

const std::vector<HfExpected>& HfExpectedFields() { return Table(); }

const HfExpected* FindHfExpected(const std::string& field) {
  for (const HfExpected& expected : Table()) {
    if (field == expected.field) return &expected;
  }
  return nullptr;
}

bool IsExpected(const HfExpected& expected, const YamlNode& value) {
  if (value.kind == YamlNode::Kind::kNull) return true;
  if (value.kind == YamlNode::Kind::kList) return value.items.empty();
  if (value.kind == YamlNode::Kind::kMap) return value.entries.empty();
  const Result<double> number = AsNumber(value);
  for (const char* text : expected.values) {
    if (value.scalar == text) return true;
    YamlNode wanted = value;
    wanted.scalar = text;
    const Result<double> wanted_number = AsNumber(wanted);
    if (number.ok() && wanted_number.ok() && *number == *wanted_number) return true;
  }
  return false;
}

std::string UnexpectedMessage(const HfExpected& expected, const YamlNode& value) {
  const std::string is = value.kind == YamlNode::Kind::kScalar ? value.scalar
                         : value.kind == YamlNode::Kind::kList ? "a list"
                                                               : "a map";
  std::string instead = expected.advice;
  if (instead.empty()) {
    std::vector<std::string> names(expected.values.begin(), expected.values.end());
    instead = "expected " + (names.empty() ? "null" : Join(names, " or "));
  }
  return fmt::format("'{}' is {}: {}; {}", expected.field, is, expected.what, instead);
}

}  // namespace drydock
