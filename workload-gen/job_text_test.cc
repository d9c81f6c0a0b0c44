#include "workload-gen/job_text.h"

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

// The text parses to a job with the same text.
void ExpectRoundTrip(const std::vector<std::string>& overrides) {
  const std::string text = JobText(TestJob(overrides));
  const Result<TrainingJob> again = ParseTrainingJob(text, "other.yaml", {});
  ASSERT_TRUE(again.ok()) << again.error().ToString() << "\n" << text;
  EXPECT_EQ(JobText(*again), text);
}

// A key that a framework has elsewhere is printed there alone.
TEST(JobText, ScalesOfFp8FollowTheFramework) {
  const auto has = [](const std::string& framework, const char* line) {
    const std::vector<std::string> overrides = {"training.framework=" + framework,
                                                "training.precision=fp8"};
    ExpectRoundTrip(overrides);
    return JobText(TestJob(overrides)).find(line) != std::string::npos;
  };
  EXPECT_TRUE(has("megatron", "\n  fp8_recipe: delayed\n"));
  EXPECT_FALSE(has("fsdp", "\n  fp8_recipe: delayed\n"));
  EXPECT_TRUE(has("fsdp", "\n  fp8_recipe: tensorwise\n"));
}

TEST(JobText, ParsesToTheSameJob) {
  ExpectRoundTrip({});
  ExpectRoundTrip({"model.name='it''s \"a\" #name: x'"});
  ExpectRoundTrip({"model.architecture=llama", "model.ffn=96", "model.kv_heads=2", "model.window=8",
                   "model.full_attention_every=2", "model.dropout=0.25", "training.recompute=full",
                   "training.recompute_layers=2", "training.precision=fp8",
                   "training.gradient_type=bf16", "training.bucket_elements=1000",
                   "parallel.rank_order=tp-cp-ep-pp-dp", "parallel.data=3",
                   "parallel.first_stage_layers=3"});
  ExpectRoundTrip({"model.kv_lora_rank=16",
                   "model.q_lora_rank=8",
                   "model.qk_nope_dim=8",
                   "model.qk_rope_dim=4",
                   "model.value_dim=6",
                   "model.experts=4",
                   "model.experts_per_token=2",
                   "model.expert_ffn=8",
                   "model.shared_expert_ffn=8",
                   "model.first_dense_layers=1",
                   "model.mtp_layers=1",
                   "parallel.sequence_parallel=true",
                   "parallel.expert=2",
                   "parallel.expert_tensor=1",
                   "training.recompute=selective",
                   "training.recompute_modules=[mla_up_proj, moe]",
                   "training.moe_imbalance=1.5",
                   "training.moe_capacity_factor=1.25",
                   "training.moe_dispatcher=flex",
                   "overlap.shared_expert=true"});
  ExpectRoundTrip({"training.precision=nvfp4", "training.bf16_linears=[qkv, latent]",
                   "training.mxfp8_linears=[proj, mamba_out]"});
  ExpectRoundTrip({"model.patch_features=48", "model.tied_embedding=false", "model.causal=false"});
  ExpectRoundTrip(
      {"parallel.layout=Ett|(tt|)*2ttL", "model.window=8", "model.full_attention_first=3"});
}

// The valid keys of a section, from the message about an unknown key.
std::vector<std::string> KeysOf(const std::string& section) {
  const std::string key = section.empty() ? "no_such_section" : section + ".no_such_key";
  std::vector<std::string> overrides = {key + "=1"};
  if (section == "fsdp") overrides.emplace_back("training.framework=fsdp");
  if (section == "zero") {
    overrides.insert(overrides.end(), {"training.framework=deepspeed", "zero.stage=1"});
  }
  const Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", overrides);
  const std::string message = job.error().message(), mark = "valid keys are ";
  std::vector<std::string> keys(1);
  for (const char c : message.substr(message.find(mark) + mark.size())) {
    if (c == ',')
      keys.emplace_back();
    else if (c != ' ')
      keys.back() += c;
  }
  return keys;
}

// The texts of jobs that together have all keys.
std::string AllTexts() {
  return JobText(TestJob({"parallel.layout=Et*4|t*4L"})) +
         JobText(TestJob({"model.window=8", "model.full_attention_every=2",
                          "model.full_attention_first=1", "model.patch_features=48",
                          "model.tied_embedding=false", "training.recompute=full",
                          "training.bucket_elements=1000", "parallel.first_stage_layers=3",
                          "parallel.last_stage_layers=1", "parallel.virtual_pipeline=2",
                          "parallel.microbatch_group=2"})) +
         JobText(TestJob({"model.kv_lora_rank=16", "model.q_lora_rank=8", "model.qk_nope_dim=8",
                          "model.qk_rope_dim=4", "model.value_dim=6", "model.experts=4",
                          "model.experts_per_token=2", "parallel.sequence_parallel=true",
                          "parallel.expert_tensor=1", "training.recompute=selective"})) +
         JobText(TestJob({"model.kv_lora_rank=16", "model.q_lora_rank=8", "model.qk_nope_dim=8",
                          "model.qk_rope_dim=4", "model.value_dim=6", "model.index_topk=8",
                          "model.index_heads=2", "model.index_head_dim=8", "model.bias=false",
                          "parallel.sequence_parallel=true"})) +
         JobText(TestJob({"training.precision=fp8", "memory.cublas_workspace=32 MiB",
                          "memory.te_workspace=32 MiB"})) +
         JobText(
             TestJob({"model.layer_pattern=M*M*M*M*", "model.mamba_heads=8",
                      "model.mamba_head_dim=8", "model.mamba_state=16", "model.mamba_groups=1"})) +
         JobText(TestJob({"model.delta_attention_every=4", "model.delta_key_heads=2",
                          "model.delta_value_heads=4", "model.delta_key_dim=8",
                          "model.delta_value_dim=8"})) +
         JobText(TestJob({"model.experts=4", "model.experts_per_token=2", "model.expert_latent=16",
                          "parallel.sequence_parallel=true", "parallel.expert_tensor=1",
                          "training.moe_dispatcher=hybridep", "training.moe_dispatch_sms=16"})) +
         JobText(TestJob({"model.lora_rank=4", "model.lora_targets=[linear_qkv, linear_proj]",
                          "model.lora_dropout=0.1", "model.lora_all_to_all=true",
                          "model.sample_length=16", "parallel.sequence_parallel=true"})) +
         JobText(TestJob({"training.precision=nvfp4", "training.bf16_linears=[qkv, mtp]",
                          "training.mxfp8_linears=[proj]"})) +
         JobText(TestJob({"parallel.context=4", "parallel.context_type=a2a+p2p",
                          "parallel.context_heads=2", "training.offload_modules=[core_attn]",
                          "training.offload_min_elements=1000"})) +
         JobText(TestJob({"model.positions=rotary", "model.no_positions_every=4",
                          "model.qk_norm=true", "model.qk_norm_kind=whole"})) +
         JobText(TestJob({"model.layer_pattern=-*-*--*-", "model.pattern_ffn=256*2,64*3"})) +
         JobText(TestJob({"training.framework=fsdp", "fsdp.version=1"})) +
         JobText(TestJob({"training.precision=bf16", "training.optimizer=muon"})) +
         JobText(TestJob({"parallel.pipeline=1", "training.distributed_optimizer=true",
                          "megatron_fsdp.sharding=optim_grads_params",
                          "megatron_fsdp.communication_elements=1000"})) +
         JobText(TestJob({"training.framework=fsdp", "training.precision=fp8"})) +
         JobText(TestJob({"training.framework=deepspeed", "zero.stage=3"})) +
         JobText(TestJob({"training.framework=deepspeed", "zero.stage=1", "zero.allgather=buckets",
                          "memory.fragmentation=0.25"}));
}

TEST(JobText, StatesAllKeys) {
  const std::string text = AllTexts();
  const std::vector<std::string> sections = KeysOf("");
  EXPECT_GE(sections.size(), 7u);
  for (const std::string& section : sections) {
    const std::vector<std::string> keys = KeysOf(section);
    EXPECT_FALSE(keys.empty()) << section;
    for (const std::string& key : keys) {
      EXPECT_NE(text.find("\n  " + key + ": "), std::string::npos) << section << "." << key;
    }
  }
}

TEST(JobText, BeginsWithTheNumberOfParameters) {
  EXPECT_EQ(JobText(TestJob()).substr(0, 42), "# 466048 parameters\nmodel:\n  architecture:");
  const std::string experts =
      JobText(TestJob({"model.experts=4", "model.experts_per_token=1", "model.expert_ffn=8",
                       "parallel.sequence_parallel=true"}));
  EXPECT_EQ(experts.substr(0, experts.find('\n')),
            "# 238496 parameters, of which a token uses 212192");
}

TEST(JobText, StatesValuesAsGiven) {
  const std::string text = JobText(
      TestJob({"parallel.context=2", "parallel.context_type=a2a", "training.gradient_type=fp16"}));
  for (const char* line : {"  context: 2\n", "  context_type: a2a\n", "  gradient_type: fp16\n",
                           "  data: auto\n", "  recompute: none\n", "  dropout: 0.1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace drydock
