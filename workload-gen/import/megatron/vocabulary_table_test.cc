#include "workload-gen/import/megatron/vocabulary_table.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

int64_t Model(const std::string& path) {
  const Result<VocabularyTable> table = LoadVocabularies();
  EXPECT_TRUE(table.ok()) << table.error().ToString();
  const std::optional<Vocabulary> found = table->OfModel(path);
  return found.has_value() ? found->tokens : 0;
}

TEST(VocabularyTable, NamesOfModels) {
  EXPECT_EQ(Model("Qwen/Qwen3-30B-A3B"), 151936);
  EXPECT_EQ(Model("/ckpt/model/qwen3-8b-dist/tokenizer"), 151936);
  EXPECT_EQ(Model("Qwen/Qwen3.5-27B"), 248320) << "the longest name counts";
  EXPECT_EQ(Model("Qwen/Qwen3.7-27B"), 0) << "another model than Qwen3";
  EXPECT_EQ(Model("/hub/models--meta-llama--Meta-Llama-3.1-8B-Instruct/snapshots/5206/"), 128256);
  EXPECT_EQ(Model("unsloth/DeepSeek-V3"), 129280);
  EXPECT_EQ(Model("/m/multiMixV8.gpt4o_nc_sd.500000.128k.vocab.json"), 131072);
  EXPECT_EQ(Model("my-qwen3"), 0) << "only the beginning of a folder counts";
  EXPECT_EQ(Model(""), 0);
}

TEST(VocabularyTable, TypesAndScripts) {
  const Result<VocabularyTable> table = LoadVocabularies();
  ASSERT_TRUE(table.ok()) << table.error().ToString();
  EXPECT_EQ(table->OfType(table->TypeOfScript("../pretrain_bert.py"))->tokens, 30522);
  EXPECT_EQ(table->TypeOfScript("train.py"), "");
  EXPECT_EQ(table->OfPatchType("DeepSeekV2Tokenizer", 467)->tokens + 467, 129280);
  EXPECT_EQ(table->OfPatchType("DeepSeekV2Tokenizer", 2400)->tokens + 2400, 102400);
  EXPECT_EQ(table->OfPatchType("DeepSeekV2Tokenizer", 0)->tokens, 163840) << "Moonlight";
  EXPECT_FALSE(table->OfPatchType("DeepSeekV2Tokenizer", -1).has_value());
  EXPECT_FALSE(table->OfPatchType("DeepSeekV2Tokenizer", 5).has_value());
}

TEST(VocabularyTable, ReportsMistakes) {
  const auto error = [](const std::string& text) {
    const Result<VocabularyTable> table = VocabularyTable::Parse(text, "v.yaml");
    return table.ok() ? "" : table.error().message();
  };
  const std::string rest = "scripts: {}\nmodels: []\npatch_types: []\n";
  EXPECT_EQ(error("types: {}\n" + rest + "otherwise: {tokens: 5, source: s}"), "");
  EXPECT_EQ(error("types: {}\n" + rest + "otherwise: {tokens: 0, source: s}"),
            "'tokens' is 0; it must be between 1 and 16777216");
}

}  // namespace
}  // namespace drydock
