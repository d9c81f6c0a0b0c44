// Context parallelism as Transformer Engine runs it, counted by hand.
#include "workload-gen/program/core_attention.h"

#include <gmock/gmock.h>

#include "workload-gen/graph/text/program_counts.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;
using Overrides = std::vector<std::string>;

// 8 GPUs: TP2 CP4. 16 rows a rank; keys 16 x 32, of 2 heads with grouped queries 16 x 16.
Workload Ring(Overrides more) {
  Overrides overrides = {"parallel.pipeline=1", "parallel.context=4", "training.global_batch=2"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestWorkload(overrides);
}

std::vector<std::string> Exchanges(const Workload& w, Phase phase) {
  std::vector<std::string> lines;
  for (const std::string& line : CallsOfLayer(w, 0, 3, phase)) {
    if (line.starts_with("cp ")) lines.push_back(line.substr(3, line.find(';') - 3));
  }
  return lines;
}

TEST(CoreAttention, RingExchangesKeysAndTheirGradients) {
  const Workload w = Ring({});
  const char* one = "grouped, 8.192 KB";  // 4 messages of keys and values
  const char* two = "grouped, 16.38 KB";  // and their gradients
  EXPECT_THAT(Exchanges(w, Phase::kForward), ElementsAre(one, one, one));
  EXPECT_THAT(Exchanges(w, Phase::kBackward), ElementsAre(one, two, two, one));
  int up = 0, down = 0;
  for (const CommCall& call : w.calls) {
    for (const CommCall& part : call.parts) {
      up += part.peer == (part.root + 1) % 4 ? 1 : 0;
      down += part.root == (part.peer + 1) % 4 ? 1 : 0;
    }
  }
  EXPECT_EQ(up, 4);
  EXPECT_EQ(down, 8);
}

// Forward, queries, keys and values are quantized and the output is cast; backward, the reverse.
// What ranks exchange is fp8.
TEST(CoreAttention, Fp8IsCastOnceAndExchanged) {
  const Overrides fp8 = {"training.precision=fp8", "training.fp8_attention=true"};
  const Workload w = Ring(fp8);
  const char* one = "grouped, 4.096 KB";
  EXPECT_THAT(Exchanges(w, Phase::kForward), ElementsAre(one, one, one));
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    std::vector<std::string> around;  // attention and its casts, in order
    for (const Op& op : w.programs[0].ops) {
      if (op.kind != OpKind::kCompute || op.layer != 3 || op.phase != phase) continue;
      if (op.microbatch != 0) continue;
      for (const uint32_t number : w.blocks[op.work].submodules) {
        const Submodule& s = w.submodules[number];
        if (s.name == "attention.core-cast") around.emplace_back("cast");
        if (!s.Is<submodule::Attention>()) continue;
        EXPECT_EQ(s.type, DataType::kFp8);
        around.emplace_back("step");
      }
    }
    const bool forward = phase == Phase::kForward;
    std::vector<std::string> expected(8, "cast");
    std::fill_n(expected.begin() + (forward ? 3 : 1), 4, "step");
    EXPECT_EQ(around, expected);
  }
}

// Each step computes half of its square on every rank; all steps together compute the causal square
// / CP.
TEST(CoreAttention, StepsShareTheCausalSquare) {
  const auto flops = [](const Workload& w) {
    double sum = 0;
    for (const Op& op : w.programs[0].ops) {
      if (op.kind != OpKind::kCompute || op.layer != 3 || op.phase != Phase::kForward) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) {
        const Submodule& submodule = w.submodules[s];
        if (submodule.Is<submodule::Attention>()) sum += submodule.flops;
      }
    }
    return sum;
  };
  const double whole = flops(TestWorkload({"parallel.pipeline=1", "training.global_batch=8"}));
  EXPECT_DOUBLE_EQ(flops(Ring({})), whole / 4);
  EXPECT_DOUBLE_EQ(flops(Ring({"parallel.context_type=a2a"})), whole / 4);
  EXPECT_DOUBLE_EQ(flops(Ring({"parallel.context_type=allgather"})), whole / 4);
  EXPECT_DOUBLE_EQ(flops(Ring({"parallel.context_type=a2a+p2p", "parallel.context_heads=2"})),
                   whole / 4);
}

// Counts the elements of a layer that are copied or scaled, and the elements that are added.
std::pair<int64_t, int64_t> Merged(const Workload& w, Phase phase) {
  std::pair<int64_t, int64_t> merged;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCompute || op.layer != 3 || op.phase != phase) continue;
    if (op.microbatch != 0) continue;
    for (const uint32_t number : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[number];
      if (!s.name.starts_with("attention.merge")) continue;
      const auto& add = *s.As<submodule::Add>();
      (add.summands == 1 ? merged.first : merged.second) += add.rows * add.n;
    }
  }
  return merged;
}

// 16 rows of 16 queries a rank. Forward the first output is scaled and three are added; backward
// the first gradient of queries is copied and three are added, and three of keys and values.
TEST(CoreAttention, StepsAreMerged) {
  const Workload w = Ring({"model.kv_heads=2"});
  const submodule::Attention* core = nullptr;
  for (const Submodule& s : w.submodules) {
    if (s.name == "attention.core") core = s.As<submodule::Attention>();
  }
  ASSERT_NE(core, nullptr);
  const int64_t queries = core->batch * core->sequence * core->heads * core->head_dim;
  const int64_t keys = 2 * core->batch * core->sequence * core->kv_heads * core->head_dim;
  EXPECT_EQ(Merged(w, Phase::kForward), (std::pair{queries, 3 * queries}));
  EXPECT_EQ(Merged(w, Phase::kBackward), (std::pair{queries, 3 * queries + 3 * keys}));
  EXPECT_EQ(Merged(TestWorkload({"parallel.pipeline=1"}), Phase::kForward),
            (std::pair<int64_t, int64_t>{}));
}

// An exchange runs beside the step issued after it.
TEST(CoreAttention, ExchangesRunBesideTheSteps) {
  const Workload w = Ring({});
  const Program& p = w.programs[0];
  int beside = 0;
  for (size_t i = 0; i + 1 < p.ops.size(); ++i) {
    if (p.ops[i].kind != OpKind::kCollective || p.ops[i].role != kContextRole) continue;
    ASSERT_EQ(p.ops[i + 1].kind, OpKind::kCompute);
    for (const uint32_t d : p.dependencies(i + 1)) EXPECT_NE(d, i);
    ++beside;
  }
  EXPECT_EQ(beside, 8 * (3 + 4));
}

TEST(CoreAttention, AllToAllExchangesHeadsForRows) {
  const Workload w = Ring({"parallel.context_type=a2a"});
  const char* part = "all-to-all 512 x fp16 = 1.024 KB over 4";
  EXPECT_THAT(Exchanges(w, Phase::kForward), ElementsAre(part, part, part, part));
  EXPECT_THAT(Exchanges(w, Phase::kBackward), ElementsAre(part, part, part, part));
}

TEST(CoreAttention, AllGatherCollectsTheKeysOfAllRanks) {
  const Workload w = Ring({"parallel.context_type=allgather", "model.kv_heads=4"});
  const char* gather = "all-gather 1024 x fp16 = 2.048 KB over 4";
  const char* scatter = "reduce-scatter 1024 x fp16 = 2.048 KB over 4";
  EXPECT_THAT(Exchanges(w, Phase::kForward), ElementsAre(gather, gather));
  EXPECT_THAT(Exchanges(w, Phase::kBackward), ElementsAre(gather, gather, scatter, scatter));
}

// The exchanges of a call whose role begins with `role`, of layer 3.
std::vector<std::string> LevelCalls(const Workload& w, Phase phase) {
  std::vector<std::string> lines;
  for (const std::string& line : CallsOfLayer(w, 0, 3, phase)) {
    if (line.starts_with("cp")) lines.push_back(line.substr(0, line.find(';')));
  }
  return lines;
}

// Two ranks exchange heads, then keys and values pass around a ring of two. 16 rows of 2 x 16
// elements a rank, before and after the exchange: 512 elements; keys and values of both ranks of a
// ring, 2 x 2 x 1,024 bytes.
TEST(CoreAttention, HeadsAreExchangedAroundARing) {
  const Workload w = Ring({"parallel.context_type=a2a+p2p", "parallel.context_heads=2"});
  const char* heads = "cp-heads all-to-all 512 x fp16 = 1.024 KB over 2";
  const char* one = "cp-ring grouped, 4.096 KB";
  EXPECT_THAT(LevelCalls(w, Phase::kForward), ElementsAre(heads, heads, heads, one, heads));
  EXPECT_THAT(LevelCalls(w, Phase::kBackward), ElementsAre(heads, one, one, heads, heads, heads));
}

// AttnFuncWithCPAndKVP2P exchanges queries, keys, values and the output in 16 bits, the output's
// gradient and what passes around the ring in fp8.
TEST(CoreAttention, HeadsAreExchangedBeforeTheCastToFp8) {
  const Workload w = Ring({"parallel.context_type=a2a+p2p", "parallel.context_heads=2",
                           "training.precision=fp8", "training.fp8_attention=true"});
  const char* wide = "cp-heads all-to-all 512 x bf16 = 1.024 KB over 2";
  const char* narrow = "cp-heads all-to-all 512 x fp8 = 512 B over 2";
  const char* one = "cp-ring grouped, 2.048 KB";
  EXPECT_THAT(LevelCalls(w, Phase::kForward), ElementsAre(wide, wide, wide, one, wide));
  EXPECT_THAT(LevelCalls(w, Phase::kBackward), ElementsAre(narrow, one, one, wide, wide, wide));
}

TEST(CoreAttention, RecomputationRepeatsTheExchanges) {
  EXPECT_EQ(Exchanges(Ring({"training.recompute=selective"}), Phase::kRecompute).size(), 3u);
}

// The mean number of keys that a query sees replaces the window.
TEST(CoreAttention, AWindowLeavesFewerScores) {
  const Workload w = TestWorkload({"model.window=8", "model.full_attention_every=4"});
  int windows = 0;
  for (const Submodule& s : w.submodules) {
    const auto* attention = s.As<submodule::Attention>();
    if (attention == nullptr || s.pass != Pass::kForward || attention->causal) continue;
    EXPECT_EQ(attention->kv_sequence, 7);  // 8 - 64 / 64
    ++windows;
  }
  EXPECT_EQ(windows, 1);
}

TEST(CoreAttention, GradientsAreSummedOverContextToo) {
  const Workload w = Ring({});
  bool found = false;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCompute || op.role != kDataRole) continue;
    EXPECT_EQ(w.calls[op.work].group_size, 4);
    found = true;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace drydock
