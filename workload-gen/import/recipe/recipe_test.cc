#include "workload-gen/import/recipe/recipe.h"

#include <gtest/gtest.h>

#include "core/base/spelling.h"

namespace drydock {
namespace {

using Variables = std::map<std::string, std::string>;

Result<LaunchLine> Read(const std::string& text, ImportNotes* notes,
                        const Variables& variables = {}, bool strict = false) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, "recipe.yaml"));
  EXPECT_TRUE(IsRecipe(root));
  return ReadRecipe(root, "recipe.yaml", variables, strict, notes);
}

std::string Arguments(const std::string& text, const Variables& variables = {}) {
  ImportNotes notes;
  const Result<LaunchLine> line = Read(text, &notes, variables);
  EXPECT_TRUE(line.ok()) << line.error().ToString();
  if (!line.ok()) return "";
  std::vector<std::string> words;
  for (const ScriptWord& word : line->arguments) {
    words.push_back(word.text + (word.unresolved.empty() ? "" : "<" + word.unresolved + ">"));
  }
  return Join(words, " ");
}

std::string ErrorOf(const std::string& text) {
  ImportNotes notes;
  const Result<LaunchLine> line = Read(text, &notes);
  return line.ok() ? "" : line.error().message();
}

constexpr const char* kTrainer = "trainer: {num_nodes: 2, devices: 8, precision: bf16}\n";
std::string Nemo(const std::string& keys) {
  std::string text = kTrainer;
  text +=
      "model:\n  megatron_amp_O2: true\n  mcore_gpt: true\n  transformer_engine: true\n"
      "  overlap_p2p_comm: true\n  gradient_accumulation_fusion: true\n  apply_rope_fusion: true\n"
      "  tokenizer: {library: megatron, type: GPT2BPETokenizer}\n";
  text += keys;
  return text;
}
constexpr const char* kRest = "--bf16 --normalization LayerNorm --tokenizer-type GPT2BPETokenizer";

TEST(NemoRecipe, ReferencesToOtherKeys) {
  EXPECT_EQ(Arguments(Nemo("  hidden_size: 64\n  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n"
                           "  encoder_seq_length: ${model.hidden_size}\n"
                           "  max_position_embeddings: ${training.model.encoder_seq_length}\n")),
            "--hidden-size 64 --ffn-hidden-size 256 --seq-length 64 --max-position-embeddings 64 " +
                std::string(kRest));
  EXPECT_EQ(
      Arguments(Nemo("  num_layers: ${depth}\n  ffn_hidden_size: ${sum:3,-1}\n"), {{"depth", "7"}}),
      "--num-layers 7 --ffn-hidden-size 2 " + std::string(kRest));
  EXPECT_EQ(Arguments(Nemo("  num_layers: ${depth}\n  ffn_hidden_size: ${oc.env:F}\n")),
            "--num-layers <${depth}> --ffn-hidden-size <${oc.env:F}> " + std::string(kRest));
  EXPECT_EQ(Arguments(Nemo("  num_layers: ${.num_layers}\n  ffn_hidden_size: 8\n")),
            "--num-layers <${.num_layers}> --ffn-hidden-size 8 " + std::string(kRest));
}

TEST(NemoRecipe, LayersAndOptimizer) {
  EXPECT_EQ(Arguments(Nemo("  hidden_size: 64\n  bias: false\n  activation: fast-swiglu\n"
                           "  num_attention_heads: 8\n  num_query_groups: 2\n"
                           "  share_embeddings_and_output_weights: false\n"
                           "  activations_checkpoint_granularity: full\n"
                           "  activations_checkpoint_method: block\n"
                           "  activations_checkpoint_num_layers: 3\n"
                           "  optim: {name: mcore_distributed_optim, overlap_grad_sync: true,\n"
                           "          overlap_param_sync: true, grad_sync_dtype: bf16, lr: 1}\n")),
            "--hidden-size 64 --disable-bias-linear --num-attention-heads 8 "
            "--untie-embeddings-and-output-weights --recompute-granularity full --bf16 "
            "--normalization LayerNorm --swiglu --ffn-hidden-size 256 --group-query-attention "
            "--num-query-groups 2 --recompute-method block --recompute-num-layers 3 "
            "--tokenizer-type GPT2BPETokenizer --use-distributed-optimizer --overlap-grad-reduce "
            "--overlap-param-gather --grad-reduce-in-bf16");
}

TEST(NemoRecipe, GpusAndIgnoredKeys) {
  ImportNotes notes;
  const Result<LaunchLine> line =
      Read(Nemo("  seed: 1\n  optim: {lr: 1}\n  data: {num_workers: 2}\n") + "exp_manager: {}\n",
           &notes);
  ASSERT_TRUE(line.ok()) << line.error().ToString();
  EXPECT_EQ(line->gpus, 16);
  EXPECT_EQ(line->keys.at("--num-layers"), "model.num_layers");
  EXPECT_EQ(Join(notes.ignored), "model.seed, model.optim.lr, model.data");
}

TEST(NemoRecipe, BucketsOfTwoOptimizers) {
  ImportNotes notes;
  ASSERT_TRUE(
      Read(Nemo("  optim: {name: mcore_distributed_optim, bucket_cap_mb: 125}\n"), &notes).ok());
  EXPECT_EQ(Join(notes.ignored), "model.optim.bucket_cap_mb");
  EXPECT_TRUE(notes.unmodeled.empty());
  ASSERT_TRUE(
      Read(Nemo("  optim: {name: distributed_fused_adam, bucket_cap_mb: 125}\n"), &notes).ok());
  EXPECT_EQ(Join(notes.unmodeled),
            "model.optim.bucket_cap_mb (buckets of Apex's optimizer; those of Megatron-Core are "
            "generated)");
}

TEST(NemoRecipe, VariablesReplaceKeys) {
  const std::string file = "trainer: {precision: 32, max_steps: 2}\nmodel: {mcore_gpt: true}\n";
  const Variables half = {{"trainer.precision", "bf16"}, {"model.megatron_amp_O2", "true"}};
  EXPECT_EQ(Arguments(file, half).substr(0, 6), "--bf16");
  Variables more = half;
  more["model.optim.name"] = "mcore_distributed_optim";
  more["model.window_size"] = "[127, 0]";
  EXPECT_NE(Arguments(file, more).find("--window-size 127,0"), std::string::npos);
  EXPECT_NE(Arguments(file, more).find("--use-distributed-optimizer"), std::string::npos);
  const auto error = [&](const std::string& name, const std::string& value) {
    ImportNotes notes;
    Variables wrong = half;
    wrong[name] = value;
    const Result<LaunchLine> line = Read(file, &notes, wrong);
    return line.ok() ? "" : line.error().ToString();
  };
  EXPECT_EQ(error("model.num_layer", "4"),
            "--variable model.num_layer=4: error: unknown key 'model.num_layer'; did you mean "
            "'num_layers'?; remove it if it decides nothing about the GPUs");
  EXPECT_EQ(error("trainer.precision.x", "4"),
            "--variable trainer.precision.x=4: error: this names no key of the recipe");
  EXPECT_EQ(error("trainer.", "4"),
            "--variable trainer.=4: error: this names no key of the recipe");
}

TEST(NemoRecipe, MergeKeysAndAnchors) {
  EXPECT_EQ(Arguments("x-widths: &widths {hidden_size: 64, ffn_hidden_size: 8}\n" +
                      Nemo("  <<: *widths\n  hidden_size: &h 32\n  kv_channels: *h\n")),
            "--ffn-hidden-size 8 --hidden-size 32 --kv-channels 32 " + std::string(kRest));
}

TEST(NemoRecipe, KeysOfTheTrainerAndTheOptimizerAreKnown) {
  const std::string more =
      "trainer: {num_nodes: 1, devices: 8, precision: bf16, max_steps: 9, logger: false}\n";
  ImportNotes notes;
  const std::string text = Nemo("  optim: {sched: {name: CosineAnnealing}, betas: [1, 2]}\n");
  ASSERT_TRUE(Read(more + text.substr(std::string(kTrainer).size()), &notes).ok());
  EXPECT_EQ(Join(notes.ignored),
            "trainer.max_steps, trainer.logger, model.optim.sched, model.optim.betas");
  EXPECT_EQ(ErrorOf("trainer: {precison: bf16}\nmodel: {megatron_amp_O2: true}\n"),
            "unknown key 'trainer.precison'; did you mean 'precision'?; remove it if it decides "
            "nothing about the GPUs");
  EXPECT_EQ(
      ErrorOf(Nemo("  optim: {overlap_grad_sinc: true}\n")),
      "unknown key 'model.optim.overlap_grad_sinc'; did you mean 'overlap_grad_sync'?; remove "
      "it if it decides nothing about the GPUs");
  EXPECT_EQ(ErrorOf("trainer: {precision: bf16, detect_anomaly: true}\n"
                    "model: {megatron_amp_O2: true}\n"),
            "'trainer.detect_anomaly' is true: checks of every gradient are not generated; write "
            "false");
  const std::string falcon = "  mcore_customization_config: {parallel_attention: true}\n";
  notes = {};
  EXPECT_TRUE(Read(Nemo(falcon), &notes).ok());
  EXPECT_EQ(Join(notes.remarks),
            "'model.mcore_customization_config.parallel_attention' (line 10) has no effect without "
            "model.name: megatron_falcon_gpt");
  EXPECT_EQ(ErrorOf(Nemo("  name: megatron_gpt_hyena\n")),
            "'model.name' is megatron_gpt_hyena: this kind of model is not generated");
  EXPECT_EQ(ErrorOf(Nemo("  name: megatron_falcon_gpt\n" + falcon)),
            "'model.mcore_customization_config.parallel_attention' is true: attention and MLP side "
            "by side on one input are not generated");
  EXPECT_EQ(ErrorOf(Nemo("  encoder_seq_length: 64\n  data: {seq_length: 32}\n")),
            "'model.data.seq_length' is 32, but 'model.encoder_seq_length' is 64: give both alike");
}

TEST(NemoRecipe, Mistakes) {
  EXPECT_EQ(ErrorOf(Nemo("  num_layer: 2\n")),
            "unknown key 'model.num_layer'; did you mean 'num_layers'?; remove it if it decides "
            "nothing about the GPUs");
  EXPECT_EQ(ErrorOf(Nemo("  fsdp: true\n")),
            "'model.fsdp' is true: PyTorch's FSDP is described by a model.yaml "
            "(docs/how-to/describe-a-recipe.md)");
  EXPECT_EQ(ErrorOf(Nemo("  optim: {name: lion}\n")),
            "'model.optim.name' is lion; mcore_distributed_optim, distributed_fused_adam, "
            "fused_adam, adam and adamw are generated");
  EXPECT_EQ(ErrorOf(Nemo("  bias: maybe\n")), "'model.bias' is maybe; expected true or false");
  EXPECT_EQ(ErrorOf("trainer: {precision: 32}\nmodel: {megatron_amp_O2: true}\n"),
            "'trainer.precision' is 32; expected bf16 or 16: training in fp32 is not generated; "
            "--variable trainer.precision=bf16 replaces it");
}

TEST(NemoRecipe, SmallEffectsAreErrorsIfStrict) {
  ImportNotes notes;
  const std::string text = Nemo("  logits_soft_cap: 30.0\n");
  EXPECT_TRUE(Read(text, &notes).ok());
  EXPECT_EQ(Join(notes.unmodeled), "model.logits_soft_cap (an elementwise kernel on the logits)");
  EXPECT_FALSE(Read(text, &notes, {}, /*strict=*/true).ok());
}

constexpr const char* kBridge =
    "train: {global_batch_size: 8, micro_batch_size: 1, train_iters: 10}\n"
    "optimizer: {optimizer: adam, lr: 0.1, use_distributed_optimizer: true}\n"
    "model:\n"
    "  _target_: megatron.bridge.models.llama.llama_provider.LlamaModelProvider\n"
    "  bf16: true\n  vocab_size: 128256\n  seq_length: 32\n"
    "  activation_func: {_target_: torch.nn.functional.silu, _call_: false}\n"
    "  gated_linear_unit: true\n";

TEST(BridgeRecipe, FieldsHaveTheNamesOfArguments) {
  EXPECT_EQ(Arguments(kBridge + std::string("  num_layers: 2\n  hidden_size: 64\n"
                                            "  num_attention_heads: 8\n  num_query_groups: 4\n"
                                            "  add_bias_linear: false\n  sequence_parallel: true\n"
                                            "  tensor_model_parallel_size: 2\n"
                                            "  recompute_modules: [core_attn, mlp]\n"
                                            "  overlap_p2p_comm: true\n  init_method: null\n"
                                            "  use_kitchen: false\n"
                                            "ddp: {overlap_grad_reduce: true, "
                                            "grad_reduce_in_fp32: false, nccl_ub: false}\n")),
            "--global-batch-size 8 --micro-batch-size 1 --optimizer adam "
            "--use-distributed-optimizer --num-layers 2 --hidden-size 64 "
            "--num-attention-heads 8 "
            "--disable-bias-linear --sequence-parallel --tensor-model-parallel-size 2 "
            "--recompute-modules core_attn mlp --bf16 --grad-reduce-in-bf16 --overlap-grad-reduce "
            "--seq-length 32 --max-position-embeddings 32 --swiglu --group-query-attention "
            "--num-query-groups 4 --padded-vocab-size 128256");
}

TEST(BridgeRecipe, Mistakes) {
  EXPECT_EQ(ErrorOf(kBridge + std::string("  num_layer: 2\n")),
            "unknown key 'model.num_layer'; did you mean 'num_layers'?; remove it if it decides "
            "nothing about the GPUs");
  EXPECT_EQ(ErrorOf(kBridge + std::string("  use_kitchen: true\n")),
            "'model.use_kitchen' is true: only false is generated");
  EXPECT_EQ(ErrorOf(kBridge + std::string("dataset: {seq_length: 64}\n")),
            "'dataset.seq_length' is 64, but 'model.seq_length' is 32: give both alike");
}

}  // namespace
}  // namespace drydock
