#include "workload-gen/import/hf/hf_job.h"

#include <gtest/gtest.h>

#include <map>

#include "workload-gen/job/job_reader.h"

namespace drydock {
namespace {

// The fields of Llama 3 8B (Meta's model card, June 2024).
constexpr const char* kLlama = R"({"model_type": "llama", "num_hidden_layers": 32,
    "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16"})";

struct Read {
  TrainingJob job;
  std::map<std::string, std::string> assumed;
  std::string error;
};

Read ReadJob(const std::string& text, const std::string& file = "llama/config.json") {
  Read read;
  ImportNotes notes;
  const Result<YamlNode> root = ParseYaml(text, file);
  EXPECT_TRUE(root.ok() && IsHfConfig(*root));
  const Result<YamlNode> tree = JobFromHfConfig(*root, file, false, &notes);
  if (!tree.ok()) {
    read.error = tree.error().ToString();
    return read;
  }
  const Result<TrainingJob> job = TrainingJobFromTree(*tree, file);
  if (job.ok())
    read.job = *job;
  else
    read.error = job.error().ToString();
  for (const AssumedKey& each : notes.assumed) {
    read.assumed[each.key] = each.value;
    EXPECT_FALSE(each.source.empty()) << each.key;
  }
  return read;
}

TEST(HfJob, AConfigIsARunWithNamedAssumptions) {
  const Read read = ReadJob(kLlama);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.job.model.name, "llama") << "the folder of a config.json";
  EXPECT_EQ(read.job.model.sequence, 4096);
  EXPECT_EQ(read.job.training.batch.global, 1024) << "4 Mi tokens";
  EXPECT_TRUE(read.job.training.optimizer.distributed);
  EXPECT_EQ(read.assumed.at("model.sequence"), "4096");
  EXPECT_EQ(read.assumed.at("training.precision"), "bf16");
  EXPECT_EQ(read.assumed.count("parallel.expert"), 0u) << "a dense model has no experts";
  EXPECT_EQ(read.assumed.count("model.layers"), 0u) << "the file has them";
}

TEST(HfJob, PositionsBoundTheAssumedSequence) {
  const Read gpt2 = ReadJob(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
      "n_positions": 1024, "vocab_size": 50257})");
  ASSERT_EQ(gpt2.error, "");
  EXPECT_EQ(gpt2.job.model.sequence, 1024);
  EXPECT_EQ(gpt2.job.model.embedding.max_positions, 1024);
  EXPECT_EQ(gpt2.assumed.count("model.sequence"), 0u) << "the file has it";
  std::string phi = kLlama;
  phi.replace(phi.find("8192"), 4, "2048");
  EXPECT_EQ(ReadJob(phi).assumed.at("model.sequence"), "2048");
}

TEST(HfJob, NamesTheModel) {
  EXPECT_EQ(ReadJob(kLlama, "some/llama-3-8b.json").job.model.name, "llama-3-8b");
  EXPECT_EQ(ReadJob(kLlama, "some/llama-3-8b_config.json").job.model.name, "llama-3-8b");
  std::string named = kLlama;
  named.insert(1, "\"_name_or_path\": \"meta-llama/Meta-Llama-3-8B\", ");
  EXPECT_EQ(ReadJob(named).job.model.name, "Meta-Llama-3-8B");
}

TEST(HfJob, AModelFileIsNoConfig) {
  for (const char* text : {"model: {layers: 2}", "{training: {}, model_type: llama}", "[1]", "a"}) {
    const Result<YamlNode> root = ParseYaml(text, "model.yaml");
    ASSERT_TRUE(root.ok());
    EXPECT_FALSE(IsHfConfig(*root)) << text;
  }
}

}  // namespace
}  // namespace drydock
