#include "study/search/layer_costs.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

Time Ms(int64_t ms) { return Time::Us(1000 * ms); }

// Eight layers over four stages; a layer takes 1 ms forward, 2 ms backward, and saves 10 bytes.
ParallelLayout Layout(int chunks) {
  ParallelLayout layout;
  layout.pipeline = 4;
  layout.chunks = chunks;
  layout.microbatches = 8;
  for (int stage = 0; stage <= 4 * chunks; ++stage) {
    layout.first_layer.push_back(stage * 8 / (4 * chunks));
  }
  return layout;
}

LayerCosts Costs() {
  LayerCosts costs;
  costs.layers.assign(8, {Ms(1), Ms(2), Bytes(10)});
  return costs;
}

TEST(LayerCosts, APipelineFillsAndDrains) {
  // (8 micro-batches + 3 stages) x 2 layers x 3 ms.
  EXPECT_EQ(LeastTimeOf(Layout(1), Costs()), Ms(66));
  // With two chunks, the others pass one layer each before and after.
  EXPECT_EQ(LeastTimeOf(Layout(2), Costs()), Ms(8 * 6 + 3 * 3));
}

TEST(LayerCosts, TheStageWithTheHeadMayBeTheSlowest) {
  LayerCosts costs = Costs();
  costs.head = {Ms(5), Ms(5), Bytes()};
  EXPECT_EQ(LeastTimeOf(Layout(1), costs), Ms(8 * (6 + 10) + 3 * 6));
  costs.embedding = {Ms(100), Ms(0), Bytes()};
  EXPECT_EQ(LeastTimeOf(Layout(1), costs), Ms(8 * 106));
}

TEST(LayerCosts, AStageSavesTheMicrobatchesInFlight) {
  EXPECT_EQ(LeastSaved(Layout(1), Costs(), 0), Bytes(4 * 20));
  EXPECT_EQ(LeastSaved(Layout(1), Costs(), 3), Bytes(20));
  // 2 x 3 + 4 passes of one layer warm up, one more runs.
  EXPECT_EQ(LeastSaved(Layout(2), Costs(), 0), Bytes(11 * 10));
  ParallelLayout few = Layout(1);
  few.microbatches = 2;
  EXPECT_EQ(LeastSaved(few, Costs(), 0), Bytes(2 * 20));
}

// One rank; submodule i takes i + 1 ms.
class OneRank {
 public:
  OneRank() {
    workload_.topology.gpus.emplace_back();
    HostKind kind;
    kind.gpus = 1;
    workload_.topology.host_kinds.push_back(kind);
    workload_.topology.hosts = {0};
    workload_.streams = {"compute", "tensor"};
    workload_.class_of_rank = {0};
    workload_.class_count = 1;
    workload_.programs.emplace_back().dependency_begin.push_back(0);
    times_.gpus.emplace_back();
    for (uint32_t i = 0; i < 20; ++i) {
      SubmoduleTime time;
      time.total = Ms(i + 1);
      times_.gpus[0].submodules.push_back(time);
      workload_.blocks.push_back({"block", {i}});
    }
  }

  void Compute(int ms, int layer, Phase phase, int microbatch, uint8_t stream = 0,
               bool waits = false) {
    Program& program = workload_.programs[0];
    Op op;
    op.stream = stream;
    op.work = static_cast<uint32_t>(ms - 1);
    op.layer = layer;
    op.phase = phase;
    op.microbatch = microbatch;
    if (waits) program.dependency.push_back(static_cast<uint32_t>(program.ops.size() - 1));
    program.ops.push_back(op);
    program.dependency_begin.push_back(static_cast<uint32_t>(program.dependency.size()));
  }

  LayerCosts Costs() const { return LayerCostsOf(workload_, times_, 2, {Bytes(7), Bytes(8)}); }

 private:
  Workload workload_;
  KernelTimes times_;
};

TEST(LayerCosts, AreThoseOfTheSecondMicrobatch) {
  OneRank run;
  for (const int microbatch : {0, 1, 2}) {
    const int more = microbatch == 1 ? 0 : 5;
    run.Compute(1 + more, -1, Phase::kForward, microbatch);
    run.Compute(2 + more, 0, Phase::kForward, microbatch);
    run.Compute(3 + more, 1, Phase::kForward, microbatch);
    run.Compute(4 + more, -1, Phase::kForward, microbatch);
    run.Compute(5 + more, -1, Phase::kBackward, microbatch);
    run.Compute(1 + more, 1, Phase::kRecompute, microbatch);
    run.Compute(6 + more, 1, Phase::kBackward, microbatch);
    run.Compute(7 + more, 0, Phase::kBackward, microbatch);
    run.Compute(8 + more, -1, Phase::kBackward, microbatch);
  }
  const LayerCosts costs = run.Costs();
  EXPECT_EQ(costs.embedding.forward, Ms(1));
  EXPECT_EQ(costs.layers[0].forward, Ms(2));
  EXPECT_EQ(costs.layers[1].forward, Ms(3));
  EXPECT_EQ(costs.head.forward, Ms(4));
  EXPECT_EQ(costs.head.backward, Ms(5));
  EXPECT_EQ(costs.layers[1].backward, Ms(7));
  EXPECT_EQ(costs.layers[0].backward, Ms(7));
  EXPECT_EQ(costs.embedding.backward, Ms(8));
  EXPECT_EQ(costs.layers[1].saved, Bytes(8));
}

TEST(LayerCosts, CountWhatComputeWaitsFor) {
  OneRank run;
  run.Compute(2, 0, Phase::kForward, 1);
  run.Compute(9, 0, Phase::kForward, 1, /*stream=*/1, /*waits=*/true);
  run.Compute(1, 1, Phase::kForward, 1, /*stream=*/0, /*waits=*/true);
  run.Compute(9, 1, Phase::kForward, 1, /*stream=*/1, /*waits=*/true);  // for which nobody waits
  EXPECT_EQ(run.Costs().layers[0].forward, Ms(2));
  EXPECT_EQ(run.Costs().layers[1].forward, Ms(10));
}

}  // namespace
}  // namespace drydock
