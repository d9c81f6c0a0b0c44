#include "workload-gen/import/megatron/megatron_job.h"

#include <gtest/gtest.h>

#include "core/base/spelling.h"
#include "workload-gen/job/job_rules.h"
#include "workload-gen/testing/megatron_job_testing.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

TEST(MegatronJob, AssumesAVocabularyAndSaysSo) {
  const std::string script =
      "torchrun pretrain_gpt.py --bf16 --num-layers 2 --hidden-size 64 --num-attention-heads 4 "
      "--seq-length 32 --max-position-embeddings 32 --micro-batch-size 1 --global-batch-size 8 ";
  ImportNotes notes;
  Result<TrainingJob> job = Parse(script, {}, &notes);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->model.embedding.vocab, 50257);
  ASSERT_EQ(notes.assumed.size(), 1u);
  EXPECT_EQ(notes.assumed[0].key, "model.vocab");
  EXPECT_EQ(notes.assumed[0].source,
            "of GPT2BPETokenizer, the default (vocab.json of GPT-2 as released)");
  job =
      Parse(script + "--tokenizer-type GPTSentencePieceTokenizer --tokenizer-model $M", {}, &notes);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->model.embedding.vocab, 131072);
}

TEST(MegatronJob, PredictsTheLastStepOfABatchSchedule) {
  ImportNotes notes;
  const std::string steps = "--step-batch-size-schedule '0:16 2.4B:320 12B:64'";
  const Result<TrainingJob> job = Parse(kGpt + std::string("--bf16 ") + steps, {}, &notes);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(job->training.batch.global, 64);
  EXPECT_EQ(GptError("--bf16 --step-batch-size-schedule '0:16 2B:320'"),
            "its last batch is 320, but --global-batch-size is 64; remove one");
  EXPECT_EQ(GptError("--bf16 --step-batch-size-schedule 16"),
            "'16': expected START:BATCH, such as \"0:16 12B:1536\"");
}

TEST(MegatronJob, DefaultsAreMegatrons) {
  const TrainingJob job = Gpt("--bf16");
  EXPECT_EQ(job.model.name, "run");
  EXPECT_EQ(job.model.mlp.ffn, 4 * 6144);
  EXPECT_EQ(job.model.attention.kv_heads, 64);
  EXPECT_EQ(job.model.dropout, 0.1);
  EXPECT_EQ(job.model.attention.dropout, 0.1);
  EXPECT_EQ(job.model.embedding.positions, Positions::kLearned);
  EXPECT_EQ(job.model.mlp.activation, Activation::kGelu);
  EXPECT_FALSE(job.model.rms_norm);
  EXPECT_TRUE(job.model.embedding.tied);
  EXPECT_TRUE(job.model.bias && job.model.attention.qkv_bias);
  EXPECT_EQ(job.training.precision.gradients, DataType::kFp32);
  EXPECT_EQ(job.training.recompute.granularity, Recompute::kNone);
  EXPECT_TRUE(job.training.kernels.fused);
  EXPECT_TRUE(job.training.optimizer.check_gradients);
  EXPECT_TRUE(job.training.optimizer.gradient_clipping);
  EXPECT_FALSE(job.training.optimizer.distributed);
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
  EXPECT_EQ(m.attention.kv_heads, 8);
  EXPECT_EQ(m.attention.head_dim, 128);
  EXPECT_EQ(m.mlp.ffn, 16384) << "two thirds of 4 x 6144, a multiple of 64";
  EXPECT_TRUE(m.mlp.gated() && m.rms_norm && m.attention.qkv_bias && m.attention.qk_norm);
  EXPECT_FALSE(m.bias || m.embedding.tied || m.embedding.learned_positions());
  EXPECT_EQ(m.dropout, 0);
  EXPECT_EQ(m.attention.window, 4096);
  EXPECT_EQ(m.attention.full_attention_every, 6);
}

TEST(MegatronJob, RotaryKernels) {
  EXPECT_TRUE(Gpt("--bf16 --position-embedding-type rope").training.kernels.rope_fusion);
  EXPECT_FALSE(
      Gpt("--bf16 --position-embedding-type rope --no-rope-fusion").training.kernels.rope_fusion);
  EXPECT_TRUE(Gpt("--bf16").training.kernels.softmax_fusion);
  EXPECT_FALSE(Gpt("--bf16 --no-masked-softmax-fusion").training.kernels.softmax_fusion);
  EXPECT_EQ(Gpt("--bf16 --position-embedding-type yarn").model.embedding.positions,
            Positions::kYarn);
}

// --num-layers may be absent; stages in the pattern are a layout of the pipeline.
TEST(MegatronJob, HybridPatterns) {
  const std::string rest =
      "--hidden-size 768 --num-attention-heads 8 --seq-length 2048 --max-position-embeddings 2048 "
      "--micro-batch-size 4 --global-batch-size 64 --padded-vocab-size 51200 --bf16 "
      "--num-experts 32 --moe-latent-size 256 --is-hybrid-model --spec "
      "megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec ";
  const ModelShape m = Job(rest +
                           "--hybrid-layer-pattern MEM*E/*E/*E --mamba-num-heads 16 "
                           "--mamba-head-dim 32 --mamba-state-dim 64 --mamba-num-groups 4")
                           .model;
  EXPECT_EQ(m.layers, 5);
  EXPECT_EQ(m.pattern, "MEM*E");
  EXPECT_EQ(m.mtp_layers, 2);
  EXPECT_EQ(m.moe.latent, 256);
  EXPECT_EQ(m.mamba.heads, 16);
  EXPECT_EQ(m.mamba.head_dim, 32);
  EXPECT_EQ(m.mamba.state, 64);
  EXPECT_EQ(m.mamba.groups, 4);
  EXPECT_EQ(m.PartsOf(0).mixer, Mixer::kMamba);
  EXPECT_EQ(m.PartsOf(3).mixer, Mixer::kAttention);
  EXPECT_TRUE(m.PartsOf(4).experts && m.PartsOf(5).experts);
  const TrainingJob staged =
      Job(rest + "--hybrid-override-pattern 'ME|M*E|M' --pipeline-model-parallel-size 3");
  EXPECT_EQ(staged.model.pattern, "MEM*EM");
  EXPECT_EQ(staged.model.mamba.heads, 24) << "2 x 768 / 64";
  EXPECT_EQ(staged.parallel.layout, "Ett|ttt|tL");
}

// Qwen3-Next of Pai-Megatron-Patch: two symbols of a pattern are a layer.
TEST(MegatronJob, QwenNextOfPai) {
  const std::string rest =
      "--hidden-size 2048 --ffn-hidden-size 5120 --moe-ffn-hidden-size 512 --num-experts 512 "
      "--num-attention-heads 16 --group-query-attention --num-query-groups 2 --kv-channels 256 "
      "--moe-router-topk 10 --moe-shared-expert-intermediate-size 512 --qk-layernorm --swiglu "
      "--normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights "
      "--position-embedding-type rope --seq-length 1024 --max-position-embeddings 1024 "
      "--micro-batch-size 1 --global-batch-size 8 --padded-vocab-size 151936 --bf16 "
      "--is-hybrid-model --hybrid-attention-ratio 0.125 --hybrid-mlp-ratio 0.5 "
      "--mamba-num-heads 32 --num-layers ";
  std::string pattern;
  for (int i = 0; i < 12; ++i) pattern += "M-M-M-*-";
  const std::string script = "torchrun pretrain_qwen3_next.py " + rest;
  ImportNotes notes;
  const Result<TrainingJob> job =
      Parse(script + "96 --hybrid-override-pattern " + pattern, {}, &notes);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  const ModelShape& m = job->model;
  EXPECT_EQ(m.layers, 48);
  EXPECT_EQ(m.pattern, "");
  EXPECT_EQ(m.PartsOf(2).mixer, Mixer::kDeltaNet);
  EXPECT_EQ(m.PartsOf(3).mixer, Mixer::kAttention);
  // Qwen3-Next-80B-A3B without its layer of multi-token prediction: the published 81,324,862,720
  // include that.
  EXPECT_EQ(ParameterCount(m), 79674391296);
  EXPECT_EQ(Join(notes.ignored), "--hybrid-attention-ratio, --hybrid-mlp-ratio");
  EXPECT_EQ(ErrorOf(script + "4 --hybrid-override-pattern M-M*"),
            "for Qwen3-Next, a pattern such as M-M-M-*-M-M-M-*- is generated: every n-th layer has "
            "attention, and all have experts");
  EXPECT_EQ(ErrorOf(script + "8 --hybrid-override-pattern M-M-M-*- "
                             "--decoder-first-pipeline-num-layers 2"),
            "--decoder-first-pipeline-num-layers counts the symbols of the pattern, two for each "
            "layer; give parallel.layout with --set");
}

TEST(MegatronJob, RecomputationNeedsAGranularity) {
  ImportNotes notes;
  const Result<TrainingJob> job = Parse(
      kGpt + std::string("--bf16 --recompute-num-layers 1 --recompute-method uniform"), {}, &notes);
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  EXPECT_EQ(notes.remarks,
            (std::vector<std::string>{
                "--recompute-num-layers has no effect without "
                "--recompute-granularity",
                "--recompute-method has no effect without --recompute-granularity"}));
}

TEST(MegatronJob, DefaultsOfWhatIsNotGenerated) {
  ImportNotes notes;
  ASSERT_TRUE(Parse(kGpt + std::string("--bf16 --dsa-indexer-topk-freq 1 --activation-offload-"
                                       "fraction 1.0 --linear-conv-kernel-dim 4"),
                    {}, &notes)
                  .ok());
  EXPECT_EQ(Join(notes.ignored),
            "--dsa-indexer-topk-freq, --activation-offload-fraction, "
            "--linear-conv-kernel-dim");
  EXPECT_TRUE(notes.unmodeled.empty());
}

TEST(MegatronJob, ArgumentsOfForks) {
  ImportNotes notes;
  ASSERT_TRUE(Parse(kGpt + std::string("--bf16 --sliding-window 4096 --enable-gpt-oss "
                                       "--softmax-type learnable --window-size 127,0 "
                                       "--qk-nope-head-dim 128"),
                    {}, &notes)
                  .ok());
  EXPECT_EQ(Join(notes.ignored), "--qk-nope-head-dim, --enable-gpt-oss");
  notes = {};
  ASSERT_TRUE(Parse(kGpt + std::string("--bf16 --sliding-window 4096"), {}, &notes).ok());
  EXPECT_EQ(Join(notes.ignored), "--sliding-window") << "no sequence is longer";
}

TEST(MegatronJob, GatedDeltaNetsGatesAndSinks) {
  const ModelShape m =
      Gpt("--bf16 --experimental-attention-variant gated_delta_net --linear-attention-freq 4 "
          "--linear-num-value-heads 64 --attention-output-gate --softmax-type learnable")
          .model;
  EXPECT_EQ(m.delta.attention_every, 4);
  EXPECT_EQ(m.delta.key_heads, 16);
  EXPECT_EQ(m.delta.value_heads, 64);
  EXPECT_TRUE(m.attention.gate && m.attention.sinks);
  EXPECT_FALSE(Gpt("--bf16 --softmax-type off-by-one").model.attention.sinks);
  EXPECT_EQ(Gpt("--bf16 --linear-num-value-heads 64 --mamba-num-heads 4").model.delta.value_heads,
            0);
}

TEST(MegatronJob, VocabularyFollowsTheTokenizer) {
  const auto vocab = [](const std::string& arguments) {
    const std::string gpt = kGpt;
    return Job(gpt.substr(0, gpt.find("--padded")) + "--bf16 " + arguments).model.embedding.vocab;
  };
  EXPECT_EQ(vocab("--tokenizer-type GPT2BPETokenizer"), 50257);
  EXPECT_EQ(vocab("--tokenizer-type NullTokenizer --vocab-size 131072"), 131073);
  EXPECT_EQ(vocab("--vocab-size 128256"), 128256);
  EXPECT_EQ(vocab("--tokenizer-type HuggingFaceTokenizer --tokenizer-model a/Qwen3-8B"), 151936);
  EXPECT_EQ(vocab("--tokenizer-type HuggingFaceTokenizer --tokenizer-model $HOME/Llama-3.1-8B"),
            128256);
  EXPECT_EQ(vocab("--patch-tokenizer-type Qwen2Tokenizer --extra-vocab-size 421"), 152064);
  EXPECT_EQ(vocab("--patch-tokenizer-type DeepSeekV2Tokenizer --extra-vocab-size 467"), 129280);
  EXPECT_EQ(vocab("--patch-tokenizer-type DeepSeekV2Tokenizer --extra-vocab-size 0"), 163840);
  EXPECT_EQ(vocab("--patch-tokenizer-type DeepSeekV2Tokenizer"), 131072) << "assumed";
}

TEST(MegatronJob, NumberFormats) {
  const auto precision = [](const std::string& words) {
    return Gpt("--bf16 --use-distributed-optimizer " + words).training.precision;
  };
  const PrecisionRules mxfp8 = precision(
      "--fp8-format e4m3 --fp8-recipe mxfp8 --fp8-param-gather --first-last-layers-bf16 "
      "--num-layers-at-end-in-bf16 2 --reuse-grad-buf-for-mxfp8-param-ag");
  EXPECT_EQ(mxfp8.products(), DataType::kMxfp8);
  EXPECT_TRUE(mxfp8.quantized_gather);
  EXPECT_EQ(mxfp8.half_layers_at_start, 1);
  EXPECT_EQ(mxfp8.half_layers_at_end, 2);
  const PrecisionRules blocks =
      precision("--fp8-format hybrid --fp8-recipe blockwise --num-layers-at-end-in-bf16 2");
  EXPECT_EQ(blocks.products(), DataType::kFp8Block);
  EXPECT_EQ(blocks.half_layers_at_end, 0) << "without --first-last-layers-bf16";
  EXPECT_EQ(precision("--fp8-format hybrid --fp8-recipe tensorwise").recipe,
            Fp8Recipe::kTensorwise);
  EXPECT_TRUE(precision("--fp8-format hybrid").delayed_scaling());
  EXPECT_EQ(precision("--fp4-format e2m1 --fp4-recipe nvfp4").products(), DataType::kNvfp4);
  EXPECT_EQ(precision("--fp8-recipe mxfp8").products(), DataType::kBf16) << "no format";
}

TEST(MegatronJob, TrainingArguments) {
  const TrainingRules half = Gpt("--fp16").training;
  EXPECT_EQ(half.precision.type, DataType::kFp16);
  EXPECT_EQ(half.precision.gradients, DataType::kFp16);
  EXPECT_FALSE(half.optimizer.check_gradients) << "dynamic loss scaling checks them";
  const TrainingRules t =
      Gpt("--bf16 --fp8-format hybrid --grad-reduce-in-bf16 --use-distributed-optimizer "
          "--ddp-bucket-size 1000 --clip-grad 0.0 --cross-entropy-loss-fusion "
          "--cross-entropy-fusion-impl te --use-nccl-ub --no-gradient-accumulation-fusion "
          "--attention-backend unfused --no-check-for-nan-in-loss-and-grad")
          .training;
  EXPECT_TRUE(t.precision.fp8 && t.optimizer.distributed);
  EXPECT_EQ(t.precision.gradients, DataType::kBf16);
  EXPECT_EQ(t.optimizer.bucket_elements, 1000);
  EXPECT_EQ(t.kernels.cross_entropy_fusion, CrossEntropyFusion::kTransformerEngine);
  EXPECT_EQ(t.optimizer.gradient_buffers, BufferKind::kSymmetric);
  EXPECT_FALSE(t.optimizer.gradient_clipping || t.kernels.gradient_accumulation_fusion ||
               t.optimizer.check_gradients);
}

TEST(MegatronJob, AttentionIsThatOfTheScript) {
  const auto kernels = [](const std::string& line) { return Job(line).training.kernels; };
  const std::string gpt = "torchrun pretrain_gpt.py " + std::string(kGpt) + "--bf16 ";
  EXPECT_EQ(kernels(gpt).attention, AttentionKernels::kAuto);
  EXPECT_EQ(kernels(gpt + "--attention-backend flash").attention, AttentionKernels::kFlash);
  EXPECT_EQ(kernels(gpt + "--attention-backend fused").attention, AttentionKernels::kCudnn);
  EXPECT_EQ(kernels("export NVTE_FUSED_ATTN=0\n" + gpt).attention, AttentionKernels::kFlash);
  EXPECT_EQ(kernels("NVTE_FLASH_ATTN=0 " + gpt).attention, AttentionKernels::kCudnn);
  EXPECT_EQ(kernels("NVTE_FLASH_ATTN=0 NVTE_FUSED_ATTN=0 " + gpt).attention,
            AttentionKernels::kUnfused);
  // FlashAttention has no sinks, and cuDNN no deterministic ones.
  const std::string sinks = gpt + "--softmax-type learnable ";
  EXPECT_EQ(kernels(sinks).attention, AttentionKernels::kAuto);
  EXPECT_EQ(kernels("NVTE_FUSED_ATTN=0 " + sinks).attention, AttentionKernels::kUnfused);
  EXPECT_EQ(kernels(sinks + "--deterministic-mode").attention, AttentionKernels::kUnfused);
  EXPECT_EQ(kernels("NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 " + sinks).attention,
            AttentionKernels::kUnfused);
  const KernelRules unfused = kernels(gpt + "--attention-backend unfused");
  EXPECT_TRUE(unfused.fused) << "the other modules are Transformer Engine's";
  EXPECT_EQ(unfused.attention, AttentionKernels::kUnfused);
}

TEST(MegatronJob, LargestValuesOverTensorRanks) {
  const auto alone = [](const std::string& more) {
    return Job("NVTE_DP_AMAX_REDUCE_INTERVAL=0 torchrun pretrain_gpt.py " + std::string(kGpt) +
               "--bf16 " + more)
        .training.precision.tp_only_amax_red;
  };
  EXPECT_TRUE(alone("--fp8-format hybrid"));
  EXPECT_FALSE(alone("--fp8-format hybrid --fp8-recipe tensorwise"));
  EXPECT_FALSE(alone(""));
}

TEST(MegatronJob, FourBitsAreThoseOfTheScript) {
  const auto precision = [](const std::string& before) {
    return Job(before + "\ntorchrun pretrain_gpt.py " + std::string(kGpt) +
               "--bf16 --fp4-format e2m1")
        .training.precision;
  };
  const PrecisionRules usual = precision("");
  EXPECT_TRUE(usual.nvfp4 && usual.hadamard && usual.stochastic_rounding && usual.square_blocks);
  EXPECT_FALSE(precision("export NVTE_NVFP4_DISABLE_RHT=1").hadamard);
  EXPECT_TRUE(precision("export NVTE_NVFP4_DISABLE_RHT=0").hadamard);
  EXPECT_FALSE(precision("export NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=1").stochastic_rounding);
  EXPECT_FALSE(precision("export NVTE_NVFP4_DISABLE_2D_QUANTIZATION=1").square_blocks);
  // Transformer Engine does not read them for other formats.
  EXPECT_TRUE(Job("NVTE_NVFP4_DISABLE_RHT=1 torchrun pretrain_gpt.py " + std::string(kGpt) +
                  "--bf16 --fp8-format hybrid")
                  .training.precision.hadamard);
}

TEST(MegatronJob, ModulesAreTransformerEnginesOrMegatronsOwn) {
  EXPECT_EQ(Gpt("--bf16").training.host.launch, "transformer-engine");
  for (const char* own :
       {"--transformer-impl local", "--spec local", "--attention-backend local"}) {
    const TrainingRules training = Gpt(std::string("--bf16 ") + own).training;
    EXPECT_FALSE(training.kernels.fused) << own;
    EXPECT_EQ(training.host.launch, "megatron-core") << own;
  }
  EXPECT_EQ(GptError("--bf16 --spec my.module spec"),
            "this kind of model is not generated; 'local' and 'te' are");
  EXPECT_EQ(GptError("--bf16 --spec"), "this kind of model is not generated; 'local' and 'te' are");
  EXPECT_EQ(GptError("--bf16 --spec megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec"),
            "needs --hybrid-layer-pattern");
}

TEST(MegatronJob, DeterministicAttentionIsNotedOnce) {
  const auto remarks = [](const std::string& before, const std::string& more) {
    ImportNotes notes;
    const auto job =
        Parse(before + "torchrun pretrain_gpt.py " + kGpt + "--bf16 " + more, {}, &notes);
    EXPECT_TRUE(job.ok());
    return notes.remarks;
  };
  const std::string off = "NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 ";
  EXPECT_EQ(remarks(off, ""), std::vector<std::string>{"NVTE_ALLOW_NONDETERMINISTIC_ALGO=0: " +
                                                       std::string(kDeterministicAttention)});
  EXPECT_TRUE(remarks("", "").empty());
  EXPECT_TRUE(remarks(off, "--attention-backend unfused").empty());
  // The tool says it of every deterministic job.
  EXPECT_TRUE(remarks(off, "--deterministic-mode").empty());
  const auto holds = [](const std::string& more) {
    return HasDeterministicAttention(Gpt("--bf16 --deterministic-mode " + more));
  };
  EXPECT_TRUE(holds(""));
  EXPECT_FALSE(holds("--attention-backend unfused"));
  EXPECT_FALSE(holds("--attention-backend local"));
  EXPECT_FALSE(HasDeterministicAttention(Gpt("--bf16")));
}

TEST(MegatronJob, ArgumentsThatOnlyTheHostFeels) {
  const HostRules host =
      Gpt("--bf16 --deterministic-mode --log-params-norm --log-num-zeros-in-grad").training.host;
  EXPECT_TRUE(host.deterministic && host.log_params_norm && host.log_zeros);
}

TEST(MegatronJob, WorkspaceOfCublas) {
  const auto workspace = [](const std::string& value) {
    return Job("CUBLAS_WORKSPACE_CONFIG=" + value + " python pretrain_gpt.py --bf16 " +
               std::string(kGpt))
        .memory.cublas_workspace.count();
  };
  EXPECT_EQ(workspace(":4096:8"), 32 << 20);
  EXPECT_EQ(workspace(":4096:2:16:8"), (8 << 20) + (128 << 10));
  EXPECT_EQ(
      ErrorOf("CUBLAS_WORKSPACE_CONFIG=4096 python pretrain_gpt.py --bf16 " + std::string(kGpt)),
      "CUBLAS_WORKSPACE_CONFIG is '4096'; it must be pairs of a size in KiB and a number, such "
      "as :4096:8");
}

TEST(MegatronJob, CudaGraphs) {
  const auto graphs = [](const std::string& arguments) {
    return Gpt("--bf16 --no-check-for-nan-in-loss-and-grad " + arguments)
        .training.host.cuda_graphs.Text();
  };
  EXPECT_EQ(graphs("--cuda-graph-scope full"), "none");
  EXPECT_EQ(graphs("--enable-cuda-graph"), "layers");
  EXPECT_EQ(graphs("--external-cuda-graph --cuda-graph-scope full"), "layers");
  EXPECT_EQ(graphs("--cuda-graph-impl local --cuda-graph-scope full_iteration"), "full_iteration");
  EXPECT_EQ(graphs("--cuda-graph-impl full_iteration"), "full_iteration");
  EXPECT_EQ(graphs("--cuda-graph-impl transformer_engine --cuda-graph-modules attn mlp"),
            "[attn, mlp]");
  const std::string experts =
      "--num-experts 8 --expert-model-parallel-size 4 --moe-token-dispatcher-type alltoall "
      "--cuda-graph-modules attn moe_router ";
  EXPECT_EQ(graphs(experts + "--cuda-graph-impl transformer_engine"), "[attn, moe_router]");
  EXPECT_EQ(graphs(experts + "--cuda-graph-impl local"), "[attn, moe_router, moe_preprocess]");
  const auto maker = [&](const std::string& arguments) {
    return Gpt("--bf16 " + experts + arguments).training.host.graph_maker;
  };
  EXPECT_EQ(maker("--cuda-graph-impl local"), GraphMaker::kLocal);
  EXPECT_EQ(maker("--enable-cuda-graph"), GraphMaker::kLocal);
  EXPECT_EQ(maker("--cuda-graph-impl transformer_engine"), GraphMaker::kTransformerEngine);
  EXPECT_EQ(maker(""), GraphMaker::kTransformerEngine);
}

TEST(MegatronJob, RefusesGraphsAsMegatronDoes) {
  EXPECT_EQ(GptError("--bf16 --cuda-graph-impl full_iteration --cuda-graph-modules attn"),
            "--cuda-graph-impl full_iteration excludes parts of a layer");
  EXPECT_EQ(GptError("--bf16 --cuda-graph-impl transformer_engine --cuda-graph-scope "
                     "full_iteration"),
            "full_iteration needs --cuda-graph-impl local or full_iteration");
}

TEST(MegatronJob, RecomputeArguments) {
  EXPECT_TRUE(Gpt("--bf16 --recompute-activations").training.recompute.modules.core_attention);
  const TrainingRules full = Gpt("--bf16 --recompute-granularity full --recompute-method block "
                                 "--recompute-num-layers 3")
                                 .training;
  EXPECT_EQ(full.recompute.granularity, Recompute::kFull);
  EXPECT_EQ(full.recompute.method, RecomputeMethod::kBlock);
  EXPECT_EQ(full.recompute.layers, 3);
  EXPECT_EQ(Gpt("--bf16 --recompute-granularity full --recompute-method block "
                "--recompute-num-layers 0")
                .training.recompute.layers,
            0)
      << "no layer";
  const TrainingRules some =
      Gpt("--bf16 --transformer-impl local --recompute-granularity selective "
          "--recompute-modules mlp layernorm")
          .training;
  EXPECT_TRUE(some.recompute.modules.mlp && some.recompute.modules.norms);
  EXPECT_FALSE(some.recompute.modules.core_attention);
  // Transformer Engine fuses the norms of dense layers.
  const std::string norms = "--bf16 --recompute-granularity selective --recompute-modules ";
  EXPECT_FALSE(Gpt(norms + "mlp layernorm").training.recompute.modules.norms);
  EXPECT_EQ(Gpt(norms + "layernorm").training.recompute.granularity, Recompute::kNone);
  EXPECT_EQ(Gpt("--bf16 --recompute-granularity full --recompute-method uniform "
                "--recompute-num-layers 1 --recompute-modules layernorm")
                .training.recompute.granularity,
            Recompute::kFull);
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

TEST(MegatronJob, LevelsOfContextParallelism) {
  const auto rules = [](const std::string& sizes) {
    return Gpt("--bf16 --context-parallel-size 8 --cp-comm-type a2a+p2p "
               "--hierarchical-context-parallel-sizes " +
               sizes)
        .parallel;
  };
  EXPECT_EQ(rules("2 4").context_type, ContextType::kHeadsAndRing);
  EXPECT_EQ(rules("2 4").context_heads, 2);
  EXPECT_EQ(rules("1 8").context_type, ContextType::kP2p)
      << "Transformer Engine leaves out a level";
  EXPECT_EQ(rules("8 1").context_type, ContextType::kAllToAll);
  EXPECT_EQ(rules("8 1").context_heads, 0);
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
  EXPECT_EQ(m.attention.full_attention_first, 40);
  EXPECT_FALSE(m.attention.HasWindow(39));
  EXPECT_TRUE(m.attention.HasWindow(40) && m.attention.HasWindow(47));
  EXPECT_EQ(
      Gpt("--bf16 --window-size (127,0) --window-attn-skip-freq [0]*48").model.attention.window, 0);
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

TEST(MegatronJob, SequenceParallelismNeedsTensorParallelism) {
  EXPECT_FALSE(Gpt("--bf16 --sequence-parallel").parallel.sequence_parallel);
}

TEST(MegatronJob, GlobalBatchDefaultsToOneMicroBatchPerRank) {
  std::string gpt = kGpt;
  gpt = gpt.substr(0, gpt.find("--global")) + gpt.substr(gpt.find("--padded"));
  EXPECT_EQ(Job("torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --bf16 "
                "--tensor-model-parallel-size 2 " +
                gpt)
                .training.batch.global,
            4 * 32 / 2);
  EXPECT_EQ(ErrorOf(gpt + "--bf16"),
            "--global-batch-size is not given, and the launch command does not state the number of "
            "GPUs");
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
  EXPECT_EQ(job.training.moe.dispatcher, MoeDispatcher::kAllToAll);
  EXPECT_TRUE(job.training.moe.grouped_gemm && job.training.moe.aux_loss);
  EXPECT_EQ(job.parallel.expert, 8);
  const TrainingJob plain = Job(kMixtral);
  EXPECT_EQ(plain.training.moe.dispatcher, MoeDispatcher::kAllGather) << "Megatron's default";
  EXPECT_FALSE(plain.training.moe.grouped_gemm || plain.training.moe.aux_loss);
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
  EXPECT_EQ(job.model.embedding.vocab_multiple, 3232);
  EXPECT_EQ(job.training.moe.dispatcher, MoeDispatcher::kFlex);
  EXPECT_TRUE(job.training.moe.aux_loss);
  EXPECT_EQ(job.parallel.expert_tensor, 1);
}

TEST(MegatronJob, SparseAttention) {
  const std::string sparse =
      "--bf16 --disable-bias-linear --multi-latent-attention --kv-lora-rank 512 --qk-head-dim 128 "
      "--qk-pos-emb-head-dim 64 --v-head-dim 128 --experimental-attention-variant dsa "
      "--dsa-indexer-n-heads 4 --dsa-indexer-head-dim 128 --dsa-indexer-topk 2048 ";
  const auto loss = [&](const std::string& more) {
    return Gpt(sparse + more).model.attention.sparse.loss;
  };
  const SparseShape shape = Gpt(sparse).model.attention.sparse;
  EXPECT_EQ(shape.top_k, 2048);
  EXPECT_EQ(shape.heads, 4);
  EXPECT_EQ(shape.head_dim, 128);
  EXPECT_EQ(shape.loss, IndexLoss::kNone) << "no coefficient";
  EXPECT_EQ(loss("--dsa-indexer-loss-coeff 0.0 --dsa-indexer-use-sparse-loss"), IndexLoss::kNone);
  EXPECT_EQ(loss("--dsa-indexer-loss-coeff 0.01"), IndexLoss::kDense);
  EXPECT_EQ(loss("--dsa-indexer-loss-coeff 1e-3 --dsa-indexer-use-sparse-loss"),
            IndexLoss::kSparse);
  EXPECT_EQ(Gpt(sparse).training.kernels.sparse_attention, SparseKernels::kUnfused);
  EXPECT_EQ(Gpt(sparse + "--dsa-kernel-backend tilelang --num-attention-heads 16")
                .training.kernels.sparse_attention,
            SparseKernels::kTileLang);
  EXPECT_FALSE(Gpt("--bf16 --dsa-indexer-use-sparse-loss").model.attention.is_sparse());
}

TEST(MegatronJob, TheFlexDispatcherHasBackends) {
  const std::string flex =
      "--bf16 --num-experts 8 --expert-model-parallel-size 4 --moe-token-dispatcher-type flex "
      "--disable-bias-linear --moe-deepep-num-sms 24 --moe-hybridep-num-sms 32 ";
  EXPECT_EQ(Gpt(flex).training.moe.dispatcher, MoeDispatcher::kFlex);
  EXPECT_EQ(Gpt(flex).training.moe.dispatch_sms, 24);
  const ExpertRules hybrid = Gpt(flex + "--moe-flex-dispatcher-backend hybridep").training.moe;
  EXPECT_EQ(hybrid.dispatcher, MoeDispatcher::kHybridEp);
  EXPECT_EQ(hybrid.dispatch_sms, 32);
  EXPECT_FALSE(hybrid.router_fusion);
  EXPECT_TRUE(Gpt(flex + "--moe-router-fusion").training.moe.router_fusion);
  EXPECT_EQ(GptError(flex + "--moe-flex-dispatcher-backend hybrid-ep"),
            "'hybrid-ep' is not a value of --moe-flex-dispatcher-backend; did you mean "
            "'hybridep'?; valid values are deepep, hybridep");
}

TEST(MegatronJob, RandomScoresOfTheRouter) {
  const auto loads = [](const std::string& more) {
    return Gpt("--bf16 --num-experts 8 --disable-bias-linear --moe-router-force-load-balancing " +
               more)
        .training.moe.loads;
  };
  EXPECT_EQ(loads("--expert-model-parallel-size 4"), "random");
  EXPECT_EQ(loads(""), "uniform");
  EXPECT_EQ(loads("--expert-model-parallel-size 4 --moe-expert-capacity-factor 1 "
                  "--moe-pad-expert-input-to-capacity"),
            "uniform");
  EXPECT_EQ(Gpt("--bf16 --moe-router-force-load-balancing").training.moe.loads, "uniform");
}

TEST(MegatronJob, ExpertOverlap) {
  const std::string experts =
      "--bf16 --num-experts 8 --expert-model-parallel-size 4 --moe-token-dispatcher-type alltoall "
      "--disable-bias-linear --overlap-moe-expert-parallel-comm ";
  EXPECT_TRUE(Gpt(experts).overlap.expert);
  EXPECT_FALSE(Gpt(experts).overlap.delay_weight_gradients);
  EXPECT_TRUE(Gpt(experts + "--delay-wgrad-compute").overlap.delay_weight_gradients);
  EXPECT_EQ(GptError(experts + "--pipeline-model-parallel-size 2"),
            "--overlap-moe-expert-parallel-comm with --pipeline-model-parallel-size 2 needs "
            "--num-virtual-stages-per-pipeline-rank above 1");
  EXPECT_EQ(GptError(experts + "--recompute-granularity full --recompute-method uniform"),
            "--overlap-moe-expert-parallel-comm excludes --recompute-granularity full");
  EXPECT_EQ(
      GptError(experts + "--moe-token-dispatcher-type allgather"),
      "--overlap-moe-expert-parallel-comm needs --moe-token-dispatcher-type alltoall or flex");
}

TEST(MegatronJob, IgnoresArgumentsOfExpertsWithoutExperts) {
  EXPECT_EQ(Gpt("--bf16 --moe-grouped-gemm --moe-ffn-hidden-size 5 --moe-expert-capacity-factor 1 "
                "--expert-tensor-parallel-size 1 --num-experts 0")
                .model.moe.experts,
            0);
}

TEST(MegatronJob, MegatronFsdp) {
  const TrainingJob job =
      Gpt("--bf16 --use-megatron-fsdp --use-nccl-ub --suggested-communication-unit-size 800000000 "
          "--calculate-per-token-loss --num-distributed-optimizer-instances 2 "
          "--outer-dp-sharding-strategy optim --init-model-with-meta-device");
  EXPECT_TRUE(job.training.optimizer.distributed);
  EXPECT_EQ(job.training.optimizer.instances, 2);
  EXPECT_EQ(job.training.precision.gradients, DataType::kBf16);
  const MegatronFsdpRules& rules = job.megatron_fsdp;
  EXPECT_TRUE(rules.shards_parameters() && rules.outer_optimizer && rules.double_buffer &&
              rules.per_token_loss);
  EXPECT_EQ(rules.communication_elements, 800000000);
  EXPECT_EQ(Gpt("--bf16 --use-megatron-fsdp --data-parallel-sharding-strategy optim "
                "--megatron-fsdp-main-grads-dtype fp32")
                .training.precision.gradients,
            DataType::kFp32);
  EXPECT_FALSE(Gpt("--bf16 --data-parallel-sharding-strategy optim").megatron_fsdp.any());
  EXPECT_EQ(GptError("--bf16 --use-megatron-fsdp --megatron-fsdp-grad-comm-dtype fp16"),
            "gradients that are reduced in fp16 and kept in another type are not generated; give "
            "both in one type");
}

TEST(MegatronJob, OffloadedLayers) {
  EXPECT_EQ(Gpt("--bf16 --cpu-offloading-num-layers 5").training.offload_layers, 5);
  EXPECT_EQ(Gpt("--bf16 --cpu-offloading-num-layers 0").training.offload_layers, 0);
}

// Transformer Engine takes the fused kernels if NVTE_CUTEDSL_FUSED_GROUPED_MLP says so.
TEST(MegatronJob, FuserOfOpsAloneDoesNotFuseExperts) {
  const std::string experts =
      "--bf16 --fp8-format e4m3 --fp8-recipe blockwise --swiglu --disable-bias-linear "
      "--num-experts 8 --moe-grouped-gemm --use-transformer-engine-op-fuser "
      "--use-distributed-optimizer";
  EXPECT_FALSE(Gpt(experts).training.moe.fused_mlp);
  ImportNotes notes;
  EXPECT_TRUE(Parse("NVTE_CUTEDSL_FUSED_GROUPED_MLP=1 torchrun pretrain_gpt.py " +
                        std::string(kGpt) + experts,
                    {}, &notes)
                  .ok());
  EXPECT_EQ(notes.remarks,
            std::vector<std::string>{"NVTE_CUTEDSL_FUSED_GROUPED_MLP=1 is not read; where "
                                     "Transformer Engine fuses the experts, give --set "
                                     "training.moe_fused_mlp=true --set "
                                     "training.moe_grouped_kernel=one"});
}

TEST(MegatronJob, OffloadedModules) {
  const auto rules = [](const std::string& more) {
    return Gpt("--bf16 --fine-grained-activation-offloading " + more).training.module_offload;
  };
  const ModuleOffloadRules some = rules("--offload-modules core_attn attn_proj");
  EXPECT_TRUE(some.modules.core_attention && some.modules.proj && !some.modules.qkv);
  EXPECT_EQ(some.min_elements, 1 << 20);
  EXPECT_EQ(rules("--offload-modules qkv_linear --min-offloaded-tensor-size 9").min_elements, 9);
  EXPECT_FALSE(Gpt("--bf16 --offload-modules core_attn").training.module_offload.any());
  // The norm before standard attention is part of a product.
  EXPECT_FALSE(rules("--offload-modules attn_norm").any());
  EXPECT_TRUE(rules("--offload-modules attn_norm qkv_linear").modules.qkv);
}

TEST(MegatronJob, Muon) {
  const OptimizerRules muon =
      Gpt("--bf16 --optimizer muon --muon-tp-mode blockwise --muon-num-ns-steps 4 --muon-nesterov "
          "--muon-no-split-qkv --no-use-layer-wise-param-layout --use-distributed-optimizer")
          .training.optimizer;
  EXPECT_TRUE(muon.is_muon() && muon.distributed && muon.muon.nesterov);
  EXPECT_FALSE(muon.muon.split_qkv || muon.muon.layout || muon.scatters());
  EXPECT_EQ(muon.muon.steps, 4);
  EXPECT_EQ(muon.muon.tensor_mode, MuonTensorMode::kBlockwise);
  const OptimizerRules dist = Gpt("--bf16 --optimizer dist_muon").training.optimizer;
  EXPECT_TRUE(dist.is_muon() && dist.distributed && dist.scatters());
}

}  // namespace
}  // namespace drydock
