// Layers that predict further tokens, counted by hand.
#include "workload-gen/mtp_program.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "workload-gen/process_groups.h"
#include "workload-gen/program_counts.h"
#include "workload-gen/test_support.h"

namespace drydock {
namespace {

using testing::Contains;
using testing::ElementsAre;

// A Llama of 8 layers and one more, TP2 with sequence parallelism, two stages.
Workload Further(std::vector<std::string> more) {
  std::vector<std::string> overrides = {
      "model.positions=rotary",     "model.bias=false",   "model.dropout=0",
      "model.tied_embedding=false", "model.mtp_layers=1", "parallel.sequence_parallel=true"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestWorkload(overrides);
}

TEST(MtpProgram, EmbeddingAndRowsAreJoinedBeforeTheLayer) {
  const Workload w = Further({});
  EXPECT_THAT(SubmodulesOfLayer(w, 1, 8, Phase::kForward),
              ElementsAre("embedding.words", "mtp.token-norm", "mtp.hidden-norm", "mtp.join",
                          "attention.norm", "attention.qkv", "attention.rotary", "attention.core",
                          "attention.proj", "attention.residual", "mlp.norm", "mlp.fc1",
                          "mlp.activation", "mlp.fc2", "mlp.residual", "mtp.final-norm"));
  const std::vector<std::string> calls = CallsOfLayer(w, 1, 8, Phase::kForward);
  EXPECT_THAT(std::vector<std::string>(calls.begin(), calls.begin() + 3),
              ElementsAre("tp reduce-scatter 4096 x fp16 = 8.192 KB over 2",
                          "tp all-gather 8192 x fp16 = 16.38 KB over 2",  // of both
                          "tp all-gather 4096 x fp16 = 8.192 KB over 2"));
  EXPECT_TRUE(SubmodulesOfLayer(w, 0, 8, Phase::kForward).empty());
}

TEST(MtpProgram, TheHeadRunsOnceMoreEachWay) {
  const auto count = [](const Workload& w, Pass pass) {
    int logits = 0;
    for (const Op& op : w.programs[1].ops) {
      if (op.kind != OpKind::kCompute || op.microbatch != 0) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) {
        logits += w.submodules[s].name == "head.logits" && w.submodules[s].pass == pass ? 1 : 0;
      }
    }
    return logits;
  };
  for (const Pass pass : {Pass::kForward, Pass::kBackwardActivation, Pass::kBackwardWeight}) {
    EXPECT_EQ(count(Further({}), pass), 2);
    EXPECT_EQ(count(Further({"model.mtp_layers=0"}), pass), 1);
  }
}

TEST(MtpProgram, TheLastStageHasTheEmbeddingToo) {
  const Workload w = Further({});
  std::vector<std::string> calls;
  for (const Op& op : w.programs[1].ops) {
    if (op.kind != OpKind::kCompute && op.role == kEmbeddingRole) {
      calls.push_back(CallText(w.calls[op.work]));
    }
  }
  EXPECT_THAT(calls, ElementsAre("all-reduce 32768 x fp32 = 131.1 KB over 2"));
  // Tokens, positions, labels and loss mask are handed out there.
  const auto broadcasts = [](const Workload& workload) {
    int count = 0;
    for (const Op& op : workload.programs[1].ops) {
      if (op.kind == OpKind::kCompute || op.microbatch != 0) continue;
      count += workload.calls[op.work].collective == CollectiveType::kBroadcast ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(broadcasts(w), 4);
  EXPECT_EQ(broadcasts(Further({"model.mtp_layers=0"})), 2);
}

TEST(MtpProgram, OneStageSharesItsEmbedding) {
  const Workload w = Further({"parallel.pipeline=1"});
  for (const Op& op : w.programs[0].ops) {
    EXPECT_TRUE(op.kind == OpKind::kCompute || op.role != kEmbeddingRole);
  }
}

}  // namespace
}  // namespace drydock
