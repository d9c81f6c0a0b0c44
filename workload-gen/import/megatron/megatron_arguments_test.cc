#include "workload-gen/import/megatron/megatron_arguments.h"

#include <gtest/gtest.h>

#include <sstream>

namespace drydock {
namespace {

// Returns the notes on a command line, one line per kind.
std::vector<std::string> NotesOn(const std::string& arguments) {
  std::vector<ScriptWord> words;
  std::istringstream stream(arguments);
  for (std::string text; stream >> text;) {
    ScriptWord word;
    word.text = text;
    words.push_back(word);
  }
  ImportNotes notes;
  Diagnostics diagnostics;
  SortMegatronArguments(words, {}, &notes, &diagnostics);
  EXPECT_TRUE(diagnostics.ok());
  return notes.Lines("run.sh");
}

// Types of optimizer states and groups of a router change what the GPUs do, but not at their
// defaults.
TEST(MegatronArguments, ArgumentsThatChangeOpsAreNotIgnored) {
  EXPECT_EQ(NotesOn("--exp-avg-dtype bf16 --moe-router-group-topk 4 --fp16-lm-cross-entropy"),
            (std::vector<std::string>{
                "run.sh: 3 not modeled: --exp-avg-dtype (bytes of the optimizer, in its kernel and "
                "in memory), --moe-router-group-topk (which hosts a token is sent to), "
                "--fp16-lm-cross-entropy (the loss in fp16)"}));
  EXPECT_EQ(NotesOn("--exp-avg-dtype fp32 --main-params-dtype fp32"),
            (std::vector<std::string>{"run.sh: 2 ignored, no effect: --exp-avg-dtype, "
                                      "--main-params-dtype"}));
}

}  // namespace
}  // namespace drydock
