#include "workload-gen/megatron_job.h"

#include <gtest/gtest.h>

#include "workload-gen/megatron_arguments.h"
#include "workload-gen/model_size.h"
#include "workload-gen/section_readers.h"

namespace drydock {
namespace {

constexpr const char* kGpt =
    "--num-layers 48 --hidden-size 6144 --num-attention-heads 64 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 "
    "--padded-vocab-size 51200 ";

Result<TrainingJob> Parse(const std::string& text, bool strict = false,
                          ImportNotes* notes = nullptr) {
  ImportNotes ignored;
  ASSIGN_OR_RETURN(const YamlNode root,
                   MegatronJob(text, "run.sh", {}, strict, notes != nullptr ? notes : &ignored));
  return TrainingJobFromTree(root, "run.sh");
}

TrainingJob Job(const std::string& text) {
  const Result<TrainingJob> job = Parse(text);
  EXPECT_TRUE(job.ok()) << job.error().ToString();
  return job.ok() ? *job : TrainingJob();
}
TrainingJob Gpt(const std::string& more) { return Job(kGpt + more); }

std::string ErrorOf(const std::string& text, bool strict = false) {
  const Result<TrainingJob> job = Parse(text, strict);
  return job.ok() ? "" : job.error().message();
}
std::string GptError(const std::string& more, bool strict = false) {
  return ErrorOf(kGpt + more, strict);
}

TEST(MegatronJob, DefaultsAreMegatrons) {
  const TrainingJob job = Gpt("--bf16");
  EXPECT_EQ(job.model.name, "run");
  EXPECT_EQ(job.model.ffn, 4 * 6144);
  EXPECT_EQ(job.model.kv_heads, 64);
  EXPECT_EQ(job.model.dropout, 0.1);
  EXPECT_EQ(job.model.attention_dropout, 0.1);
  EXPECT_EQ(job.model.positions, Positions::kLearned);
  EXPECT_EQ(job.model.activation, Activation::kGelu);
  EXPECT_FALSE(job.model.rms_norm);
  EXPECT_TRUE(job.model.tied_embedding);
  EXPECT_TRUE(job.model.bias && job.model.qkv_bias);
  EXPECT_EQ(job.training.gradient_type, DataType::kFp32);
  EXPECT_EQ(job.training.recompute, Recompute::kNone);
  EXPECT_TRUE(job.training.fused_kernels);
  EXPECT_TRUE(job.training.check_gradients);
  EXPECT_TRUE(job.training.gradient_clipping);
  EXPECT_FALSE(job.training.distributed_optimizer);
  EXPECT_EQ(job.parallel.tensor, 1);
  EXPECT_EQ(job.parallel.virtual_pipeline, 1);
  EXPECT_FALSE(job.overlap.p2p);
}

TEST(MegatronJob, ModelArguments) {
  const ModelShape m =
      Gpt("--bf16 --group-query-attention --num-query-groups 8 --kv-channels 128 --swiglu "
          "--normalization RMSNorm --disable-bias-linear --add-qkv-bias --qk-layernorm "
          "--untie-embeddings-and-output-weights --position-embedding-type rope "
          "--hidden-dropout 0 --attention-dropout=0.0 --window-size (4095,0) "
          "--window-attn-skip-freq 6")
          .model;
  EXPECT_EQ(m.kv_heads, 8);
  EXPECT_EQ(m.head_dim, 128);
  EXPECT_EQ(m.ffn, 16384) << "two thirds of 4 x 6144, in whole 64s";
  EXPECT_TRUE(m.gated() && m.rms_norm && m.qkv_bias && m.qk_norm);
  EXPECT_FALSE(m.bias || m.tied_embedding || m.learned_positions());
  EXPECT_EQ(m.dropout, 0);
  EXPECT_EQ(m.window, 4096);
  EXPECT_EQ(m.full_attention_every, 6);
}

TEST(MegatronJob, TheVocabularyIsTheTokenizers) {
  const auto vocab = [](const std::string& arguments) {
    const std::string gpt = kGpt;
    return Job(gpt.substr(0, gpt.find("--padded")) + "--bf16 " + arguments).model.vocab;
  };
  EXPECT_EQ(vocab("--tokenizer-type GPT2BPETokenizer"), 50257);
  EXPECT_EQ(vocab("--tokenizer-type NullTokenizer --vocab-size 131072"), 131073);
  EXPECT_EQ(vocab("--vocab-size 128256"), 128256);
}

TEST(MegatronJob, TrainingArguments) {
  const TrainingRules half = Gpt("--fp16").training;
  EXPECT_EQ(half.precision, DataType::kFp16);
  EXPECT_EQ(half.gradient_type, DataType::kFp16);
  EXPECT_FALSE(half.check_gradients) << "dynamic loss scaling looks itself";
  const TrainingRules t =
      Gpt("--bf16 --fp8-format hybrid --grad-reduce-in-bf16 --use-distributed-optimizer "
          "--ddp-bucket-size 1000 --clip-grad 0.0 --cross-entropy-loss-fusion "
          "--cross-entropy-fusion-impl te --use-nccl-ub --no-gradient-accumulation-fusion "
          "--attention-backend unfused --no-check-for-nan-in-loss-and-grad")
          .training;
  EXPECT_TRUE(t.fp8 && t.distributed_optimizer);
  EXPECT_EQ(t.gradient_type, DataType::kBf16);
  EXPECT_EQ(t.bucket_elements, 1000);
  EXPECT_EQ(t.cross_entropy_fusion, CrossEntropyFusion::kTransformerEngine);
  EXPECT_EQ(t.gradient_buffers, BufferKind::kSymmetric);
  EXPECT_FALSE(t.gradient_clipping || t.gradient_accumulation_fusion || t.fused_kernels ||
               t.check_gradients);
}

TEST(MegatronJob, CudaGraphs) {
  EXPECT_EQ(Gpt("--bf16 --cuda-graph-scope full").training.cuda_graphs, GraphScope::kNone);
  EXPECT_EQ(Gpt("--bf16 --enable-cuda-graph").training.cuda_graphs, GraphScope::kLayers);
  EXPECT_EQ(
      Gpt("--bf16 --cuda-graph-impl local --cuda-graph-scope full_iteration").training.cuda_graphs,
      GraphScope::kFull);
}

TEST(MegatronJob, RecomputeArguments) {
  EXPECT_TRUE(Gpt("--bf16 --recompute-activations").training.recompute_modules.core_attention);
  const TrainingRules full = Gpt("--bf16 --recompute-granularity full --recompute-method block "
                                 "--recompute-num-layers 3")
                                 .training;
  EXPECT_EQ(full.recompute, Recompute::kFull);
  EXPECT_EQ(full.recompute_method, RecomputeMethod::kBlock);
  EXPECT_EQ(full.recompute_layers, 3);
  const TrainingRules some =
      Gpt("--bf16 --recompute-granularity selective --recompute-modules mlp layernorm").training;
  EXPECT_TRUE(some.recompute_modules.mlp && some.recompute_modules.norms);
  EXPECT_FALSE(some.recompute_modules.core_attention);
  EXPECT_EQ(GptError("--bf16 --recompute-granularity full"),
            "full needs --recompute-method uniform or block");
}

TEST(MegatronJob, ParallelArguments) {
  const TrainingJob job =
      Gpt("--bf16 --tensor-model-parallel-size 8 --sequence-parallel "
          "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 3 "
          "--context-parallel-size 2 --cp-comm-type a2a --use-tp-pp-dp-mapping "
          "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather "
          "--tp-comm-overlap --microbatch-group-size-per-virtual-pipeline-stage 8");
  const ParallelRules& p = job.parallel;
  EXPECT_EQ(p.tensor, 8);
  EXPECT_EQ(p.pipeline, 4);
  EXPECT_EQ(p.virtual_pipeline, 4);
  EXPECT_EQ(p.microbatch_group, 8);
  EXPECT_EQ(p.context, 2);
  EXPECT_EQ(p.context_type, ContextType::kAllToAll);
  EXPECT_EQ(p.order, RankOrder::kTensorContextExpertPipelineData);
  EXPECT_TRUE(p.sequence_parallel);
  EXPECT_TRUE(job.overlap.grad_reduce && job.overlap.param_gather && job.overlap.tensor);
  EXPECT_TRUE(job.overlap.p2p) << "with virtual stages, unless --no-overlap-p2p-communication";
}

TEST(MegatronJob, FormsOfTensorOverlap) {
  const std::string split =
      "--bf16 --tensor-model-parallel-size 8 --sequence-parallel "
      "--tp-comm-overlap ";
  const OverlapRules all = Gpt(split).overlap;
  EXPECT_TRUE(all.tensor && all.tensor_gather && all.tensor_scatter);
  EXPECT_TRUE(all.tensor_bulk_dgrad && all.tensor_bulk_wgrad);
  const OverlapRules bulk =
      Gpt(split + "--disable-tp-comm-overlap-ag --disable-tp-comm-split-rs").overlap;
  EXPECT_TRUE(bulk.tensor && !bulk.tensor_gather && !bulk.tensor_scatter);
  EXPECT_TRUE(bulk.tensor_bulk_dgrad && bulk.tensor_bulk_wgrad);
  const OverlapRules parts =
      Gpt(split + "--disable-tp-comm-bulk-dgrad --disable-tp-comm-bulk-wgrad").overlap;
  EXPECT_TRUE(parts.tensor_gather && parts.tensor_scatter);
  EXPECT_FALSE(parts.tensor_bulk_dgrad || parts.tensor_bulk_wgrad);
}

TEST(MegatronJob, StatedStages) {
  const TrainingJob job =
      Gpt("--bf16 --pipeline-model-parallel-size 4 "
          "--pipeline-model-parallel-layout 'Et*5|(t*6|)*6,t*7L'");
  EXPECT_EQ(job.parallel.layout, "Et*5|(t*6|)*6,t*7L");
  EXPECT_EQ(job.parallel.virtual_pipeline, 2);
  EXPECT_TRUE(job.overlap.p2p) << "as with --num-virtual-stages-per-pipeline-rank";
  EXPECT_FALSE(Gpt("--bf16 --pipeline-model-parallel-size 2 "
                   "--pipeline-model-parallel-layout 'Et*20|t*28L'")
                   .overlap.p2p);
}

TEST(MegatronJob, WindowsInLateLayers) {
  const ModelShape m =
      Gpt("--bf16 --window-size (127,0) --window-attn-skip-freq ([0]*40+[1]*8)").model;
  EXPECT_EQ(m.full_attention_first, 40);
  EXPECT_FALSE(m.HasWindow(39));
  EXPECT_TRUE(m.HasWindow(40) && m.HasWindow(47));
  EXPECT_EQ(Gpt("--bf16 --window-size (127,0) --window-attn-skip-freq [0]*48").model.window, 0);
}

TEST(MegatronJob, UnevenStages) {
  const ParallelRules p =
      Gpt("--bf16 --pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 10 "
          "--decoder-last-pipeline-num-layers 8 --num-virtual-stages-per-pipeline-rank 1")
          .parallel;
  EXPECT_EQ(p.first_stage_layers, 10);
  EXPECT_EQ(p.last_stage_layers, 8);
  EXPECT_TRUE(Gpt("--bf16 --account-for-loss-in-pipeline-split").parallel.account_for_loss);
}

TEST(MegatronJob, SequenceParallelismAloneIsNothing) {
  EXPECT_FALSE(Gpt("--bf16 --sequence-parallel").parallel.sequence_parallel);
}

TEST(MegatronJob, WithoutAGlobalBatchItIsOneMicroBatchEach) {
  std::string gpt = kGpt;
  gpt = gpt.substr(0, gpt.find("--global")) + gpt.substr(gpt.find("--padded"));
  EXPECT_EQ(Job("torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --bf16 "
                "--tensor-model-parallel-size 2 " +
                gpt)
                .training.global_batch,
            4 * 32 / 2);
  EXPECT_EQ(ErrorOf(gpt + "--bf16"),
            "--global-batch-size is not given and the launcher's line does not tell how many GPUs "
            "there are");
}

constexpr const char* kMixtral =
    "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 "
    "--group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm "
    "--disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope "
    "--seq-length 4096 --max-position-embeddings 32768 --vocab-size 32000 --micro-batch-size 1 "
    "--global-batch-size 256 --bf16 --num-experts 8 --expert-model-parallel-size 8 ";

TEST(MegatronJob, Mixtral) {
  const TrainingJob job = Job(std::string(kMixtral) +
                              "--moe-token-dispatcher-type alltoall --moe-grouped-gemm "
                              "--moe-aux-loss-coeff 1e-2 --moe-router-topk 2");
  EXPECT_EQ(ParameterCount(job.model), 46702792704);
  EXPECT_EQ(job.model.moe.per_token, 2);
  EXPECT_EQ(job.training.moe_dispatcher, MoeDispatcher::kAllToAll);
  EXPECT_TRUE(job.training.moe_grouped_gemm && job.training.moe_aux_loss);
  EXPECT_EQ(job.parallel.expert, 8);
  const TrainingJob plain = Job(kMixtral);
  EXPECT_EQ(plain.training.moe_dispatcher, MoeDispatcher::kAllGather) << "Megatron's default";
  EXPECT_FALSE(plain.training.moe_grouped_gemm || plain.training.moe_aux_loss);
}

TEST(MegatronJob, DeepSeekV3) {
  const TrainingJob job =
      Job("--num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 "
          "--kv-channels 128 --swiglu --normalization RMSNorm --disable-bias-linear "
          "--untie-embeddings-and-output-weights --position-embedding-type rope --seq-length 4096 "
          "--max-position-embeddings 4096 --vocab-size 129280 --make-vocab-size-divisible-by 3232 "
          "--micro-batch-size 1 --global-batch-size 8192 --bf16 --multi-latent-attention "
          "--q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 "
          "--v-head-dim 128 --qk-layernorm --num-experts 256 --moe-router-topk 8 "
          "--moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 "
          "--moe-layer-freq ([0]*3+[1]*58) --moe-router-enable-expert-bias "
          "--moe-router-load-balancing-type seq_aux_loss --moe-aux-loss-coeff 1e-4 "
          "--moe-token-dispatcher-type flex --moe-enable-deepep --expert-model-parallel-size 64 "
          "--expert-tensor-parallel-size 1");
  EXPECT_EQ(ParameterCount(job.model), 671026419200);
  EXPECT_EQ(job.model.vocab_multiple, 3232);
  EXPECT_EQ(job.training.moe_dispatcher, MoeDispatcher::kFlex);
  EXPECT_TRUE(job.training.moe_aux_loss);
  EXPECT_EQ(job.parallel.expert_tensor, 1);
}

TEST(MegatronJob, TokensTravelBesideOtherWork) {
  const std::string experts =
      "--bf16 --num-experts 8 --expert-model-parallel-size 4 --moe-token-dispatcher-type alltoall "
      "--disable-bias-linear --overlap-moe-expert-parallel-comm ";
  EXPECT_TRUE(Gpt(experts).overlap.expert);
  EXPECT_FALSE(Gpt(experts).overlap.delay_weight_gradients);
  EXPECT_TRUE(Gpt(experts + "--delay-wgrad-compute").overlap.delay_weight_gradients);
  EXPECT_EQ(GptError("--bf16 --delay-wgrad-compute"), "'delay_weight_gradients' needs expert");
  EXPECT_EQ(GptError(experts + "--pipeline-model-parallel-size 2"),
            "with pipeline 2, 'expert' needs virtual_pipeline > 1");
  EXPECT_EQ(GptError(experts + "--recompute-granularity full --recompute-method uniform"),
            "'expert' excludes recompute: full and recompute_modules: [moe]");
  EXPECT_EQ(GptError(experts + "--moe-token-dispatcher-type allgather"),
            "'expert' needs moe_dispatcher alltoall or flex");
}

TEST(MegatronJob, WithoutExpertsWhatIsSaidOfThemIsNothing) {
  EXPECT_EQ(Gpt("--bf16 --moe-grouped-gemm --moe-ffn-hidden-size 5 --moe-expert-capacity-factor 1 "
                "--expert-tensor-parallel-size 1 --num-experts 0")
                .model.moe.experts,
            0);
}

TEST(MegatronJob, WhatIsNotGivenIsNamed) {
  const Result<TrainingJob> job = Parse("--num-layers 2 --bf16");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().ToString(),
            "run.sh: error: --seq-length is not given\n"
            "run.sh: error: --hidden-size is not given\n"
            "run.sh: error: --num-attention-heads is not given\n"
            "run.sh: error: --max-position-embeddings is not given\n"
            "run.sh: error: --micro-batch-size is not given\n"
            "run.sh: error: --vocab-size is not given\n"
            "run.sh: error: --global-batch-size is not given and the launcher's line does not tell "
            "how many GPUs there are");
}

TEST(MegatronJob, MistakesAreWhereTheValueStands) {
  const Result<TrainingJob> job = Parse("A=(\n  --num-layers 0\n)\ntorchrun pretrain_gpt.py " +
                                        std::string(kGpt) + "--bf16 ${A[@]}");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().ToString(),
            "run.sh:2:16: error: 'layers' is 0; it must be between 1 and 10000\n"
            "    --num-layers 0\n"
            "                 ^");
}

struct Mistake {
  const char* arguments;
  const char* message;
};
class MegatronJobMistake : public testing::TestWithParam<Mistake> {};
TEST_P(MegatronJobMistake, IsTold) {
  EXPECT_EQ(GptError(GetParam().arguments), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, MegatronJobMistake,
    testing::Values(
        Mistake{"", "--bf16 or --fp16 is not given: training in fp32 is not generated"},
        Mistake{"--bf16 --fp16", "--fp16 excludes --bf16"},
        Mistake{"--bf16 true", "unexpected 'true': '--bf16' takes no value"},
        Mistake{"--bf16 --hidden-size", "'--hidden-size' needs a value"},
        Mistake{"--bf16 --clip-grad 1 2", "unexpected '2': '--clip-grad' takes one value"},
        Mistake{"--bf16 --normalization RMSnorm",
                "'RMSnorm' is no --normalization; did you mean 'RMSNorm'?; valid values are "
                "LayerNorm, RMSNorm"},
        Mistake{"--bf16 --position-embedding-type relative",
                "'relative' is no --position-embedding-type; valid values are learned_absolute, "
                "rope, mrope, none"},
        Mistake{"--bf16 --swiglu --squared-relu", "excludes --swiglu"},
        Mistake{"--bf16 --num-experts 8 --moe-layer-freq [0,1]*24",
                "'[0,1]*24': dense layers at the start, then every n-th layer with experts, is "
                "understood"},
        Mistake{"--bf16 --num-experts 8 --moe-layer-freq [1]*47",
                "'[1]*47' is a list of 47 layers; the model has 48"},
        Mistake{"--bf16 --window-size 1,1", "'1,1': expected (keys before, 0)"},
        Mistake{"--bf16 --optimizer sgd", "'sgd': only adam is generated"},
        Mistake{"--bf16 --cp-comm-type p2p a2a", "one type for all layers is generated"},
        Mistake{"--bf16 --num-layers-per-virtual-pipeline-stage 7",
                "48 layers are not divisible by 1 stages x 7 layers"},
        Mistake{"--bf16 --pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 "
                "--pipeline-model-parallel-layout 'Et*12|t*12|t*12|t*12L'",
                "excludes --pipeline-model-parallel-layout"},
        Mistake{"--bf16 --pipeline-model-parallel-size 4 "
                "--pipeline-model-parallel-layout 'Et*12|t*12|t*12|t*11L'",
                "layout 'Et*12|t*12|t*12|t*11L': t stands in it 47 times; layers is 48; the "
                "nearest that works is 'Et*12|t*12|t*12|t*12L'"},
        Mistake{"--bf16 --window-size 9,0 --window-attn-skip-freq [1,0,0]*16",
                "'[1,0,0]*16': layers without a window at the start, then every n-th, is "
                "understood, as a number or a list"},
        Mistake{"--bf16 --window-size 9,0 --window-attn-skip-freq [1,0]*3",
                "'[1,0]*3' is a list of 6 layers; the model has 48"},
        Mistake{"--bf16 --ffn-hidden-size $FFN",
                "the value of '--ffn-hidden-size' depends on $FFN, which is not known; give it "
                "with --variable NAME=VALUE"},
        Mistake{"--bf16 --use-torch-fsdp2",
                "'--use-torch-fsdp2': Megatron's data parallelism alone is read here; state fully "
                "sharded training in a model.yaml"},
        Mistake{"--bf16 --inference-max-requests 8",
                "'--inference-max-requests': inference is out of scope: Drydock rehearses "
                "iterations of training"},
        Mistake{"--bf16 --checkpoint-activations",
                "'--checkpoint-activations': Megatron took it out; give --recompute-activations"}));

TEST(MegatronJob, InferenceScriptsAreRefused) {
  EXPECT_EQ(ErrorOf("torchrun tools/run_text_generation_server.py " + std::string(kGpt) + "--bf16"),
            "'run_text_generation_server.py': inference is out of scope: Drydock rehearses "
            "iterations of training");
}

TEST(MegatronJob, EncodersSeeBothWays) {
  EXPECT_FALSE(Job("python pretrain_bert.py --bf16 " + std::string(kGpt)).model.causal);
}

TEST(MegatronJob, WhatHasNoPlaceIsListed) {
  ImportNotes notes;
  ASSERT_TRUE(Parse(kGpt + std::string("--bf16 --lr 1e-4 --num-layer 3 --no-rope-fusion $EXTRA "
                                       "--made-up 1 2 --data-path a b"),
                    false, &notes)
                  .ok());
  EXPECT_EQ(notes.Lines("run.sh"),
            (std::vector<std::string>{
                "run.sh: 3 unknown and ignored: --num-layer (did you mean '--num-layers'?), $EXTRA "
                "(its value is not in the script; give --variable), --made-up",
                "run.sh: 1 not modelled: --no-rope-fusion (rotary kernels)",
                "run.sh: 2 ignored, of no bearing: --lr, --data-path"}));
}

TEST(MegatronJob, StrictRefusesWhatHasNoPlace) {
  EXPECT_EQ(GptError("--bf16 --lr 1e-4", true), "");
  EXPECT_EQ(GptError("--bf16 --num-layer 3", true),
            "Megatron-LM has no argument '--num-layer'; did you mean '--num-layers'?");
  EXPECT_EQ(GptError("--bf16 --no-rope-fusion", true),
            "not modelled: --no-rope-fusion (rotary kernels)");
  EXPECT_EQ(GptError("--bf16 $EXTRA", true),
            "$EXTRA (its value is not in the script; give --variable)");
}

TEST(MegatronJob, EveryArgumentIsSortedOnce) {
  EXPECT_GT(MegatronArguments().size(), 390u);
  for (const auto& [name, argument] : MegatronArguments()) {
    EXPECT_TRUE(name.starts_with("--")) << name;
    const bool explained = argument.effect == MegatronArgument::Effect::kRefused ||
                           argument.effect == MegatronArgument::Effect::kUnmodelled;
    EXPECT_EQ(argument.text.empty(), !explained) << name;
  }
}

}  // namespace
}  // namespace drydock
