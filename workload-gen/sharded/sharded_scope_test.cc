// "Do fp8, context parallelism, experts, latent attention and a shared embedding run under FSDP and
// DeepSpeed with the FLOPs and bytes of their closed forms?"
#include <gmock/gmock.h>

#include "core/model/calls/grouped_call.h"
#include "core/schema/testing/submodule_testing.h"
#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

using testing::HasSubstr;

constexpr auto kAg = CollectiveType::kAllGather;
constexpr auto kRs = CollectiveType::kReduceScatter;
constexpr auto kAr = CollectiveType::kAllReduce;

const Overrides kExperts = {"model.experts=4", "model.experts_per_token=2", "model.expert_ffn=96"};
const Overrides kLatent = {"model.kv_lora_rank=16", "model.q_lora_rank=24", "model.qk_nope_dim=8",
                           "model.qk_rope_dim=8", "model.value_dim=8"};
const Overrides kFsdp = {"training.framework=fsdp"};

Overrides Join(std::initializer_list<Overrides> lists) {
  Overrides all;
  for (const Overrides& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}
Overrides Zero(int stage) {
  return {"training.framework=deepspeed", "zero.stage=" + std::to_string(stage)};
}

// Sums the FLOPs of GEMMs and attention over all ranks.
double GemmFlops(const Workload& w) {
  double flops = 0;
  for (const int c : w.class_of_rank) {
    for (const Op& op : w.programs[static_cast<size_t>(c)].ops) {
      if (op.kind != OpKind::kCompute) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) {
        const Submodule& m = w.submodules[s];
        const bool counts = m.Is<submodule::Linear>() || m.Is<submodule::Attention>() ||
                            m.Is<submodule::GroupedLinear>();
        if (counts) flops += m.flops;
      }
    }
  }
  return flops;
}

int64_t ParametersOf(const Overrides& overrides, const std::string& text = kShardedJob) {
  return ParameterCount(ParseShardedJob(overrides, text)->model);
}

std::string WithoutKeyHeads() {
  std::string text = kShardedJob;
  const std::string line = "  kv_heads: 4\n";
  return text.erase(text.find(line), line.size());
}

TEST(ShardedScopeTest, Fp8RunsAllGemmsButTheHeadsInFp8) {
  const Workload plain = ShardedWorkload(kFsdp), w = ShardedWorkload({"training.precision=fp8"});
  EXPECT_EQ(StructureMistake(w), "");
  EXPECT_EQ(w.totals.precision, DataType::kFp8);
  EXPECT_DOUBLE_EQ(GemmFlops(w), GemmFlops(plain));
  for (const Submodule& s : w.submodules) {
    if (!s.Is<submodule::Linear>()) continue;
    EXPECT_EQ(s.type, s.name == "head.logits" ? DataType::kBf16 : DataType::kFp8) << s.name;
  }
  // Each GEMM reads input and weight for their scales, and the gradient in backward.
  int64_t read = 0, cast = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCompute || op.layer != 1) continue;
    for (const uint32_t i : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[i];
      if (s.name.ends_with("-scale")) read += FieldOf(s, "elements");
      if (s.name.ends_with("-cast")) cast += FieldOf(s, "rows") * FieldOf(s, "n");
    }
  }
  const int64_t t = 2 * 32, weights = kLayerElements - 2 * 64;
  const int64_t inputs = 6 * 64 + 160, outputs = 64 + 32 + 32 + 64 + 160 + 160 + 64;
  EXPECT_EQ(cast, weights);
  EXPECT_EQ(read, weights + t * (inputs + outputs));
  // The gathered and reduced elements do not change.
  EXPECT_EQ(ElementsMoved(w, "dp", kAg), ElementsMoved(plain, "dp", kAg));
}

TEST(ShardedScopeTest, ContextParallelRanksShareParametersAndSplitTheWork) {
  const Workload one = ShardedWorkload({"parallel.data=8"});
  for (const char* type : {"p2p", "allgather"}) {
    const Workload w =
        ShardedWorkload({"parallel.context=2", "parallel.data=4",
                         std::string("parallel.context_type=") + type, "training.micro_batch=4"});
    EXPECT_EQ(StructureMistake(w), "");
    EXPECT_NEAR(GemmFlops(w) / GemmFlops(one), 1, 1e-9) << type;
    // Parameters are sharded over the ranks of both dimensions.
    EXPECT_EQ(ElementsMoved(w, "dp-cp", kRs), kAllElements);
    for (const Op& op : w.programs[0].ops) {
      if (!IsCommunication(op.kind) || w.roles[op.role].name != "dp-cp") continue;
      EXPECT_EQ(w.calls[op.work].group_size, 8);
    }
  }
}

// Keys and values of t tokens and 4 heads of 8: CP - 1 steps in forward and CP in backward. All
// backward steps but the first and the last carry gradients too.
TEST(ShardedScopeTest, TheRingExchangesKeysAndValues) {
  const Workload w = ShardedWorkload({"parallel.context=4", "parallel.data=2",
                                      "training.micro_batch=8", "parallel.context_type=p2p"});
  EXPECT_EQ(StructureMistake(w), "");
  int64_t forward = 0, backward = 0;
  for (const Op& op : w.programs[0].ops) {
    if (!IsCommunication(op.kind) || w.roles[op.role].name != "cp" || op.layer != 2) continue;
    const int64_t count = w.calls[op.work].parts.front().count;
    (op.phase == Phase::kForward ? forward : backward) += count;
  }
  const int64_t one = 8 * 32 / 4 * 2 * 4 * 8;
  EXPECT_EQ(forward, 3 * one);
  EXPECT_EQ(backward, 2 * one + 2 * 2 * one);
}

TEST(ShardedScopeTest, UlyssesExchangesHeads) {
  const Workload w =
      ShardedWorkload(Join({Zero(2),
                            {"parallel.context=4", "parallel.data=2", "parallel.context_type=a2a",
                             "training.micro_batch=8"}}));
  EXPECT_EQ(StructureMistake(w), "");
  int64_t moved = 0;
  for (const auto& [type, count] : CollectivesOf(w, "cp")) {
    EXPECT_EQ(type, CollectiveType::kAllToAll);
    moved += count;
  }
  // Four layers, forward and backward: queries, keys, values and outputs of the rank's tokens.
  EXPECT_EQ(moved, 4 * 2 * (8 * 32 / 4) * (64 + 32 + 32 + 64));
  EXPECT_EQ(ElementsMoved(w, "dp-cp", kAr), kAllElements);
}

TEST(ShardedScopeTest, ATiedHeadUsesTheEmbeddingsWeight) {
  const Overrides tied = {"model.tied_embedding=true"};
  const Workload fsdp = ShardedWorkload(Join({kFsdp, tied}));
  EXPECT_EQ(StructureMistake(fsdp), "");
  // Embedding, norm and head are one group, gathered once and reduced after the embedding.
  const int64_t root = kEmbeddingElements + 64;
  const Collectives found = CollectivesOf(fsdp, "dp");
  EXPECT_EQ(found.front(), (std::pair{kAg, root}));
  EXPECT_EQ(found.back(), (std::pair{kRs, root}));
  EXPECT_EQ(ElementsMoved(fsdp, "dp", kAg), root + 2 * 4 * kLayerElements);
  for (const int stage : {1, 2, 3}) {
    Overrides job = Join({Zero(stage), tied});
    if (stage == 3) job.push_back("zero.param_persistence_threshold=0");
    const Workload w = ShardedWorkload(job);
    EXPECT_EQ(StructureMistake(w), "");
    EXPECT_EQ(ElementsMoved(w, "dp", stage == 3 ? kRs : kAr), kAllElements - kEmbeddingElements)
        << stage;
  }
}

TEST(ShardedScopeTest, LatentAttentionHasTheModelsParameters) {
  for (const Overrides& framework : {kFsdp, Zero(1), Zero(3)}) {
    const Overrides job = Join({framework, kLatent});
    const Workload w = ShardedWorkload(job, 1, 8, WithoutKeyHeads());
    EXPECT_EQ(StructureMistake(w), "");
    const bool scatters = framework.size() == 1 || framework[1] == "zero.stage=3";
    const int64_t reduced = ElementsMoved(w, "dp", scatters ? kRs : kAr);
    EXPECT_NEAR(static_cast<double>(reduced),
                static_cast<double>(ParametersOf(job, WithoutKeyHeads())), 64);
  }
}

// Two ranks hold each of four sets of experts. Experts are sharded over these two, the rest over
// all.
TEST(ShardedScopeTest, ExpertsAreSharedByTheRanksThatHoldThem) {
  const int64_t expert = 3 * 64 * 96;
  for (const Overrides& framework : {kFsdp, Zero(2)}) {
    const Overrides job =
        Join({framework, kExperts, {"parallel.expert=4", "training.moe_aux_loss=false"}});
    const Workload w = ShardedWorkload(job);
    EXPECT_EQ(StructureMistake(w), "");
    const auto type = framework.size() == 1 ? kRs : kAr;
    const int64_t experts = ElementsMoved(w, "edp", type);
    EXPECT_EQ(experts, 4 * expert);  // one expert in each of four layers
    EXPECT_EQ(ElementsMoved(w, "dp", type) + 4 * experts, ParametersOf(job));
  }
}

// Token dispatch and combine move each token's two copies, in forward and backward.
TEST(ShardedScopeTest, DispatchAndCombineMoveTwoCopiesOfEachToken) {
  const Workload w = ShardedWorkload(
      Join({kFsdp, kExperts, {"parallel.expert=4", "training.moe_aux_loss=false"}}));
  int64_t tokens = 0;
  for (const Op& op : w.programs[0].ops) {
    if (!IsCommunication(op.kind) || w.roles[op.role].name != "ep" || op.layer != 0) continue;
    const CommCall& call = w.calls[op.work];
    if (call.collective == CollectiveType::kAllToAll) tokens += call.count;
  }
  EXPECT_EQ(tokens, 2 * (2 * 64 * 2 * 64) + 2 * (64 * 2));
  EXPECT_DOUBLE_EQ(
      GemmFlops(w),
      GemmFlops(ShardedWorkload(Join({kFsdp, kExperts, {"training.moe_aux_loss=false"}}))));
}

TEST(ShardedScopeTest, RejectsUnsupportedFeatures) {
  const auto error = [](std::initializer_list<Overrides> lists) {
    return ShardedError(Join(lists));
  };
  EXPECT_THAT(error({Zero(1), {"training.precision=fp8"}}),
              HasSubstr("DeepSpeed runs no GEMMs in fp8: precision must be fp16 or bf16"));
  EXPECT_THAT(error({Zero(1), {"parallel.context=2", "parallel.data=4"}}),
              HasSubstr("(Ulysses) exchanges heads: context_type must be a2a"));
  EXPECT_THAT(
      error({kFsdp, {"parallel.context=2", "parallel.data=4", "parallel.context_type=a2a"}}),
      HasSubstr("context_type must be p2p or allgather"));
  EXPECT_THAT(error({Zero(3), kExperts}), HasSubstr("DeepSpeed's experts need ZeRO stage 1 or 2"));
  EXPECT_THAT(error({kFsdp, kExperts, {"parallel.expert=4", "fsdp.version=1"}}),
              HasSubstr("with expert > 1 version must be 2"));
  EXPECT_THAT(error({kFsdp, {"model.tied_embedding=true", "parallel.pipeline=2"}}),
              HasSubstr("with pipeline > 1 tied_embedding must be false"));
}

}  // namespace
}  // namespace drydock
