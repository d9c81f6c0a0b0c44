// Mistakes in arguments of Megatron-LM, and arguments that are not generated, are reported.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workload-gen/import/megatron/megatron_arguments.h"
#include "workload-gen/testing/megatron_job_testing.h"

namespace drydock {
namespace {

TEST(MegatronJobMistakes, NamesMissingArguments) {
  const Result<TrainingJob> job = Parse("--num-layers 2 --bf16");
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(
      job.error().ToString(),
      "run.sh: error: --seq-length is not given\n"
      "run.sh: error: --hidden-size is not given\n"
      "run.sh: error: --num-attention-heads is not given\n"
      "run.sh: error: --max-position-embeddings is not given\n"
      "run.sh: error: --micro-batch-size is not given\n"
      "run.sh: error: --global-batch-size is not given, and the launch command does not state "
      "the number of GPUs");
}

TEST(MegatronJobMistakes, SetGivesWhatArgumentsDoNot) {
  ArgumentRules rules;
  rules.set_keys = {"model.layers", "model.vocab"};
  const Result<TrainingJob> job = Parse(
      "--bf16 --hidden-size 64 --num-attention-heads 4 --seq-length 32 --micro-batch-size 1 "
      "--tokenizer-type NullTokenizer --max-position-embeddings 32",
      rules);
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(
      job.error().ToString(),
      "run.sh: error: --global-batch-size is not given, and the launch command does not state "
      "the number of GPUs");
}

TEST(MegatronJobMistakes, NamesTheArgumentsThatAScriptTakes) {
  EXPECT_EQ(ErrorOf("MBS=$3\nif [ $2 = 7B ]; then L=32; else L=80; fi\n"
                    "torchrun pretrain_gpt.py --num-layers $L --micro-batch-size $MBS\n"),
            "the script takes $2, $3 (MBS) from its caller; give them with --variable '@=VALUE "
            "...', all in order, or one by one with --variable N=VALUE");
}

TEST(MegatronJobMistakes, ReportsAReasonOnce) {
  EXPECT_EQ(GptError("--bf16 --perform-rl-step --grpo-iterations 2 --rl-partial-rollouts"),
            "'--perform-rl-step': reinforcement learning is not generated");
}

TEST(MegatronJobMistakes, ReportsMistakesAtTheValue) {
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
TEST_P(MegatronJobMistake, IsReported) {
  EXPECT_EQ(GptError(GetParam().arguments), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, MegatronJobMistake,
    testing::Values(
        Mistake{"", "--bf16 or --fp16 is not given; training in fp32 is not generated"},
        Mistake{"--bf16 --fp16", "--fp16 excludes --bf16"},
        Mistake{"--bf16 --hybrid-layer-pattern M*", "'M*' has 2 layers; --num-layers says 48"},
        Mistake{"--bf16 --is-hybrid-model", "needs --hybrid-layer-pattern"},
        Mistake{"--bf16 --hybrid-attention-ratio 0.1",
                "--hybrid-attention-ratio does not say which layers have attention; give "
                "--hybrid-layer-pattern"},
        Mistake{"--bf16 --disable-vision-class-token --patch-size 14 --freeze-ViT",
                "'--disable-vision-class-token': a tower of images beside the language model is "
                "not generated"},
        Mistake{"--bf16 --sliding-window 1024",
                "no model of Megatron-Core in Pai-Megatron-Patch reads --sliding-window; give "
                "--window-size 1023,0 if attention has this window, and else leave it out"},
        Mistake{"--bf16 --enable-gpt-oss",
                "--enable-gpt-oss stands for other arguments; give them, such as --softmax-type "
                "learnable --window-size 127,0 --window-attn-skip-freq 2"},
        Mistake{"--bf16 --experimental-attention-variant gdn2",
                "'gdn2' is not generated; dsa, gdn and gated_delta_net are"},
        Mistake{"--bf16 --experimental-attention-variant dsa",
                "'dsa' needs --multi-latent-attention"},
        Mistake{"--bf16 --multi-latent-attention --experimental-attention-variant dsa "
                "--dsa-indexer-topk 2048 --dsa-indexer-n-heads 64",
                "'dsa' needs --dsa-indexer-head-dim"},
        Mistake{"--bf16 --dsa-indexer-topk-freq 2",
                "'--dsa-indexer-topk-freq': every layer has an indexer; layers that share their "
                "picks are not generated"},
        Mistake{"--bf16 --attention-backend bogus",
                "'bogus' is not a value of --attention-backend; valid values are auto, flash, "
                "fused, unfused, local"},
        Mistake{"--bf16 --attention-backend flash --softmax-type off-by-one",
                "flash excludes --softmax-type off-by-one, which FlashAttention does not have"},
        Mistake{"--bf16 --cross-entropy-loss-fusion --deterministic-mode",
                "--deterministic-mode excludes --cross-entropy-loss-fusion"},
        Mistake{"--bf16 --num-experts 8 --moe-token-dispatcher-type alltoall "
                "--overlap-moe-expert-parallel-comm",
                "--overlap-moe-expert-parallel-comm needs --expert-model-parallel-size above 1"},
        Mistake{"--bf16 --num-experts 8 --expert-model-parallel-size 2 "
                "--overlap-moe-expert-parallel-comm",
                "--overlap-moe-expert-parallel-comm needs --moe-token-dispatcher-type alltoall or "
                "flex"},
        Mistake{"--bf16 --num-experts 8 --expert-model-parallel-size 2 "
                "--moe-token-dispatcher-type alltoall --pipeline-model-parallel-size 4 "
                "--overlap-moe-expert-parallel-comm",
                "--overlap-moe-expert-parallel-comm with --pipeline-model-parallel-size 4 needs "
                "--num-virtual-stages-per-pipeline-rank above 1"},
        Mistake{"--bf16 --num-experts 8 --expert-model-parallel-size 2 "
                "--moe-token-dispatcher-type alltoall --recompute-granularity selective "
                "--recompute-modules moe --overlap-moe-expert-parallel-comm",
                "--overlap-moe-expert-parallel-comm excludes --recompute-modules moe"},
        Mistake{"--bf16 --delay-wgrad-compute",
                "--delay-wgrad-compute needs --overlap-moe-expert-parallel-comm"},
        Mistake{"--bf16 true", "unexpected 'true': '--bf16' takes no value"},
        Mistake{"--bf16 --hidden-size", "'--hidden-size' needs a value"},
        Mistake{"--bf16 --clip-grad 1 2", "unexpected '2': '--clip-grad' takes one value"},
        Mistake{"--bf16 --normalization RMSnorm",
                "'RMSnorm' is not a value of --normalization; did you mean 'RMSNorm'?; valid "
                "values are "
                "LayerNorm, RMSNorm"},
        Mistake{"--bf16 --position-embedding-type relative",
                "'relative' is not a value of --position-embedding-type; valid values are "
                "learned_absolute, "
                "rope, mrope, yarn, none"},
        Mistake{"--bf16 --swiglu --squared-relu", "excludes --swiglu"},
        Mistake{"--bf16 --num-experts 8 --moe-layer-freq [0,1]*24",
                "'[0,1]*24': expected dense layers at the start, then experts in every n-th layer"},
        Mistake{"--bf16 --num-experts 8 --moe-layer-freq [1]*47",
                "'[1]*47' is a list of 47 layers; the model has 48"},
        Mistake{"--bf16 --window-size 1,1", "'1,1': expected (number of keys before, 0)"},
        Mistake{"--bf16 --optimizer sgd",
                "'sgd' is not a value of --optimizer; valid values are adam, muon, dist_muon"},
        Mistake{"--bf16 --cp-comm-type p2p a2a", "expected one type for all layers"},
        Mistake{"--bf16 --cp-comm-type a2a+p2q",
                "'a2a+p2q' is not a value of --cp-comm-type; did you mean 'a2a+p2p'?; valid values "
                "are p2p, a2a, allgather, all_gather, a2a+p2p"},
        Mistake{"--bf16 --context-parallel-size 8 --cp-comm-type a2a+p2p",
                "a2a+p2p needs --hierarchical-context-parallel-sizes"},
        Mistake{"--bf16 --context-parallel-size 8 --cp-comm-type a2a+p2p "
                "--hierarchical-context-parallel-sizes 2 2",
                "the product of the sizes is 4, but --context-parallel-size is 8"},
        Mistake{"--bf16 --context-parallel-size 8 --cp-comm-type p2p "
                "--hierarchical-context-parallel-sizes 2 2",
                "the product of the sizes is 4, but --context-parallel-size is 8"},
        Mistake{"--bf16 --context-parallel-size 8 --cp-comm-type a2a+p2p "
                "--hierarchical-context-parallel-sizes 2 2 2",
                "expected two sizes for a2a+p2p, not 3"},
        Mistake{"--bf16 --context-parallel-size 8 --cp-comm-type a2a+p2p "
                "--hierarchical-context-parallel-sizes 2 four",
                "'four': expected a whole number from 1 to 1048576"},
        Mistake{"--bf16 --num-layers-per-virtual-pipeline-stage 7",
                "48 layers are not divisible by 1 stages x 7 layers"},
        Mistake{"--bf16 --pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2 "
                "--pipeline-model-parallel-layout 'Et*12|t*12|t*12|t*12L'",
                "excludes --pipeline-model-parallel-layout"},
        Mistake{"--bf16 --pipeline-model-parallel-size 4 "
                "--pipeline-model-parallel-layout 'Et*12|t*12|t*12|t*11L'",
                "layout 'Et*12|t*12|t*12|t*11L': it has 47 t, but layers is 48; the "
                "nearest that works is 'Et*12|t*12|t*12|t*12L'"},
        Mistake{"--bf16 --window-size 9,0 --window-attn-skip-freq [1,0,0]*16",
                "'[1,0,0]*16': expected a number, or a list with n layers without a window at the "
                "start, then every n-th"},
        Mistake{"--bf16 --window-size 9,0 --window-attn-skip-freq [1,0]*3",
                "'[1,0]*3' is a list of 6 layers; the model has 48"},
        Mistake{
            "--bf16 --ffn-hidden-size $FFN",
            "the value of '--ffn-hidden-size': $FFN is not known: the script does not assign it; "
            "give it with --variable FFN=VALUE"},
        Mistake{
            "--bf16 --use-torch-fsdp2",
            "'--use-torch-fsdp2': of Megatron-LM, its own data parallelism and Megatron-FSDP are "
            "read; write a model.yaml for PyTorch's FSDP and DeepSpeed"},
        Mistake{"--bf16 --use-megatron-fsdp --megatron-fsdp-version 2",
                "'--megatron-fsdp-version': of Megatron-FSDP, version 1 is generated"},
        Mistake{"--bf16 --activation-offload-fraction 0.5",
                "'--activation-offload-fraction': all groups of --offload-modules are offloaded, "
                "except "
                "for the last ones of a pass; leave this out"},
        Mistake{"--bf16 --fine-grained-activation-offloading",
                "--fine-grained-activation-offloading needs --offload-modules"},
        Mistake{"--bf16 --clip-grad none", "'none' is not a number"},
        Mistake{"--bf16 --inference-max-requests 8",
                "'--inference-max-requests': inference is out of scope: Drydock rehearses "
                "iterations of training"},
        Mistake{
            "--bf16 --checkpoint-activations",
            "'--checkpoint-activations': Megatron-LM removed it; give --recompute-activations"}));

TEST(MegatronJobMistakes, InferenceScriptsAreRefused) {
  EXPECT_EQ(ErrorOf("torchrun tools/run_text_generation_server.py " + std::string(kGpt) + "--bf16"),
            "'run_text_generation_server.py': inference is out of scope: Drydock rehearses "
            "iterations of training");
}

TEST(MegatronJobMistakes, EncodersHaveNoCausalMask) {
  EXPECT_FALSE(Job("python pretrain_bert.py --bf16 " + std::string(kGpt)).model.attention.causal);
}

TEST(MegatronJobMistakes, ListsArgumentsWithoutAKey) {
  ImportNotes notes;
  ASSERT_TRUE(
      Parse(kGpt + std::string("--bf16 --lr 1e-4 --num-layer 3 --no-bias-swiglu-fusion $EXTRA "
                               "--made-up 1 2 --data-path a b"),
            {.ignore_unknown = true}, &notes)
          .ok());
  EXPECT_EQ(notes.Lines("run.sh"),
            (std::vector<std::string>{
                "run.sh: 3 unknown and ignored: --num-layer (did you mean '--num-layers'?), $EXTRA "
                "(no line before assigns it; give --variable), --made-up",
                "run.sh: 1 not modeled: --no-bias-swiglu-fusion (activation kernels)",
                "run.sh: 2 ignored, no effect: --lr, --data-path"}));
}

TEST(MegatronJobMistakes, UnknownArgumentsAreErrors) {
  EXPECT_EQ(GptError("--bf16 --num-layer 3"),
            "Megatron-LM has no argument '--num-layer'; did you mean '--num-layers'?; "
            "--ignore-unknown leaves it out");
  EXPECT_EQ(GptError("--bf16 --zzzzzzzz"),
            "Megatron-LM has no argument '--zzzzzzzz'; --ignore-unknown leaves it out");
  EXPECT_EQ(
      GptError("--bf16 $EXTRA"),
      "arguments of the training command: $EXTRA is not known: the script does not assign it; give "
      "it with --variable EXTRA=VALUE, with --variable EXTRA= if it is empty, or leave it out with "
      "--ignore-unknown");
}

// It asks its caller for R.
TEST(MegatronJobMistakes, VariablesOfAnotherPathAreErrors) {
  const std::string script =
      "AC=false\nif [ $AC = full ]; then\n  R='--recompute-granularity full'\n"
      "fi\n[ -z \"$R\" ] && echo nothing is repeated\ntorchrun pretrain_gpt.py " +
      std::string(kGpt) + "--bf16 $R\n";
  EXPECT_EQ(
      ErrorOf(script),
      "arguments of the training command: $R is not known: line 3 assigns it, on a path that "
      "does not run before this; give it with --variable R=VALUE, with --variable R= if it is "
      "empty, or leave it out with --ignore-unknown");
  ImportNotes notes;
  EXPECT_TRUE(MegatronJob(script, "run.sh", {{"R", ""}}, {}, &notes).ok());
  EXPECT_TRUE(notes.unknown.empty());
  EXPECT_TRUE(MegatronJob(script, "run.sh", {}, {.ignore_unknown = true}, &notes).ok());
  EXPECT_EQ(notes.unknown,
            std::vector<std::string>{"$R (no line before assigns it; give --variable)"});
}

// An unknown $NAME may stand for more arguments: it is neither swallowed by the argument before it
// nor left out.
TEST(MegatronJobMistakes, ArgumentsThatAreNotKnownAreErrors) {
  EXPECT_EQ(GptError("--bf16 --save $DIR --data-path $DATA"), "");
  EXPECT_EQ(GptError("--bf16 --data-path 0.3 $A 0.7 $B"), "");
  const char* const more =
      "arguments of the training command: $MORE is not known: the script does not assign it; give "
      "it with --variable MORE=VALUE, with --variable MORE= if it is empty, or leave it out with "
      "--ignore-unknown";
  EXPECT_EQ(GptError("--bf16 --data-path $DATA $MORE"), more);
  EXPECT_EQ(GptError("--bf16 --data-path /data $MORE"), more);
  EXPECT_EQ(GptError("--$MORE"), std::string(more).substr(0, std::string(more).find(", with ")));
  const std::string script = "[ -f x ] && LAYOUT=--sequence-parallel\npython pretrain_gpt.py " +
                             std::string(kGpt) + "--bf16 $LAYOUT";
  ImportNotes notes;
  const Result<YamlNode> job = MegatronJob(script, "run.sh", {}, {.ignore_unknown = true}, &notes);
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().message(),
            "arguments of the training command: $LAYOUT is not known: the command after this '&&' "
            "may assign it or not, as its condition is not known; give it with --variable "
            "LAYOUT=VALUE");
}

TEST(MegatronJobMistakes, StrictRejectsUnmodeledArguments) {
  EXPECT_EQ(GptError("--bf16 --lr 1e-4", {.strict = true}), "");
  EXPECT_EQ(GptError("--bf16 --no-bias-swiglu-fusion", {.strict = true}),
            "not modeled: --no-bias-swiglu-fusion (activation kernels)");
}

TEST(MegatronJobMistakes, EveryArgumentIsSortedOnce) {
  EXPECT_GT(MegatronArguments().size(), 390u);
  for (const auto& [name, argument] : MegatronArguments()) {
    EXPECT_TRUE(name.starts_with("--")) << name;
    const bool explained = argument.effect == MegatronArgument::Effect::kRefused ||
                           argument.effect == MegatronArgument::Effect::kUnmodeled;
    EXPECT_EQ(argument.text.empty(), !explained) << name;
  }
}

}  // namespace
}  // namespace drydock
