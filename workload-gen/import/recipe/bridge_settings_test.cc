#include "workload-gen/import/recipe/bridge_settings.h"

#include <gtest/gtest.h>

#include "core/base/spelling.h"
#include "workload-gen/import/recipe/recipe.h"

namespace drydock {
namespace {

// A recipe whose own arguments are --use-distributed-optimizer and those of `keys`.
constexpr const char* kStart = "--use-distributed-optimizer";
constexpr const char* kEnd = "--padded-vocab-size 64";

struct Answer {
  std::string arguments, error;
  ImportNotes notes;
};

Answer Read(const std::string& model, const std::string& sections, bool distributed = true) {
  std::string text = "train: {}\nmodel: {vocab_size: 64, " + model + "}\n";
  if (distributed) text += "optimizer: {use_distributed_optimizer: true}\n";
  Answer answer;
  const Result<YamlNode> root = ParseYaml(text + sections, "recipe.yaml");
  EXPECT_TRUE(root.ok()) << root.error().ToString();
  const Result<LaunchLine> line = ReadRecipe(*root, "recipe.yaml", {}, false, &answer.notes);
  if (!line.ok()) {
    answer.error = line.error().ToString();
    return answer;
  }
  std::vector<std::string> words;
  for (const ScriptWord& word : line->arguments) words.push_back(word.text);
  answer.arguments = Join(words, " ");
  return answer;
}

std::string Precision(const std::string& section, const std::string& model = "bf16: true") {
  const Answer answer = Read(model, section);
  EXPECT_EQ(answer.error, "");
  std::string text = answer.arguments;
  EXPECT_TRUE(text.starts_with(kStart) && text.ends_with(kEnd)) << text;
  text = text.substr(std::string(kStart).size());
  return text.substr(0, text.size() - std::string(kEnd).size());
}

TEST(BridgeSettings, TypesOfTheModelItself) {
  EXPECT_EQ(Precision(""), " --bf16 --grad-reduce-in-bf16 ");
  EXPECT_EQ(Precision("ddp: {grad_reduce_in_fp32: true}\n"), " --bf16 ");
  EXPECT_EQ(Precision("ddp: {grad_reduce_in_fp32: true}\n", "fp16: true"),
            " --fp16 --accumulate-allreduce-grads-in-fp32 ");
  EXPECT_EQ(Precision("ddp: {fp8_param_gather: true}\n",
                      "bf16: true, fp8: e4m3, fp8_recipe: mxfp8, first_last_layers_bf16: true"),
            " --bf16 --grad-reduce-in-bf16 --fp8-format e4m3 --fp8-recipe mxfp8 "
            "--fp8-param-gather --first-last-layers-bf16 --num-layers-at-start-in-bf16 1 "
            "--num-layers-at-end-in-bf16 1 ");
}

TEST(BridgeSettings, NamesOfMixedPrecisions) {
  EXPECT_EQ(Precision("mixed_precision: bf16_mixed\n"), " --bf16 ");
  EXPECT_EQ(Precision("mixed_precision: bf16-mixed\n"), " --bf16 ");
  EXPECT_EQ(Precision("mixed_precision: fp16_mixed\n", "seed: null"), " --fp16 ")
      << "gradients in fp16, unlike bf16_mixed";
  EXPECT_EQ(Precision("mixed_precision: bf16_with_fp8_delayed_scaling_mixed\n"),
            " --bf16 --fp8-format hybrid --fp8-recipe delayed --fp8-param-gather ");
  EXPECT_EQ(Precision("mixed_precision: bf16_with_mxfp8_mixed\n"),
            " --bf16 --fp8-format e4m3 --fp8-recipe mxfp8 --fp8-param-gather "
            "--reuse-grad-buf-for-mxfp8-param-ag ");
  EXPECT_EQ(Precision("mixed_precision: nanov2_bf16_with_fp8_current_scaling_mixed\n"),
            " --bf16 --fp8-format hybrid --fp8-recipe blockwise --fp8-param-gather "
            "--first-last-layers-bf16 --num-layers-at-start-in-bf16 2 "
            "--num-layers-at-end-in-bf16 2 ");
  EXPECT_EQ(Precision("mixed_precision: bf16_with_fp8_subchannel_scaling_mixed\n"),
            " --bf16 --fp8-format hybrid --fp8-recipe blockwise ");
  EXPECT_EQ(Precision("mixed_precision: nemotron_3_super_bf16_with_nvfp4_mixed\n"),
            " --bf16 --fp4-format e2m1 --fp4-recipe nvfp4 --fp4-param-gather "
            "--first-last-layers-bf16 --num-layers-at-start-in-bf16 0 "
            "--num-layers-at-end-in-bf16 14 ");
}

TEST(BridgeSettings, SettingsOfAMixedPrecision) {
  EXPECT_EQ(Precision("mixed_precision: {bf16: true, fp8: hybrid, fp8_margin: 0,\n"
                      "  first_last_layers_bf16: true, num_layers_at_end_in_bf16: 2,\n"
                      "  fp8_wgrad: false, fp8_dot_product_attention: true,\n"
                      "  grad_reduce_in_fp32: false, loss_scale: 1024}\n"),
            " --bf16 --grad-reduce-in-bf16 --fp8-format hybrid --fp8-recipe tensorwise "
            "--no-fp8-wgrad --fp8-dot-product-attention --first-last-layers-bf16 "
            "--num-layers-at-start-in-bf16 0 --num-layers-at-end-in-bf16 2 --loss-scale 1024 ");
  EXPECT_EQ(Precision("mixed_precision:\n"
                      "  _target_: megatron.bridge.training.mixed_precision.MixedPrecisionConfig\n"
                      "  bf16: true\n  fp8: null\n"
                      "  params_dtype: {_target_: torch.bfloat16, _call_: false}\n"),
            " --bf16 ");
}

TEST(BridgeSettings, TheSectionReplacesOtherSettings) {
  const Answer answer = Read("bf16: true, fp8: hybrid, fp8_recipe: delayed",
                             "ddp: {grad_reduce_in_fp32: false}\nmixed_precision: bf16_mixed\n");
  EXPECT_EQ(answer.arguments, std::string(kStart) + " --bf16 " + kEnd);
  EXPECT_EQ(answer.notes.remarks,
            (std::vector<std::string>{
                "'ddp.grad_reduce_in_fp32' (line 4) has no effect: mixed_precision sets true",
                "'model.fp8' (line 2) has no effect: mixed_precision sets null"}));
}

TEST(BridgeSettings, MistakesInPrecisions) {
  EXPECT_EQ(Read("bf16: true", "mixed_precision: {bf16: true, fp8_recip: mxfp8}\n").error,
            "recipe.yaml:4:31: error: unknown key 'mixed_precision.fp8_recip'; did you mean "
            "'fp8_recipe'?; remove it if it decides nothing about the GPUs\n"
            "  mixed_precision: {bf16: true, fp8_recip: mxfp8}\n"
            "                                ^");
  const std::string name = Read("bf16: true", "mixed_precision: bf16_with_mxfp8\n").error;
  EXPECT_NE(name.find("recipe.yaml:4:18: error: 'bf16_with_mxfp8' is not a mixed precision of "
                      "Megatron-Bridge; did you mean 'bf16_with_mxfp8_mixed'?"),
            std::string::npos)
      << name;
  const auto message = [](const std::string& section) {
    const std::string error = Read("bf16: true", "mixed_precision: {" + section + "}\n").error;
    const size_t begin = error.find("error: ");
    return begin == std::string::npos ? error
                                      : error.substr(begin + 7, error.find('\n') - begin - 7);
  };
  EXPECT_EQ(message("bf16: true, autocast_enabled: true"),
            "'mixed_precision.autocast_enabled' is true: casts of PyTorch's autocast are not "
            "generated; write false");
  EXPECT_EQ(message("fp32: true"), "training in fp32 is not generated; give bf16 or fp16");
  EXPECT_EQ(message("bf16: true, fp8: hybrid, fp8_param: true"),
            "'mixed_precision.fp8_param' differs from 'fp8_param_gather': give both alike");
  EXPECT_EQ(message("bf16: maybe"), "'mixed_precision.bf16' is maybe; expected true or false");
}

std::string Overlap(const std::string& model, const std::string& sections,
                    bool distributed = true) {
  const Answer answer = Read("bf16: true, " + model, sections, distributed);
  EXPECT_EQ(answer.error, "");
  const std::string before = "--grad-reduce-in-bf16 ";
  const size_t begin = answer.arguments.find(before) + before.size();
  return answer.arguments.substr(begin, answer.arguments.find(kEnd) - begin);
}

TEST(BridgeSettings, ASectionOfOverlapTurnsOnThatOfGradients) {
  EXPECT_EQ(Overlap("seed: null", ""), "");
  EXPECT_EQ(Overlap("seed: null", "comm_overlap: {tp_comm_overlap: false}\n"),
            "--overlap-grad-reduce --overlap-param-gather --ddp-bucket-size 134217728 ");
  EXPECT_EQ(Overlap("seed: null",
                    "comm_overlap: {tp_comm_overlap: false, overlap_grad_reduce: false,\n"
                    "  overlap_param_gather: false, bucket_size: 5}\n"),
            "--ddp-bucket-size 5 ");
  EXPECT_EQ(
      Overlap("seed: null", "comm_overlap: {tp_comm_overlap: false, data_parallel_size: 1}\n"), "");
  EXPECT_EQ(Overlap("seed: null",
                    "comm_overlap: {overlap_grad_reduce: true}\nddp: {overlap_grad_reduce: true}\n",
                    /*distributed=*/false),
            "--overlap-grad-reduce ")
      << "as ddp says";
}

TEST(BridgeSettings, StagesAndTensorParallelism) {
  const std::string stages =
      "pipeline_model_parallel_size: 4, virtual_pipeline_model_parallel_size: 2";
  const std::string lead =
      "--pipeline-model-parallel-size 4 --num-virtual-stages-per-pipeline-rank 2";
  EXPECT_EQ(Overlap(stages, ""), "--no-overlap-p2p-communication --no-align-param-gather ");
  EXPECT_EQ(Overlap(stages,
                    "comm_overlap: {tp_comm_overlap: false, overlap_grad_reduce: false,\n"
                    "  overlap_param_gather: false, bucket_size: 5}\n"),
            "--ddp-bucket-size 5 ")
      << "messages overlap, gathers are aligned";
  const Answer answer = Read("bf16: true", "comm_overlap: {tp_comm_overlap: true}\n");
  EXPECT_EQ(
      answer.notes.remarks,
      std::vector<std::string>{"'comm_overlap.tp_comm_overlap' (line 4) has no effect without "
                               "sequence_parallel and a tensor_model_parallel_size above 1"});
  EXPECT_NE(Read("bf16: true, sequence_parallel: true, tensor_model_parallel_size: 2",
                 "comm_overlap: {tp_comm_overlap: true}\n")
                .arguments.find(" --tp-comm-overlap "),
            std::string::npos);
}

TEST(BridgeSettings, KeysOfSectionsAreKnown) {
  const auto message = [](const std::string& sections) {
    const std::string error = Read("bf16: true", sections).error;
    return error.substr(0, error.find('\n'));
  };
  EXPECT_EQ(message("comm_overlap: {overlap_grad_reduc: true}\n"),
            "recipe.yaml:4:16: error: unknown key 'comm_overlap.overlap_grad_reduc'; did you mean "
            "'overlap_grad_reduce'?; remove it if it decides nothing about the GPUs");
  EXPECT_EQ(message("dist: {use_megatron_fsd: true}\n"),
            "recipe.yaml:4:8: error: unknown key 'dist.use_megatron_fsd'; did you mean "
            "'use_megatron_fsdp'?; remove it if it decides nothing about the GPUs");
  EXPECT_EQ(message("dist: {distributed_backend: gloo}\n"),
            "recipe.yaml:4:29: error: 'dist.distributed_backend' is gloo: only nccl is generated");
  EXPECT_EQ(
      message("dataset: {packed_sequence_specs: {packed_sequence_size: 4096}}\n"),
      "recipe.yaml:4:57: error: 'dataset.packed_sequence_specs.packed_sequence_size' is 4096: "
      "only -1 is generated");
  EXPECT_EQ(message("dataset: {packed_sequence_specs: {packed_sequence_size: -1, tokenizer: x}}\n"),
            "");
  const Answer answer = Read("bf16: true", "dist: {local_rank: 0, use_tp_pp_dp_mapping: true}\n");
  EXPECT_EQ(Join(answer.notes.ignored), "dist.local_rank");
  EXPECT_NE(answer.arguments.find("--use-tp-pp-dp-mapping"), std::string::npos);
}

}  // namespace
}  // namespace drydock
