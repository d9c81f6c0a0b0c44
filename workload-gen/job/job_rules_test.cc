#include "workload-gen/job/job_rules.h"

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

const std::vector<std::string> kExperts = {"model.experts=4", "model.experts_per_token=2",
                                           "parallel.sequence_parallel=true"};

struct Rule {
  std::vector<std::string> overrides;
  const char* message;
};

class JobRulesTest : public testing::TestWithParam<Rule> {};

// The error points to the last override.
TEST_P(JobRulesTest, IsReportedAtItsKey) {
  const Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", GetParam().overrides);
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().ToString(),
            "--set " + GetParam().overrides.back() + ": error: " + std::string(GetParam().message));
}

std::vector<std::string> Experts(const std::vector<std::string>& more) {
  std::vector<std::string> list = kExperts;
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

std::vector<std::string> FusedExperts(const std::vector<std::string>& more) {
  std::vector<std::string> list =
      Experts({"model.activation=swiglu", "model.bias=false", "model.expert_ffn=64",
               "training.precision=fp8", "training.fp8_recipe=mxfp8",
               "training.moe_grouped_kernel=one", "parallel.expert_tensor=1"});
  list.insert(list.end(), more.begin(), more.end());
  list.emplace_back("training.moe_fused_mlp=true");
  return list;
}

// Sparse attention of the widths that fused kernels take, on two tensor ranks of 64 heads.
std::vector<std::string> Sparse(const std::vector<std::string>& more) {
  std::vector<std::string> list = {"parallel.sequence_parallel=true",
                                   "model.bias=false",
                                   "model.heads=128",
                                   "model.kv_lora_rank=512",
                                   "model.qk_nope_dim=8",
                                   "model.qk_rope_dim=64",
                                   "model.value_dim=8",
                                   "model.index_heads=4",
                                   "model.index_head_dim=64",
                                   "model.index_topk=64"};
  list.insert(list.end(), more.begin(), more.end());
  return list;
}
std::vector<std::string> FusedSparse(const std::string& kernels,
                                     const std::vector<std::string>& more) {
  std::vector<std::string> list = Sparse(more);
  list.insert(list.begin(), "training.precision=bf16");
  list.push_back("training.sparse_attention_kernels=" + kernels);
  return list;
}

INSTANTIATE_TEST_SUITE_P(
    Sparse, JobRulesTest,
    testing::Values(
        Rule{{"model.index_heads=4", "model.index_head_dim=8", "model.index_topk=64"},
             "'index_topk' needs kv_lora_rank"},
        Rule{{"model.index_loss=dense"}, "'index_loss' needs index_topk"},
        Rule{{"training.sparse_attention_kernels=cudnn"},
             "'sparse_attention_kernels' needs model.index_topk"},
        Rule{{"training.framework=fsdp", "training.precision=bf16", "parallel.tensor=1",
              "parallel.pipeline=1", "model.bias=false", "model.dropout=0", "model.kv_lora_rank=16",
              "model.qk_nope_dim=8", "model.qk_rope_dim=4", "model.value_dim=6",
              "model.index_heads=4", "model.index_head_dim=8", "model.index_topk=64"},
             "'index_topk' needs framework: megatron"},
        Rule{Sparse({"parallel.sequence_parallel=false"}),
             "'index_topk' with tensor 2 needs sequence_parallel: true"},
        Rule{Sparse({"parallel.context=2", "parallel.context_type=p2p"}),
             "'index_topk' needs context_type: allgather"},
        Rule{Sparse({"training.precision=fp8", "training.recompute=selective",
                     "training.recompute_modules=[mla_up_proj]"}),
             "'mla_up_proj' with index_topk needs precision: bf16, not fp8"},
        Rule{Sparse({"training.precision=fp8", "training.fp8_attention=true"}),
             "'fp8_attention' excludes index_topk"},
        Rule{Sparse({"training.offload_modules=[core_attn]"}),
             "'offload_modules' is not generated with index_topk"},
        Rule{Sparse({"overlap.grad_reduce=true", "model.index_loss=none"}),
             "'index_loss: none' needs overlap.grad_reduce: false, which waits for all gradients"},
        Rule{FusedSparse("cudnn", {"training.attention_kernels=unfused"}),
             "'cudnn' needs kernels: fused with attention_kernels other than unfused, which turns "
             "it off"},
        Rule{FusedSparse("cudnn", {"model.kv_lora_rank=256"}),
             "'cudnn' needs kv_lora_rank 512; give unfused"},
        Rule{FusedSparse("tilelang", {"model.qk_rope_dim=32"}),
             "'tilelang' needs kv_lora_rank 512 and qk_rope_dim 64; give unfused"},
        Rule{FusedSparse("cudnn", {"model.heads=96"}),
             "'cudnn' needs heads of a tensor rank that are a divisor or a multiple of 64, not 48; "
             "give unfused"},
        Rule{FusedSparse("tilelang", {"training.precision=fp16"}),
             "'tilelang' needs precision: bf16 or one that keeps other tensors in bf16, not fp16; "
             "give unfused"},
        Rule{FusedSparse("cudnn", {"model.index_loss=dense", "model.sample_length=16"}),
             "'cudnn' with sample_length needs index_loss: sparse or none; give unfused"},
        Rule{FusedSparse("tilelang", {"model.heads=96"}),
             "'tilelang' needs heads of a tensor rank that are a power of 2, not 48; give unfused"},
        Rule{FusedSparse("tilelang", {"model.index_topk=80"}),
             "'tilelang' needs an index_topk that 64 divides, not 80; give unfused"},
        Rule{FusedSparse("tilelang", {"model.index_loss=dense"}),
             "'tilelang' needs index_loss: sparse or none; give unfused"},
        Rule{FusedSparse("cudnn", {"model.index_loss=dense", "parallel.context=2",
                                   "parallel.context_type=allgather"}),
             "'cudnn' with context 2 needs index_loss: sparse or none; give unfused"}));

INSTANTIATE_TEST_SUITE_P(
    All, JobRulesTest,
    testing::Values(
        Rule{{"training.moe_dispatcher=flex"}, "'moe_dispatcher' needs model.experts"},
        Rule{{"training.moe_imbalance=1.5"}, "'moe_imbalance' needs model.experts"},
        Rule{{"training.tp_only_amax_red=true"}, "'tp_only_amax_red' needs precision: fp8"},
        Rule{{"training.precision=fp8", "training.fp8_recipe=mxfp8", "training.fp8_attention=true"},
             "'fp8_attention' needs fp8_recipe: delayed or tensorwise, not mxfp8"},
        Rule{{"training.precision=fp8", "training.attention_kernels=flash",
              "training.fp8_attention=true"},
             "'fp8_attention' needs kernels: fused with attention_kernels: auto or cudnn"},
        Rule{{"training.precision=fp8", "parallel.context=2", "parallel.context_type=allgather",
              "training.fp8_attention=true"},
             "'fp8_attention' needs parallel.context_type p2p, a2a or a2a+p2p"},
        Rule{{"parallel.context=4", "parallel.context_type=a2a", "parallel.context_heads=2"},
             "'context_heads' needs context_type: a2a+p2p"},
        Rule{{"training.precision=fp8", "training.kernels=unfused", "training.fused_ops=true"},
             "'fused_ops' needs kernels: fused"},
        Rule{{"training.precision=fp8", "model.lora_rank=4", "model.lora_targets=[linear_fc1]",
              "training.fused_ops=true"},
             "'fused_ops' excludes adapters of linear_fc1 and linear_fc2"},
        Rule{FusedExperts({"training.fp8_recipe=tensorwise"}),
             "'moe_fused_mlp' is generated for precision: fp8 with fp8_recipe: mxfp8"},
        Rule{FusedExperts({"training.moe_grouped_kernel=per-expert"}),
             "'moe_fused_mlp' needs kernels: fused and moe_grouped_kernel: one"},
        Rule{FusedExperts({"model.activation=gelu"}),
             "'moe_fused_mlp' needs activation: swiglu, geglu or squared_relu"},
        Rule{FusedExperts({"model.expert_ffn=96"}),
             "'moe_fused_mlp' needs widths of experts that 64 divides, not 64 and 96"},
        Rule{FusedExperts({"training.recompute=selective", "training.recompute_modules=[moe_act]"}),
             "'moe_fused_mlp' excludes recompute_modules: [moe_act], of which no kernel is left"},
        Rule{{"training.kernels=unfused", "training.attention_kernels=flash"},
             "'attention_kernels' needs kernels: fused; with kernels: unfused, attention is "
             "unfused"},
        Rule{{"training.recompute=full", "training.recompute_layers=0"},
             "recompute_layers 0 needs recompute_method: block, where it means that no layer "
             "repeats "
             "its forward; uniform groups have at least 1 layer"},
        Rule{{"training.precision=fp8", "training.fp8_recipe=mxfp8",
              "training.tp_only_amax_red=true"},
             "'tp_only_amax_red' needs fp8_recipe: delayed"},
        Rule{{"training.kernels=unfused", "training.precision=fp8", "training.fp8_recipe=mxfp8"},
             "'mxfp8' needs kernels: fused: Transformer Engine quantizes"},
        Rule{{"training.bf16_linears=[qkv]"}, "'bf16_linears' needs precision: fp8 or nvfp4"},
        Rule{{"training.precision=fp8", "training.mxfp8_linears=[proj]"},
             "'mxfp8_linears' needs precision: nvfp4"},
        Rule{{"training.precision=nvfp4", "training.bf16_layers_at_start=5",
              "training.bf16_layers_at_end=4"},
             "9 layers in bf16 are more than the model's 8"},
        Rule{{"training.precision=fp8", "training.distributed_optimizer=false",
              "training.quantized_param_gather=true"},
             "quantized_param_gather needs training.distributed_optimizer"},
        Rule{{"training.precision=nvfp4", "training.distributed_optimizer=true",
              "training.quantized_param_gather=true", "training.square_blocks=false"},
             "'quantized_param_gather' with precision: nvfp4 needs square_blocks: true"},
        Rule{{"training.precision=fp8", "training.stochastic_rounding=false"},
             "'stochastic_rounding' needs precision: nvfp4"},
        Rule{{"training.precision=fp8", "training.fp8_recipe=blockwise", "model.hidden=64"},
             "hidden 64 is not a multiple of 128, the elements of a block of 'fp8-block'"},
        Rule{{"parallel.expert=4"}, "'expert' needs model.experts"},
        Rule{{"parallel.expert_tensor=2"}, "'expert_tensor' needs model.experts"},
        Rule{Experts({"parallel.expert=3"}),
             "experts 4 is not divisible by expert 3; the nearest below that fits is 2"},
        Rule{Experts({"parallel.sequence_parallel=false"}),
             "with experts, tensor 2 needs sequence_parallel: true (each rank routes its own "
             "tokens)"},
        Rule{Experts({"parallel.expert=2", "training.moe_imbalance=2.5"}),
             "moe_imbalance 2.5 is more than expert 2: no rank has more than all tokens"},
        Rule{Experts({"training.moe_imbalance=0.5"}),
             "'moe_imbalance' is 0.5; it must be between 1 and 10000"},
        Rule{Experts({"training.moe_capacity_factor=-1"}),
             "'moe_capacity_factor' is -1; it must be between 0 and 10000"},
        Rule{Experts({"training.moe_pad_to_capacity=true"}),
             "'moe_pad_to_capacity' needs moe_capacity_factor"},
        Rule{Experts({"training.moe_dispatch_sms=24"}),
             "'moe_dispatch_sms' has no effect without moe_dispatcher: flex or hybridep"},
        Rule{Experts({"training.moe_dispatcher=flex", "training.moe_dispatch_sms=21"}),
             "moe_dispatch_sms 21 must be even with moe_dispatcher: flex; write 22"},
        Rule{Experts({"training.moe_dispatcher=deepep"}),
             "'deepep' is not a valid moe_dispatcher; write moe_dispatcher: flex"},
        Rule{Experts({"training.moe_dispatcher=hybridp"}),
             "'hybridp' is not a valid moe_dispatcher; did you mean 'hybridep'?; valid values are "
             "alltoall, allgather, flex, hybridep"},
        Rule{{"training.precision=mxfp8"},
             "'mxfp8' is not a valid precision; write precision: fp8 with fp8_recipe: mxfp8"},
        Rule{{"training.precision=fp8", "training.fp8_recipe=nvfp4"},
             "'nvfp4' is not a valid fp8_recipe; write precision: nvfp4, and no fp8_recipe"},
        Rule{{"training.framework=fsdp", "training.precision=fp8", "fsdp.fp8_recipe=rowwise",
              "training.fp8_recipe=delayed"},
             "'fp8_recipe' is not of framework fsdp; write fsdp.fp8_recipe in its place: "
             "tensorwise, rowwise"},
        Rule{{"megatron_fsdp.double_buffer=true"},
             "'double_buffer' needs sharding: no_shard or optim or optim_grads or "
             "optim_grads_params"},
        Rule{{"model.attention_sinks=true", "training.attention_kernels=flash"},
             "'flash' excludes model.attention_sinks, which FlashAttention does not have; write "
             "auto, cudnn or unfused"},
        Rule{{"model.attention_sinks=true", "parallel.context=2", "parallel.context_type=p2p"},
             "context 2 with model.attention_sinks needs context_type: a2a, the only one in which "
             "Transformer Engine has them"},
        Rule{{"model.attention_sinks=true", "parallel.context=2", "parallel.context_type=a2a",
              "training.attention_kernels=unfused"},
             "'unfused' with model.attention_sinks needs context: 1; write auto or cudnn"},
        Rule{{"model.attention_sinks=true", "training.deterministic=true"},
             "'deterministic' with model.attention_sinks needs attention_kernels: unfused: no "
             "other kernels of Transformer Engine are deterministic then"},
        Rule{{"training.cross_entropy_fusion=te", "training.deterministic=true"},
             "'deterministic' needs cross_entropy_fusion: none, as in Megatron-LM"},
        Rule{{"training.framework=fsdp", "training.deterministic=true"},
             "'deterministic' is not generated for framework fsdp: torchtitan fills no tensors, "
             "and the time of its deterministic kernels is not known; write false"},
        Rule{Experts({"training.moe_dispatcher=flex", "training.moe_deepep=low-latency"}),
             "'moe_deepep: low-latency' needs moe_dispatcher: flex and moe_grouped_kernel: one, "
             "because the host never learns how many tokens an expert gets"},
        Rule{Experts({"training.moe_grouped_kernel=one", "training.moe_deepep=low-latency"}),
             "'moe_deepep: low-latency' needs moe_dispatcher: flex and moe_grouped_kernel: one, "
             "because the host never learns how many tokens an expert gets"},
        Rule{Experts({"training.moe_dispatcher=flex", "training.moe_deepep=low-latency",
                      "training.moe_grouped_kernel=one", "training.moe_dispatch_sms=24"}),
             "'moe_dispatch_sms' has no effect with moe_deepep: low-latency, whose kernels take "
             "one SM for one or more experts"},
        Rule{Experts({"training.moe_dispatcher=hybridep", "training.moe_counts=device"}),
             "'moe_counts: device' needs moe_dispatcher: hybridep and moe_grouped_kernel: one"},
        Rule{Experts({"training.moe_grouped_gemm=false", "training.moe_grouped_kernel=one"}),
             "'moe_grouped_kernel: one' needs moe_grouped_gemm: true"},
        Rule{{"training.recompute=selective", "training.recompute_modules=[moe]"},
             "'moe' and 'moe_act' need model.experts"},
        Rule{Experts({"model.shared_expert_ffn=64", "overlap.shared_expert=true",
                      "training.recompute=selective",
                      "training.recompute_modules=[shared_experts]"}),
             "'shared_experts' excludes overlap.shared_expert"},
        Rule{Experts({"training.precision=fp8", "training.recompute=selective",
                      "training.recompute_modules=[moe_act]"}),
             "'layernorm' and 'moe_act' exclude fp8_recipe: delayed, the default, as Megatron-Core "
             "does; write another one, such as tensorwise"},
        Rule{{"training.kernels=fused", "training.recompute=selective",
              "training.recompute_modules=[layernorm]"},
             "'layernorm' has no effect with kernels: fused: Transformer Engine runs the norms of "
             "dense layers and standard attention within the products behind them; leave it out"},
        Rule{{"training.recompute=selective", "training.recompute_modules=[mla_up_proj]"},
             "'mla_up_proj' needs model.kv_lora_rank"},
        Rule{{"training.recompute=selective", "training.recompute_modules=[shared_experts]"},
             "'shared_experts' needs model.shared_expert_ffn"},
        Rule{{"training.recompute=selective", "training.recompute_modules=[core_atn]"},
             "'core_atn' is not a module to recompute; did you mean 'core_attn'?; valid values are "
             "core_attn, layernorm, moe_act, mlp, moe, shared_experts, mla_up_proj"},
        Rule{{"training.recompute=selective", "training.recompute_modules=core_attn"},
             "'recompute_modules' must be a list of names"},
        Rule{{"training.recompute_modules=[mlp]"},
             "'recompute_modules' needs recompute: selective"},
        Rule{{"overlap.tensor=true"}, "'tensor' needs parallel.sequence_parallel"},
        Rule{{"overlap.expert=true"}, "'expert' needs parallel.expert > 1"},
        Rule{{"overlap.shared_expert=true"}, "'shared_expert' needs model.shared_expert_ffn"},
        Rule{{"parallel.microbatch_group=4"}, "'microbatch_group' needs virtual_pipeline > 1"},
        Rule{{"parallel.virtual_pipeline=2", "parallel.microbatch_group=1"},
             "microbatch_group 1 is less than pipeline 2"},
        Rule{{"model.sequence=16777216", "model.positions=rotary", "training.micro_batch=1048576"},
             "a micro-batch of 1048576 sequences of 16777216 tokens is too large"},
        Rule{{"parallel.first_stage_layers=3", "parallel.account_for_loss=true"},
             "'account_for_loss' excludes first_stage_layers and last_stage_layers"}));

TEST(JobRules, ModulesToRecompute) {
  const auto modules = [](const std::vector<std::string>& overrides) {
    return TestJob(overrides).training.recompute.modules;
  };
  EXPECT_EQ(modules({}), RecomputeModules());
  EXPECT_TRUE(modules({"training.recompute=selective"}).core_attention);
  const RecomputeModules two = modules({"training.kernels=unfused", "training.recompute=selective",
                                        "training.recompute_modules=[layernorm, mlp]"});
  EXPECT_TRUE(two.norms && two.mlp);
  EXPECT_FALSE(two.core_attention);
}

TEST(JobRules, SparseKernelsThatFit) {
  for (const char* kernels : {"unfused", "tilelang", "cudnn"}) {
    const auto job = ParseTrainingJob(kTestJob, "test.yaml", FusedSparse(kernels, {}));
    EXPECT_TRUE(job.ok()) << job.error().ToString();
  }
}

TEST(JobRules, Fp8ComputesInFp8AndCommunicatesInBf16) {
  const TrainingJob job = TestJob({"training.precision=fp8"});
  EXPECT_TRUE(job.training.precision.fp8);
  EXPECT_EQ(job.training.precision.type, DataType::kBf16);
}

}  // namespace
}  // namespace drydock
