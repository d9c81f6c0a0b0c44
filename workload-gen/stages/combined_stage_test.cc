// "Does overlap.expert run the same work in another order, and which communication does it hide?"
#include "workload-gen/stages/combined_stage.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "workload-gen/graph/text/program_counts.h"
#include "workload-gen/testing/job_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;
using Overrides = std::vector<std::string>;

// 8 GPUs: TP2 DP4 EP4, all layers of experts, four micro-batches of one sequence.
Overrides Mixture(const Overrides& more) {
  Overrides overrides = {"model.bias=false",       "model.dropout=0",
                         "model.experts=8",        "model.experts_per_token=2",
                         "model.expert_ffn=96",    "training.precision=bf16",
                         "training.micro_batch=1", "training.global_batch=16",
                         "parallel.pipeline=1",    "parallel.sequence_parallel=true",
                         "parallel.expert=4",      "parallel.expert_tensor=1"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

Workload WithoutOverlap(const Overrides& more = {}, int gpus = 8) {
  return TestWorkload(Mixture(more), 1, gpus);
}
Workload Combined(Overrides more = {}, int gpus = 8) {
  more.emplace_back("overlap.expert=true");
  return TestWorkload(Mixture(more), 1, gpus);
}
Workload Delayed(Overrides more = {}, int gpus = 8) {
  more.emplace_back("overlap.delay_weight_gradients=true");
  return Combined(more, gpus);
}

// Counts the work of a class's program, regardless of its order and its division into ops.
std::map<std::string, int> WorkOf(const Workload& w, size_t index) {
  std::map<std::string, int> work;
  for (const Op& op : w.programs[index].ops) {
    // The place of data-parallel calls depends on the order of the passes, so it is left out.
    const bool data =
        op.phase == Phase::kGradientSync ||
        (op.kind != OpKind::kCompute && w.roles[op.role].dimension == Dimension::kData);
    const std::string place = data ? ""
                                   : " of layer " + std::to_string(op.layer) + ", micro-batch " +
                                         std::to_string(op.microbatch) + ", chunk " +
                                         std::to_string(op.chunk);
    if (op.kind != OpKind::kCompute) {
      const std::string tag = op.kind == OpKind::kCollective ? "" : std::to_string(op.tag);
      ++work[w.roles[op.role].name + " " + CallText(w.calls[op.work]) + tag + place];
      continue;
    }
    for (const uint32_t s : w.blocks[op.work].submodules) {
      const Submodule& m = w.submodules[s];
      ++work[FactsOf(m) + place];
    }
  }
  return work;
}

class CombinedStageJobs : public testing::TestWithParam<Overrides> {};

TEST_P(CombinedStageJobs, DoTheSameWork) {
  const Workload apart = WithoutOverlap(GetParam(), 16), combined = Combined(GetParam(), 16),
                 delayed = Delayed(GetParam(), 16);
  ASSERT_EQ(apart.programs.size(), combined.programs.size());
  for (size_t i = 0; i < apart.programs.size(); ++i) {
    EXPECT_EQ(WorkOf(apart, i), WorkOf(combined, i));
    EXPECT_EQ(WorkOf(apart, i), WorkOf(delayed, i));
  }
  EXPECT_EQ(StructureMistake(combined), "");
  EXPECT_EQ(StructureMistake(delayed), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, CombinedStageJobs,
    testing::Values(
        Overrides{}, Overrides{"training.moe_dispatcher=flex"},
        Overrides{"model.shared_expert_ffn=64", "model.first_dense_layers=2", "model.moe_every=3"},
        Overrides{"parallel.expert_tensor=2", "training.moe_capacity_factor=1.25"},
        Overrides{"parallel.pipeline=2", "parallel.virtual_pipeline=2"},
        Overrides{"parallel.pipeline=2", "parallel.virtual_pipeline=4", "overlap.p2p=true"},
        Overrides{"parallel.pipeline=4", "parallel.virtual_pipeline=2", "overlap.p2p=true",
                  "training.global_batch=32", "overlap.p2p_wait_send=false",
                  "training.distributed_optimizer=true", "overlap.grad_reduce=true",
                  "overlap.param_gather=true"},
        Overrides{"parallel.pipeline=2", "parallel.layout=Et*4|tt|t|tmL", "overlap.p2p=true",
                  "model.mtp_layers=1", "model.architecture=llama", "model.ffn=96",
                  "training.precision=fp8"},
        Overrides{"training.recompute=selective", "model.positions=none",
                  "training.recompute_modules=[layernorm, moe_act, core_attn]",
                  "training.distributed_optimizer=true", "overlap.grad_reduce=true",
                  "overlap.param_gather=true", "training.bucket_elements=20000"},
        Overrides{"training.global_batch=8"}));

// One layer forward (micro-batch 1) and one backward (micro-batch 0), as Megatron's
// TransformerLayerSchedulePlan lists them.
std::vector<std::string> PairOf(const Workload& w, int forward, int backward) {
  std::vector<std::string> lines;
  for (const Op& op : w.programs[0].ops) {
    const bool f = op.phase == Phase::kForward && op.microbatch == 1 && op.layer == forward;
    const bool b = op.phase == Phase::kBackward && op.microbatch == 0 && op.layer == backward;
    if (!f && !b) continue;
    const std::string dimension =
        op.kind == OpKind::kCompute
            ? ""
            : DimensionNames()[static_cast<size_t>(w.roles[op.role].dimension)];
    if (op.kind != OpKind::kCompute && dimension != "expert") continue;
    const std::string what = op.kind != OpKind::kCompute
                                 ? dimension
                                 : w.submodules[w.blocks[op.work].submodules.front()].name;
    lines.push_back((f ? "F " : "B ") + w.streams[op.stream] + ": " + what);
  }
  return lines;
}

TEST(CombinedStage, PiecesAlternate) {
  const Overrides plain = {"training.moe_aux_loss=false", "parallel.tensor=1",
                           "parallel.sequence_parallel=false", "training.moe_capacity_factor=1",
                           "training.moe_pad_to_capacity=true"};
  EXPECT_THAT(PairOf(Combined(plain), 3, 4),
              ElementsAre("B ep: moe.unpermute", "B ep: expert", "F compute: attention.norm",
                          "B compute: moe.sort", "F ep: expert", "F ep: expert", "B ep: expert",
                          "B ep: expert", "F compute: moe.sort", "F ep: expert",
                          "F ep: moe.unpermute", "B compute: moe.permute"));
  EXPECT_THAT(
      PairOf(Delayed(plain), 3, 4),
      ElementsAre("B ep: moe.unpermute", "B ep: expert", "F compute: attention.norm",
                  "B compute: moe.sort", "F ep: expert", "F ep: expert", "B compute: moe.fc2",
                  "B ep: expert", "B ep: expert", "F compute: moe.sort", "F ep: expert",
                  "F ep: moe.unpermute", "B compute: moe.permute", "B compute: attention.proj"));
}

// Returns how long compute is idle if each op starts as soon as its stream and its dependencies
// allow. A submodule takes 1, an exchange of tokens 3, any other op 0.
int Exposed(const Workload& w) {
  const Program& p = w.programs[0];
  std::vector<int> end(p.ops.size()), free_at(w.streams.size());
  int busy = 0, last = 0;
  for (size_t i = 0; i < p.ops.size(); ++i) {
    const Op& op = p.ops[i];
    int start = free_at[op.stream];
    for (const uint32_t d : p.dependencies(i)) start = std::max(start, end[d]);
    int takes = 0;
    if (op.kind == OpKind::kCompute) {
      takes = static_cast<int>(w.blocks[op.work].submodules.size());
      if (op.stream == kComputeStream) busy += takes;
    } else if (op.role == kExpertRole) {
      takes = 3;
    }
    end[i] = free_at[op.stream] = start + takes;
    last = std::max(last, end[i]);
  }
  return last - busy;
}

TEST(CombinedStage, HidesTheExchangeOfTokens) {
  // Eight layers, four micro-batches, six exchanges each: all of them exposed.
  const int apart = Exposed(WithoutOverlap());
  EXPECT_EQ(apart, 8 * 4 * 6 * 3);
  const int combined = Exposed(Combined());
  // One forward and one backward run alone; the others run as three pairs.
  EXPECT_GE(combined, 8 * 6 * 3);
  EXPECT_LT(combined, 8 * 6 * 3 + 8 * 3 * 6);
  EXPECT_LT(Exposed(Delayed()), combined);
}

// With several stages, one more forward is in flight: 2(P - r - 1) + (V - 1)P + 1.
TEST(CombinedStage, OneForwardMoreBeforeTheFirstPair) {
  PipelineShape shape;
  shape.stages = 4;
  shape.chunks = 2;
  shape.microbatches = 8;
  shape.combined = true;
  for (const auto& [stage, warmup] : {std::pair{0, 11}, {1, 9}, {2, 7}, {3, 5}}) {
    shape.stage = stage;
    EXPECT_EQ(MakeWorkOrder(shape).warmup, warmup);
  }
  shape.stages = shape.chunks = 1;
  shape.stage = 0;
  EXPECT_EQ(MakeWorkOrder(shape).warmup, 1);
}

}  // namespace
}  // namespace drydock
