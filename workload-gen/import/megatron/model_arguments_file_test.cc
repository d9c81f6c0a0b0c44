#include "workload-gen/import/megatron/model_arguments_file.h"

#include <gtest/gtest.h>

#include "core/base/spelling.h"

namespace drydock {
namespace {

Result<LaunchLine> Read(const std::string& text, ImportNotes* notes,
                        const std::map<std::string, std::string>& variables = {}) {
  ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(text, "model_config.yaml"));
  return ReadModelArguments(root, "model_config.yaml", variables, notes);
}

std::string Arguments(const std::string& text,
                      const std::map<std::string, std::string>& variables = {}) {
  ImportNotes notes;
  const Result<LaunchLine> line = Read(text, &notes, variables);
  EXPECT_TRUE(line.ok()) << line.error().ToString();
  std::vector<std::string> words;
  for (const ScriptWord& word : line->arguments) {
    words.push_back(word.text + (word.unresolved.empty() ? "" : "<" + word.unresolved + ">"));
  }
  return Join(words, "|");
}

std::string ErrorOf(const std::string& text) {
  ImportNotes notes;
  const Result<LaunchLine> line = Read(text, &notes);
  return line.ok() ? "" : line.error().ToString();
}

TEST(ModelArgumentsFile, ValuesOfArguments) {
  EXPECT_EQ(Arguments("MODEL_ARGS:\n  --num-layers: 24\n  --bf16: true\n  --finetune: false\n"
                      "  --recompute-modules: [layernorm moe_act]\n  --window-size: (127,0)\n"
                      "  --cuda-graph-modules: \"[attn mamba]\"\n"),
            "--num-layers|24|--bf16|--recompute-modules|layernorm|moe_act|--window-size|(127,0)|"
            "--cuda-graph-modules|attn|mamba");
}

TEST(ModelArgumentsFile, VariablesOfTheUser) {
  const std::string text = "MODEL_ARGS: {--num-layers: '${N}', --save: '${OUT}/x/$NAME'}";
  EXPECT_EQ(Arguments(text, {{"N", "8"}, {"OUT", "o"}, {"NAME", "n"}}),
            "--num-layers|8|--save|o/x/n");
  EXPECT_EQ(Arguments(text), "--num-layers|<$N>|--save|/x/<$OUT>");
}

TEST(ModelArgumentsFile, SettingsOfTheEngine) {
  ImportNotes notes;
  const Result<LaunchLine> line = Read(
      "ENV_VARS: {NVTE_FUSED_ATTN: 0, NCCL_ALGO: Ring, CUBLAS_WORKSPACE_CONFIG: ':4096:8', A: 1}\n"
      "MODEL_ARGS: {--bf16: true}\nTEST_TYPE: regular\n",
      &notes, {{"TRAINING_SCRIPT_PATH", "pretrain_bert.py"}});
  ASSERT_TRUE(line.ok()) << line.error().ToString();
  EXPECT_EQ(line->engine_settings.at("NVTE_FUSED_ATTN"), "0");
  EXPECT_EQ(line->nccl_settings, std::vector<std::string>{"NCCL_ALGO"});
  EXPECT_EQ(line->cublas_workspace.text, ":4096:8");
  EXPECT_EQ(line->script.text, "pretrain_bert.py");
  EXPECT_EQ(Join(notes.ignored), "TEST_TYPE");
}

TEST(ModelArgumentsFile, Mistakes) {
  EXPECT_EQ(
      ErrorOf("model: {}\n"),
      "model_config.yaml: error: neither 'MODEL_ARGS', which has arguments of Megatron-LM, nor "
      "'model' with 'trainer' or 'train', as a recipe of NeMo or Megatron-Bridge has them");
  EXPECT_NE(ErrorOf("MODEL_ARG: {}\nMODEL_ARGS: {}\n")
                .find("1:1: error: unknown key 'MODEL_ARG'; did you mean 'MODEL_ARGS'?"),
            std::string::npos);
  EXPECT_NE(ErrorOf("MODEL_ARGS:\n  trainer.devices: 8\n")
                .find("2:3: error: 'trainer.devices' is not an argument of Megatron-LM"),
            std::string::npos);
  EXPECT_NE(ErrorOf("MODE: inference\nMODEL_ARGS: {--bf16: true}\n").find("inference"),
            std::string::npos);
  EXPECT_NE(ErrorOf("MODEL_ARGS: 3\n").find("'MODEL_ARGS' must be a map"), std::string::npos);
}

}  // namespace
}  // namespace drydock
