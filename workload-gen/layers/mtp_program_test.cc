// Layers of multi-token prediction, counted by hand.
#include "workload-gen/layers/mtp_program.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "workload-gen/graph/text/program_counts.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/testing/job_testing.h"
#include "workload-gen/testing/structure_testing.h"
#include "workload-gen/work/transformer.h"

namespace drydock {
namespace {

using testing::Contains;
using testing::ElementsAre;

// A Llama of 8 layers and one MTP layer, TP2 with sequence parallelism, two stages.
Workload MtpJob(std::vector<std::string> more) {
  std::vector<std::string> overrides = {
      "model.positions=rotary",     "model.bias=false",   "model.dropout=0",
      "model.tied_embedding=false", "model.mtp_layers=1", "parallel.sequence_parallel=true"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestWorkload(overrides);
}

TEST(MtpProgram, EmbeddingAndRowsAreJoinedBeforeTheLayer) {
  const Workload w = MtpJob({});
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

TEST(MtpProgram, TheHeadRunsOnceMoreInEachPass) {
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
    EXPECT_EQ(count(MtpJob({}), pass), 2);
    EXPECT_EQ(count(MtpJob({"model.mtp_layers=0"}), pass), 1);
  }
}

TEST(MtpProgram, TheLastStageHasTheEmbeddingToo) {
  const Workload w = MtpJob({});
  std::vector<std::string> calls;
  for (const Op& op : w.programs[1].ops) {
    if (op.kind != OpKind::kCompute && op.role == kEmbeddingRole) {
      calls.push_back(CallText(w.calls[op.work]));
    }
  }
  EXPECT_THAT(calls, ElementsAre("all-reduce 32768 x fp16 = 65.54 KB over 2"));
  // The last stage broadcasts tokens, positions, labels and loss mask.
  const auto broadcasts = [](const Workload& workload) {
    int count = 0;
    for (const Op& op : workload.programs[1].ops) {
      if (op.kind == OpKind::kCompute || op.microbatch != 0) continue;
      count += workload.calls[op.work].collective == CollectiveType::kBroadcast ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(broadcasts(w), 4);
  EXPECT_EQ(broadcasts(MtpJob({"model.mtp_layers=0"})), 2);
}

// A Llama of 8 layers and two MTP layers, four stages.
Workload FourStages(const std::string& layout) {
  return MtpJob({"parallel.pipeline=4", "parallel.layout=" + layout, "model.mtp_layers=2"});
}

std::vector<int> CountsOf(const Workload& w, const std::string& name) {
  std::vector<int> counts;  // by stage, of micro-batch 0 forward
  for (const Program& program : w.programs) {
    counts.push_back(0);
    for (const Op& op : program.ops) {
      if (op.kind != OpKind::kCompute || op.microbatch != 0) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) {
        const bool counts_here =
            w.submodules[s].name == name && w.submodules[s].pass == Pass::kForward;
        counts.back() += counts_here ? 1 : 0;
      }
    }
  }
  return counts;
}

TEST(MtpProgram, MtpLayersOnAStageBeforeTheLoss) {
  const Workload w = FourStages("Ettt|ttttt|mm|L");
  EXPECT_EQ(StructureMistake(w), "");
  EXPECT_THAT(CountsOf(w, "mtp.join"), ElementsAre(0, 0, 2, 0));
  EXPECT_THAT(CountsOf(w, "embedding.words"), ElementsAre(1, 0, 2, 0));
  EXPECT_THAT(CountsOf(w, "head.norm"), ElementsAre(0, 1, 0, 0)) << "after the last layer";
  EXPECT_THAT(CountsOf(w, "head.logits"), ElementsAre(0, 0, 0, 3));
  EXPECT_THAT(CountsOf(w, "attention.core"), ElementsAre(3, 5, 2, 0));
}

// Elements of the messages of micro-batch 0, by stage: forward, then backward.
std::vector<int64_t> Sent(const Workload& w) {
  std::vector<int64_t> sent;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      if (op.kind == OpKind::kSend && op.microbatch == 0) sent.push_back(w.calls[op.work].count);
    }
  }
  return sent;
}

// Messages carry the rows of all three predictions to the loss, and their gradients back.
TEST(MtpProgram, MessagesAfterMtpLayersCarryTheirRows) {
  const int64_t one = 2 * 32 * 64 / 2;  // a micro-batch's rows, split over two tensor ranks
  EXPECT_THAT(Sent(FourStages("Ettt|ttttt|mm|L")),
              ElementsAre(one, one, one, 3 * one, one, 3 * one));
  EXPECT_THAT(Sent(FourStages("Ettt|tttttmm||L")),
              ElementsAre(one, 3 * one, one, 3 * one, 3 * one, 3 * one));
  EXPECT_THAT(Sent(FourStages("Ettt|ttt|tt|mmL")), ElementsAre(one, one, one, one, one, one));
}

// Each MTP layer has its own stage: messages grow from stage to stage.
TEST(MtpProgram, MtpLayersOnSeveralStages) {
  const Workload w = FourStages("Ettttt|ttt|m|mL");
  EXPECT_EQ(StructureMistake(w), "");
  EXPECT_THAT(CountsOf(w, "mtp.join"), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(CountsOf(w, "embedding.words"), ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(CountsOf(w, "head.logits"), ElementsAre(0, 0, 0, 3));
  EXPECT_TRUE(SubmodulesOfLayer(w, 2, 9, Phase::kForward).empty());
  EXPECT_FALSE(SubmodulesOfLayer(w, 3, 9, Phase::kForward).empty());
  const int64_t one = 2 * 32 * 64 / 2;
  EXPECT_THAT(Sent(w), ElementsAre(one, one, one, 2 * one, one, 2 * one));
}

TEST(MtpProgram, AStageOfMtpLayersSharesTheEmbedding) {
  const auto stages = [](const Workload& w) {
    std::vector<int> all;
    for (int stage = 0; stage < 4; ++stage) {
      if (w.group_of_rank[kEmbeddingRole][static_cast<size_t>(2 * stage)] >= 0) {
        all.push_back(stage);
      }
    }
    return all;
  };
  EXPECT_THAT(stages(FourStages("Ettt|ttttt|mm|L")), ElementsAre(0, 2));
  EXPECT_THAT(stages(FourStages("Ettt|ttt|tt|mmL")), ElementsAre(0, 3));
  EXPECT_THAT(stages(FourStages("Ettttt|ttt|m|mL")), ElementsAre(0, 2, 3));
  const auto tied = [&](const char* layout) {
    const Workload w = MtpJob({"parallel.pipeline=4", std::string("parallel.layout=") + layout,
                               "model.mtp_layers=1", "model.tied_embedding=true"});
    EXPECT_EQ(StructureMistake(w), "");
    return stages(w);
  };
  EXPECT_THAT(tied("Ettt|ttttt|m|L"), ElementsAre(0, 2, 3)) << "the head is the embedding";
  EXPECT_THAT(tied("Ettt|ttt|tt|mL"), ElementsAre(0, 3));
}

TEST(MtpProgram, EachParameterIsHeldOnce) {
  const auto all = [](const char* layout) {
    const TrainingJob job = TestJob({"model.tied_embedding=false", "model.positions=rotary",
                                     "model.dropout=0", "model.mtp_layers=1", "parallel.pipeline=4",
                                     std::string("parallel.layout=") + layout});
    const ParallelLayout stages = TestLayout(job);
    int64_t elements = 0;
    for (int stage = 0; stage < 4; ++stage) {
      elements += TotalElements(ChunkParameters(job, stages, stage, 0));
    }
    return elements;
  };
  EXPECT_EQ(all("Ettt|ttttt|m|L"), all("Ettt|ttt|tt|mL"));
  EXPECT_EQ(all("Ettt|tttttm||L"), all("Ettt|ttt|tt|mL"));
}

TEST(MtpProgram, OneStageSharesItsEmbedding) {
  const Workload w = MtpJob({"parallel.pipeline=1"});
  for (const Op& op : w.programs[0].ops) {
    EXPECT_TRUE(op.kind == OpKind::kCompute || op.role != kEmbeddingRole);
  }
}

}  // namespace
}  // namespace drydock
