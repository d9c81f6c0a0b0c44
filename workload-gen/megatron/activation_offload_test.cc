#include <gmock/gmock.h>

#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Workload Made(Overrides more) {
  more.insert(more.begin(), "training.framework=megatron");
  return ShardedWorkload(more);
}

int64_t Activations(const Workload& w) {
  for (const MemoryPart& part : w.memory[0]) {
    if (part.name == "activations") return part.bytes.count();
  }
  return -1;
}

struct Moves {
  std::vector<int> stored, loaded;  // the layer at which each begins
  std::vector<int> waits;           // the layers whose forward or backward waits for one
  std::vector<int64_t> bytes;
};

Moves MovesOf(const Workload& w) {
  const Program& p = w.programs[0];
  Moves moves;
  for (uint32_t i = 0; i < p.ops.size(); ++i) {
    const Op& op = p.ops[i];
    if (op.kind == OpKind::kStore) moves.stored.push_back(op.layer);
    if (op.kind == OpKind::kLoad) moves.loaded.push_back(op.layer);
    if (op.kind == OpKind::kStore || op.kind == OpKind::kLoad)
      moves.bytes.push_back(w.transfers[op.work].bytes.count());
    if (op.kind != OpKind::kCompute) continue;
    for (const uint32_t before : p.dependencies(i)) {
      const OpKind kind = p.ops[before].kind;
      if (kind == OpKind::kStore || kind == OpKind::kLoad) moves.waits.push_back(op.layer);
    }
  }
  return moves;
}

// Four layers, of which the first two leave: layer 2 waits for the first, layer 3 for the second.
// They come back before layers 1 + 0 and 1 + 1.
TEST(ActivationOffload, LayersLeaveAndComeBackAhead) {
  const Workload w = Made({"training.offload_layers=2"});
  const Moves moves = MovesOf(w);
  EXPECT_THAT(moves.stored, ElementsAre(0, 1));
  EXPECT_THAT(moves.loaded, ElementsAre(2, 1));
  EXPECT_THAT(moves.waits, UnorderedElementsAre(2, 3, 1, 0));
  EXPECT_EQ(Executor(w).Run(), "");
}

// What leaves is what a layer saves, and it is missing at the peak.
TEST(ActivationOffload, MemoryLosesWholeLayers) {
  const Workload all = Made({}), some = Made({"training.offload_layers=3"});
  const std::vector<int64_t> bytes = MovesOf(some).bytes;
  ASSERT_EQ(bytes.size(), 6u);
  EXPECT_EQ(Activations(all) - Activations(some), 3 * bytes[0]);
  EXPECT_GT(bytes[0], 64 * 64 * 2);
  EXPECT_TRUE(MovesOf(all).bytes.empty());
}

TEST(ActivationOffload, EachMicrobatchMoves) {
  EXPECT_EQ(MovesOf(Made({"training.offload_layers=1", "training.global_batch=32"})).bytes.size(),
            4u);
}

std::string RuleError(Overrides more) {
  more.insert(more.begin(), "training.framework=megatron");
  const Result<TrainingJob> job = ParseShardedJob(more);
  return job.ok() ? "" : job.error().message();
}

TEST(ActivationOffload, Rules) {
  EXPECT_EQ(RuleError({"training.offload_layers=4"}), "offload_layers 4 must be below layers 4");
  EXPECT_EQ(RuleError({"training.offload_layers=1", "parallel.pipeline=2"}),
            "'offload_layers' needs pipeline: 1");
  EXPECT_EQ(RuleError({"training.offload_layers=1", "training.recompute=full"}),
            "'offload_layers' needs recompute: none");
  EXPECT_EQ(RuleError({"training.offload_layers=1", "model.experts=4", "model.experts_per_token=2",
                       "model.first_dense_layers=1"}),
            "'offload_layers' is generated for layers that are all alike");
  EXPECT_EQ(ShardedError({"training.offload_layers=1"})
                    .find("'offload_layers' needs framework: megatron") != std::string::npos,
            true);
}

}  // namespace
}  // namespace drydock
