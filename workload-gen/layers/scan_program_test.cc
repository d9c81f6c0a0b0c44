// Mamba-2 layers, gated delta nets and patterns of layers as Megatron runs them, counted by hand.
#include "workload-gen/layers/scan_program.h"

#include <gmock/gmock.h>

#include "workload-gen/graph/text/program_counts.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;
using Overrides = std::vector<std::string>;

constexpr const char* kGather = "tp all-gather 4096 x fp16 = 8.192 KB over 2";
constexpr const char* kScatter = "tp reduce-scatter 4096 x fp16 = 8.192 KB over 2";

// TP2 with sequence parallelism: t = 64 rows of width 64, 32 of them local.
Workload Made(Overrides more) {
  Overrides overrides = {"parallel.pipeline=1",     "parallel.sequence_parallel=true",
                         "training.global_batch=8", "model.positions=none",
                         "model.bias=false",        "model.dropout=0"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestWorkload(overrides);
}

// Eight heads of 16 columns in two groups, with 4 rows of state each.
Workload Hybrid(Overrides more = {}) {
  Overrides overrides = {"model.layer_pattern=M*-MM-*M", "model.mamba_head_dim=16",
                         "model.mamba_state=4", "model.mamba_groups=2"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return Made(overrides);
}

TEST(ScanProgram, ALayerOfAPatternHasOnePart) {
  const Workload w = Hybrid();
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 0, Phase::kForward),
              ElementsAre("mamba.norm", "mamba.in", "mamba.scan", "mamba.out", "mamba.residual"));
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 1, Phase::kForward),
              ElementsAre("attention.norm", "attention.qkv", "attention.core", "attention.proj",
                          "attention.residual"));
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 2, Phase::kForward),
              ElementsAre("mlp.norm", "mlp.fc1", "mlp.activation", "mlp.fc2", "mlp.residual"));
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 3, Phase::kBackward),
              ElementsAre("mamba.out", "mamba.out", "mamba.scan", "mamba.in", "mamba.in",
                          "mamba.norm", "residual.gradient"));
}

TEST(ScanProgram, RowsAreGatheredAndScatteredAsForAttention) {
  const Workload w = Hybrid();
  EXPECT_THAT(CallsOfLayer(w, 0, 0, Phase::kForward), ElementsAre(kGather, kScatter));
  EXPECT_THAT(CallsOfLayer(w, 0, 3, Phase::kBackward), ElementsAre(kGather, kGather, kScatter));
}

TEST(ScanProgram, TensorParallelismSplitsHeadsAndGroups) {
  int found = 0;
  for (const Submodule& s : Hybrid().submodules) {
    if (s.pass != Pass::kForward) continue;
    if (s.name == "mamba.in") {
      ++found;  // z and x of 128, B and C of 2 x 4, a step of each of 8 heads
      EXPECT_EQ(s.As<submodule::Linear>()->n, (2 * 128 + 2 * 2 * 4 + 8) / 2);
    }
    if (const auto* scan = s.As<submodule::StateSpace>()) {
      ++found;
      EXPECT_EQ(scan->rows, 64);
      EXPECT_EQ(scan->heads, 4);
      EXPECT_EQ(scan->groups, 1);
      EXPECT_EQ(scan->convolved(), 64 + 2 * 4);
    }
  }
  EXPECT_EQ(found, 2);
}

// Counts the graphs of a micro-batch's forward: one for each Mamba-2 layer.
TEST(ScanProgram, AGraphOfMambaHoldsItsLayers) {
  const Workload w = Hybrid({"training.cuda_graphs=[mamba]", "training.global_batch=8"});
  int graphs = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.microbatch != 0 || op.phase != Phase::kForward) continue;
    graphs += op.graph == GraphPart::kFirst ? 1 : 0;
  }
  EXPECT_EQ(graphs, 4);
}

TEST(ScanProgram, ADeltaNetReplacesAttentionInMostLayers) {
  const Workload w =
      Made({"model.delta_attention_every=4", "model.delta_key_heads=2", "model.delta_value_heads=4",
            "model.delta_key_dim=8", "model.delta_value_dim=16", "model.attention_gate=true"});
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 0, Phase::kForward),
              ElementsAre("delta-net.norm", "delta-net.in", "delta-net.scan", "delta-net.out",
                          "delta-net.residual", "mlp.norm", "mlp.fc1", "mlp.activation", "mlp.fc2",
                          "mlp.residual"));
  EXPECT_THAT(SubmodulesOfLayer(w, 0, 3, Phase::kForward),
              ElementsAre("attention.norm", "attention.qkv", "attention.core", "attention.gate",
                          "attention.proj", "attention.residual", "mlp.norm", "mlp.fc1",
                          "mlp.activation", "mlp.fc2", "mlp.residual"));
  for (const Submodule& s : w.submodules) {
    if (s.name != "delta-net.in" || s.pass != Pass::kForward) continue;
    // Queries and keys of 2 x 8, values and gate of 4 x 16, two numbers for each of 4 heads.
    EXPECT_EQ(s.As<submodule::Linear>()->n, (2 * 16 + 2 * 64 + 2 * 4) / 2);
  }
}

// A depth of multi-token prediction is an ordinary layer, whatever the pattern ends with.
TEST(ScanProgram, MultiTokenPredictionHasAttentionAndAnMlp) {
  const Workload w = Hybrid({"model.mtp_layers=1"});
  const std::vector<std::string> names = SubmodulesOfLayer(w, 0, 8, Phase::kForward);
  EXPECT_THAT(names, testing::IsSupersetOf({"attention.qkv", "mlp.fc1"}));
  EXPECT_THAT(names, testing::Not(testing::Contains("mamba.in")));
}

}  // namespace
}  // namespace drydock
