// Compares steps of Muon with counts by hand.
#include <gmock/gmock.h>

#include <map>

#include "workload-gen/program/program_builder.h"
#include "workload-gen/stages/muon_step.h"
#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

Overrides Muon(Overrides more) {
  more.insert(more.begin(), {"training.framework=megatron", "training.optimizer=muon"});
  return more;
}

Workload Made(const Overrides& more) { return ShardedWorkload(Muon(more)); }

// The products of the optimizer by their shape.
std::map<std::vector<int64_t>, int> Products(const Workload& w) {
  std::map<std::vector<int64_t>, int> products;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCompute) continue;
    for (const uint32_t index : w.blocks[op.work].submodules) {
      const Submodule& s = w.submodules[index];
      if (s.name != "optimizer.muon-product") continue;
      const auto& product = *s.As<submodule::Linear>();
      ++products[{product.rows, product.n, product.k}];
    }
  }
  return products;
}

// Queries, keys and values, proj, fc1 and fc2, each on its smaller side; five steps of three.
TEST(Muon, EachMatrixTakesThreeProductsAStep) {
  std::map<std::vector<int64_t>, int> products;
  for (int layer = 0; layer < 4; ++layer) {
    // Rows and columns, the smaller first: queries, keys, values, proj, fc1, fc2.
    for (const auto& [small, large] : std::vector<std::pair<int64_t, int64_t>>{
             {64, 64}, {32, 64}, {32, 64}, {64, 64}, {64, 320}, {64, 160}}) {
      products[{small, small, large}] += 5;
      products[{small, small, small}] += 5;
      products[{small, large, small}] += 5;
    }
  }
  EXPECT_EQ(Products(Made({})), products);
}

TEST(Muon, QkvMayStayWholeAndStepsAreCounted) {
  const auto products = Products(Made({"training.muon_split_qkv=false", "training.muon_steps=2"}));
  EXPECT_EQ(products.at({64, 64, 128}), 4 * 2);
  EXPECT_EQ(products.count({32, 32, 64}), 0u);
}

// The costliest matrix goes to the rank with the least work: fc1 fills a rank as fc2, qkv and proj
// do together.
TEST(Muon, DistributedRanksHoldWholeMatrices) {
  const Workload w = Made({"training.distributed_optimizer=true"});
  EXPECT_EQ(Products(w), (std::map<std::vector<int64_t>, int>{
                             {{64, 64, 320}, 5}, {{64, 64, 64}, 5}, {{64, 320, 64}, 5}}));
  EXPECT_EQ(Executor(w).Run(), "");
  // The fullest rank of matrices has fc1, or fc2 with qkv and proj: 20,480 elements or more.
  const Collectives calls = CollectivesOf(w, "dp");
  using C = CollectiveType;
  ASSERT_EQ(calls.size(), 5u);  // two buckets, both ways, and the loss
  EXPECT_EQ(calls[0].first, C::kReduceScatter);
  EXPECT_EQ(calls[0].second % (8 * 128), 0);
  EXPECT_GE(calls[0].second, 4 * (kLayerElements - 128));
}

// Without a layout, gradients are all-reduced and updated tensors gathered.
TEST(Muon, WithoutALayoutGradientsAreAllReduced) {
  const Workload w = Made({"training.distributed_optimizer=true", "training.muon_layout=false"});
  std::map<CollectiveType, int> counts = CountCollectives(w, "dp");
  EXPECT_EQ(counts[CollectiveType::kReduceScatter], 0);
  EXPECT_EQ(counts[CollectiveType::kAllGather], 1);
  EXPECT_EQ(ElementsMoved(w, "dp", CollectiveType::kAllGather), kAllElements);
  EXPECT_EQ(Executor(w).Run(), "");
}

Overrides OverTensorRanks(const std::string& mode) {
  return {"parallel.tensor=2", "parallel.sequence_parallel=true",
          "training.muon_tensor_mode=" + mode};
}

std::map<CollectiveType, int> InStep(const Workload& w) {
  std::map<CollectiveType, int> counts;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCollective && op.phase == Phase::kOptimizer && op.role == kTensorRole)
      ++counts[w.calls[op.work].collective];
  }
  return counts;
}

TEST(Muon, TensorRanksGatherOrReduceOrStayApart) {
  const Workload apart = Made(OverTensorRanks("blockwise"));
  EXPECT_EQ(InStep(apart).size(), 0u);
  EXPECT_EQ(Products(apart).at({64, 64, 160}), 4 * 5);  // half of fc1
  const Workload gathered = Made(OverTensorRanks("duplicated"));
  EXPECT_EQ(InStep(gathered)[CollectiveType::kAllGather], 4 * 6);
  EXPECT_EQ(Products(gathered).at({64, 64, 320}), 4 * 5);
  const Workload together = Made(OverTensorRanks("distributed"));
  EXPECT_EQ(InStep(together)[CollectiveType::kAllReduce], 4 * 6 * (1 + 5));
  EXPECT_EQ(Executor(together).Run(), "");
}

TEST(Muon, MemoryOfMatricesIsTheMomentumAlone) {
  const Workload w = Made({});
  const int64_t matrices = 4 * (kLayerElements - 128);
  for (const MemoryPart& part : w.memory[0]) {
    if (part.name != "optimizer states") continue;
    EXPECT_EQ(part.bytes.count(), matrices * 8 + (kAllElements - matrices) * 12);
  }
}

// Dealt out by size, the embedding is on one rank, which then is the fullest.
TEST(Muon, MemoryIsThatOfTheFullestRank) {
  const Workload w = Made({"training.distributed_optimizer=true", "training.muon_layout=false"});
  for (const MemoryPart& part : w.memory[0]) {
    if (part.name != "optimizer states") continue;
    EXPECT_GE(part.bytes.count(), kEmbeddingElements * 12);
    EXPECT_LT(part.bytes.count(), (kEmbeddingElements + 4 * 20480) * 12);
  }
}

// The router is a matrix, too; each expert has its own.
TEST(Muon, ExpertsHaveTheirOwnMatrices) {
  const auto products =
      Products(Made({"model.experts=4", "model.experts_per_token=2", "parallel.expert=4"}));
  EXPECT_EQ(products.at({4, 4, 64}), 4 * 5);
  EXPECT_EQ(products.at({64, 64, 320}), 4 * 5);
}

std::string RuleError(const Overrides& more) {
  const Result<TrainingJob> job = ParseShardedJob(more);
  return job.ok() ? "" : job.error().message();
}

TEST(Muon, Rules) {
  EXPECT_EQ(RuleError({"training.optimizer=muon"}), "'muon' needs framework: megatron");
  EXPECT_EQ(
      RuleError(Muon({"training.distributed_optimizer=true", "training.optimizer_instances=2"})),
      "'muon' needs optimizer_instances: 1");
  EXPECT_EQ(
      RuleError(Muon({"training.distributed_optimizer=true", "megatron_fsdp.sharding=optim"})),
      "'muon' excludes megatron_fsdp");
}

}  // namespace
}  // namespace drydock
