#include "workload-gen/job/key.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/spelling.h"
#include "workload-gen/import/megatron/megatron_arguments.h"
#include "workload-gen/job/key_text.h"

namespace drydock {
namespace {

TEST(Key, IsFoundByItsFullName) {
  ASSERT_NE(FindKey("parallel.tensor"), nullptr);
  EXPECT_EQ(FindKey("parallel.tensor")->name, "tensor");
  EXPECT_EQ(FindKey("parallel.tensors"), nullptr);
  EXPECT_EQ(FindKey("tensor"), nullptr);
}

TEST(Key, NamesAreDistinctAndEachHasAMeaning) {
  for (const Section& section : Sections()) {
    std::set<std::string> names;
    for (const Key& key : section.keys) {
      EXPECT_TRUE(names.insert(key.name).second) << section.name << "." << key.name;
      EXPECT_FALSE(key.meaning.empty()) << section.name << "." << key.name;
      EXPECT_FALSE(key.required && !key.default_words.empty()) << section.name << "." << key.name;
    }
  }
}

// The table lists a key after the key that it needs.
TEST(Key, NeedsAKeyThatIsReadBefore) {
  std::set<std::string> read;
  for (const Section& section : Sections()) {
    for (const Key& key : section.keys) {
      read.insert(section.name + "." + key.name);
      if (key.needs.empty()) continue;
      std::string needed = key.needs.substr(0, key.needs.find(": "));
      if (needed.find('.') == std::string::npos) needed = section.name + "." + needed;
      EXPECT_TRUE(read.contains(needed)) << key.name << " needs " << needed;
    }
  }
}

TEST(Key, ConditionsDependOnTheJob) {
  const Section& training = Sections()[1];
  const Key& layers = *FindKey("training.recompute_layers");
  TrainingJob job;
  EXPECT_FALSE(MeetsRequirements(layers, training, job));
  job.training.recompute.granularity = Recompute::kFull;
  EXPECT_TRUE(MeetsRequirements(layers, training, job));
  const Key& dispatcher = *FindKey("training.moe_dispatcher");
  EXPECT_FALSE(MeetsRequirements(dispatcher, training, job));
  job.model.moe.experts = 8;
  EXPECT_TRUE(MeetsRequirements(dispatcher, training, job));
  const Key& scatter = *FindKey("zero.reduce_scatter");
  EXPECT_TRUE(MeetsRequirements(scatter, Sections()[6], job)) << "stage 1";
  job.zero.stage = 3;
  EXPECT_FALSE(MeetsRequirements(scatter, Sections()[6], job));
}

// The keys name all used arguments of Megatron-LM, and no others.
TEST(Key, NamesTheArgumentsThatAreUsed) {
  std::set<std::string> named, used;
  for (const Section& section : Sections()) {
    for (const Key& key : section.keys) {
      for (const MegatronSource& source : key.megatron) named.insert(source.argument);
    }
  }
  for (const auto& [name, argument] : MegatronArguments()) {
    if (argument.effect == MegatronArgument::Effect::kUsed) used.insert(name);
  }
  EXPECT_EQ(named, used);
}

TEST(KeyText, StatesOneKey) {
  const Result<std::string> text = KeysAsText("model.kv_heads");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text,
            "model.kv_heads\n"
            "  values: 1 to 65536\n"
            "  default: `heads`\n"
            "  heads of keys and values (grouped queries); divides `heads`\n"
            "  Megatron-LM: --group-query-attention, --num-query-groups\n");
}

TEST(KeyText, StatesASectionOrAll) {
  const Result<std::string> section = KeysAsText("memory"), all = KeysAsText("");
  ASSERT_TRUE(section.ok() && all.ok());
  EXPECT_TRUE(section->starts_with("memory: ")) << *section;
  EXPECT_NE(all->find(*section), std::string::npos);
}

TEST(KeyText, NamesTheNearestKey) {
  const Result<std::string> text = KeysAsText("parallel.tensr");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message(),
            "model.yaml has no section or key 'parallel.tensr'; did you mean 'parallel.tensor'?");
}

TEST(KeyText, MarkdownHasARowAKey) {
  const std::string text = KeysAsMarkdown();
  EXPECT_NE(text.find("\n| `bias` | true, false | by `architecture` | `--disable-bias-linear` "
                      "(false) | all linear layers have a bias |\n"),
            std::string::npos);
  EXPECT_NE(text.find("`Et\\|(tt\\|)*30mL`"), std::string::npos) << "a bar does not end the cell";
}

}  // namespace
}  // namespace drydock
