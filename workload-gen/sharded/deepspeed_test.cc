// Compares DeepSpeed's programs with counts by hand and closed forms.
#include "workload-gen/sharded/deepspeed.h"

#include <gmock/gmock.h>

#include <set>

#include "workload-gen/sharded/zero_hooks.h"
#include "workload-gen/testing/sharded_testing.h"

namespace drydock {
namespace {

constexpr auto kAg = CollectiveType::kAllGather;
constexpr auto kRs = CollectiveType::kReduceScatter;
constexpr auto kAr = CollectiveType::kAllReduce;

Overrides Zero(int stage, Overrides more = {}) {
  more.push_back("training.framework=deepspeed");
  more.push_back("zero.stage=" + std::to_string(stage));
  return more;
}

TEST(DeepSpeed, Stage1ReducesOnceAStepAndStage2EveryMicrobatch) {
  const Overrides three = {"training.global_batch=48"};
  const Workload one = ShardedWorkload(Zero(1, three));
  EXPECT_EQ(CollectivesOf(one, "dp"), (Collectives{{kAr, kAllElements}, {kAg, kAllElements}}));
  const Workload two = ShardedWorkload(Zero(2, three));
  EXPECT_EQ(
      CollectivesOf(two, "dp"),
      (Collectives{
          {kAr, kAllElements}, {kAr, kAllElements}, {kAr, kAllElements}, {kAg, kAllElements}}));
}

TEST(DeepSpeed, ReducesTheBucketBeforeAParameterThatDoesNotFit) {
  // From the end: head 64000, norm 64; then w2 10240, w3 10240, w1 10240, norm 64, wo 4096, wv
  // 2048, wk 2048, wq 4096, norm 64 of each layer; last the embedding.
  const Workload w = ShardedWorkload(Zero(2, {"zero.reduce_bucket_size=50000"}));
  const Collectives found = CollectivesOf(w, "dp");
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found[0].second, 64000);  // larger than the buffer, hence a separate reduction
  EXPECT_EQ(found[1].second, 64 + kLayerElements);
  EXPECT_EQ(found[2].second, kLayerElements);
  EXPECT_EQ(found[5].second, 64000);
  EXPECT_EQ(ElementsMoved(w, "dp", kAr), kAllElements);
}

TEST(DeepSpeed, AParameterLargerThanTheBufferIsCutWhereSharesBegin) {
  // A share has 37,576 elements. The head begins 26,424 before the seventh.
  const Collectives found =
      CollectivesOf(ShardedWorkload(Zero(2, {"zero.reduce_bucket_size=20000"})), "dp");
  ASSERT_GT(found.size(), 5u);
  EXPECT_EQ(found[0], (std::pair{kAr, int64_t{26424}}));
  EXPECT_EQ(found[1], (std::pair{kAr, int64_t{37576}}));
  const size_t end = found.size() - 1;  // the gather
  EXPECT_EQ(found[end - 2], (std::pair{kAr, int64_t{37576}}));
  EXPECT_EQ(found[end - 1], (std::pair{kAr, int64_t{26424}}));
}

TEST(DeepSpeed, Stage1ReducesBehindTheLastBackward) {
  const Workload w = ShardedWorkload(Zero(1, {"zero.reduce_bucket_size=50000"}));
  EXPECT_EQ(CollectivesOf(w, "dp")[0], (std::pair{kAr, kEmbeddingElements}));
  bool reduced = false;
  for (const Op& op : w.programs[0].ops) {
    reduced |= op.kind == OpKind::kCollective;
    EXPECT_FALSE(reduced && op.phase == Phase::kBackward);
  }
  const Workload overlapped =
      ShardedWorkload(Zero(1, {"zero.reduce_bucket_size=50000", "zero.overlap_comm=true"}));
  EXPECT_EQ(CollectivesOf(overlapped, "dp")[0], (std::pair{kAr, int64_t{64000}}));
  EXPECT_EQ(ElementsMoved(overlapped, "dp", kAr), kAllElements);
}

// The types of the step's reductions of one number.
std::vector<DataType> StepTypes(int stage) {
  std::vector<DataType> types;
  const Workload w = ShardedWorkload(Zero(stage));
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCollective && w.calls[op.work].count == 1)
      types.push_back(w.calls[op.work].type);
  }
  return types;
}

TEST(DeepSpeed, TheStepLooksForOverflowsAndAddsTheNorm) {
  using enum DataType;
  EXPECT_EQ(StepTypes(2), (std::vector{kUint8, kFp32, kFp32}));
  EXPECT_EQ(StepTypes(3), (std::vector{kFp64, kFp32}));
}

// ZeRO computes the norm also where nothing is clipped; then only stage 3 scales gradients.
TEST(DeepSpeed, TheNormNeedsNoClipping) {
  const auto names = [](int stage) {
    std::set<std::string> found;
    const Workload w = ShardedWorkload(Zero(stage, {"training.gradient_clipping=false"}));
    for (const Submodule& s : w.submodules) found.insert(s.name);
    return found;
  };
  for (const int stage : {1, 2, 3}) {
    EXPECT_EQ(names(stage).count("optimizer.norm"), 1u) << stage;
    EXPECT_EQ(names(stage).count("optimizer.unscale-clip"), stage == 3 ? 1u : 0u) << stage;
  }
}

TEST(DeepSpeed, ARankKeepsTheGradientsOfWhichItUpdatesAPart) {
  // Shares of 40: the third rank has the end of the first parameter, the second, and no more.
  EXPECT_EQ(OwnGradients({100, 30, 30}, 40), 130);
  EXPECT_EQ(OwnGradients({40, 40}, 40), 40);
}

// How often the host synchronizes the device, and reads a value.
std::pair<int, int> HostWaits(const Overrides& overrides) {
  std::pair<int, int> waits;
  const Workload w = ShardedWorkload(overrides);
  for (const Op& op : w.programs[0].ops) {
    waits.first += op.host_waits == HostWait::kDeviceSync ? 1 : 0;
    waits.second += op.host_waits == HostWait::kOpReady ? 1 : 0;
  }
  return waits;
}

TEST(DeepSpeed, TheHostWaitsForEachMicrobatchAndInTheStep) {
  const Overrides three = {"training.global_batch=48"};
  EXPECT_EQ(HostWaits(Zero(2, three)), (std::pair{3, 2}));
  EXPECT_EQ(HostWaits(Zero(3, three)), (std::pair{3, 1}));
  Overrides overlapped = three;
  overlapped.push_back("zero.overlap_comm=true");
  EXPECT_EQ(HostWaits(Zero(1, overlapped)), (std::pair{4, 2}));
  EXPECT_EQ(HostWaits(Zero(1, {"parallel.pipeline=2", "training.global_batch=32"})),
            (std::pair{0, 2}));
}

// Counts the waits of backward for the latest reduction, and for the previous one.
std::pair<int, int> BackwardWaits(const Workload& w) {
  const Program& p = w.programs[0];
  std::vector<uint32_t> reductions;
  std::pair<int, int> waits;
  for (uint32_t i = 0; i < p.ops.size(); ++i) {
    if (p.ops[i].kind == OpKind::kCollective) reductions.push_back(i);
    if (p.ops[i].kind != OpKind::kCompute || p.ops[i].phase != Phase::kBackward) continue;
    for (const uint32_t d : p.dependencies(i)) {
      waits.first += d == reductions.back() ? 1 : 0;
      waits.second += reductions.size() > 1 && d == reductions[reductions.size() - 2] ? 1 : 0;
    }
  }
  return waits;
}

TEST(DeepSpeed, OverlapCommWaitsForThePreviousReductionOnly) {
  const Overrides small = {"zero.reduce_bucket_size=50000"};
  EXPECT_EQ(BackwardWaits(ShardedWorkload(Zero(2, small))), (std::pair{4, 0}));
  Overrides overlapped = small;
  overlapped.push_back("zero.overlap_comm=true");
  EXPECT_EQ(BackwardWaits(ShardedWorkload(Zero(2, overlapped))), (std::pair{0, 3}));
}

TEST(DeepSpeed, SharesAreGatheredInOnePieceOrByBucket) {
  const Workload w =
      ShardedWorkload(Zero(1, {"zero.allgather=buckets", "zero.allgather_bucket_size=100000"}));
  // 300,608 elements in three pieces: each rank's share of 37,576 as 12,524, 12,524 and the rest.
  EXPECT_EQ(kAllElements, 300608);
  EXPECT_EQ(CollectivesOf(w, "dp"), (Collectives{{kAr, kAllElements},
                                                 {kAg, 12524 * 8},
                                                 {kAg, 12524 * 8},
                                                 {kAg, (37576 - 2 * 12524) * 8}}));
  const Workload scatter = ShardedWorkload(Zero(1, {"zero.reduce_scatter=true"}));
  EXPECT_EQ(ElementsMoved(scatter, "dp", kRs), kAllElements);
}

TEST(DeepSpeed, PipelineReducesAfterItsLastBackward) {
  const Workload w = ShardedWorkload(Zero(1, {"parallel.pipeline=2", "training.global_batch=32"}));
  for (int stage = 0; stage < 2; ++stage) {
    const int64_t own = 2 * kLayerElements + (stage == 0 ? kEmbeddingElements : kHeadElements);
    EXPECT_EQ(CollectivesOf(w, "dp", stage), (Collectives{{kAr, own}, {kAg, own}}));
  }
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCollective) continue;
    EXPECT_EQ(op.microbatch, -1);
  }
}

TEST(DeepSpeed, Stage3GathersForwardAndBackwardAndScattersOnce) {
  // Without reuse and prefetching, each parameter above the threshold is gathered twice, and the
  // norms are gathered after the optimizer.
  const Workload w =
      ShardedWorkload(Zero(3, {"zero.prefetch_bucket_size=0", "zero.max_reuse_distance=0",
                               "zero.param_persistence_threshold=64"}));
  const int64_t norms = 9 * 64;
  EXPECT_EQ(ElementsMoved(w, "dp", kAg), 2 * (kAllElements - norms) + norms);
  EXPECT_EQ(CountCollectives(w, "dp")[kAg], 2 * (1 + 4 * 7 + 1) + 9);
  EXPECT_EQ(CollectivesOf(w, "dp").back(), (std::pair{kAg, int64_t{64}}));
  EXPECT_EQ(ElementsMoved(w, "dp", kRs), kAllElements);
  // Recomputation gathers them a third time.
  const Workload full =
      ShardedWorkload(Zero(3, {"zero.prefetch_bucket_size=0", "zero.max_reuse_distance=0",
                               "zero.param_persistence_threshold=64", "training.recompute=full"}));
  EXPECT_EQ(ElementsMoved(full, "dp", kAg),
            2 * (kAllElements - norms) + norms + 4 * (kLayerElements - 2 * 64));
}

TEST(DeepSpeed, Stage3DefaultsKeepASmallModelGathered) {
  const Workload w = ShardedWorkload(Zero(3, {"zero.param_persistence_threshold=64"}));
  // All parameters are within the reuse distance, so each is gathered once.
  EXPECT_EQ(ElementsMoved(w, "dp", kAg), kAllElements);
}

TEST(DeepSpeed, PrefetchesParametersDuringCompute) {
  const Workload w = ShardedWorkload(
      Zero(3, {"zero.prefetch_bucket_size=5000", "zero.param_persistence_threshold=64"}));
  const Program& p = w.programs[0];
  int ahead = 0, exposed = 0;
  for (size_t i = 0; i + 1 < p.ops.size(); ++i) {
    if (p.ops[i].kind != OpKind::kCollective || w.calls[p.ops[i].work].collective != kAg) continue;
    if (p.ops[i].phase == Phase::kOptimizer) continue;
    size_t next = i + 1;
    while (p.ops[next].kind != OpKind::kCompute) ++next;
    bool next_waits = false;
    for (const uint32_t d : p.dependencies(next)) next_waits |= d == i;
    (next_waits ? exposed : ahead) += 1;
  }
  EXPECT_GT(ahead, 10);
  EXPECT_EQ(exposed, 1);  // the embedding, which no earlier module can prefetch
}

TEST(DeepSpeed, TensorParallelismWithoutSequenceParallelism) {
  const Workload w = ShardedWorkload(Zero(1, {"parallel.tensor=2", "training.global_batch=8"}));
  int layer = 0;
  for (const Op& op : w.programs[0].ops) {
    layer += op.kind == OpKind::kCollective && op.layer == 1 && w.roles[op.role].name == "tp";
  }
  EXPECT_EQ(layer, 4);
}

TEST(DeepSpeed, RejectsUnsupportedJobs) {
  EXPECT_EQ(ShardedError(Zero(3, {"parallel.pipeline=2"})),
            "DeepSpeed's pipelines need ZeRO stage 1; with stage 3 pipeline must be 1");
  EXPECT_EQ(ShardedError(Zero(1, {"training.recompute=selective"})),
            "DeepSpeed checkpoints whole layers: recompute must be none or full");
  EXPECT_EQ(ShardedError(Zero(3, {"zero.offload_param=none"})), "ok");
  EXPECT_THAT(ShardedError(Zero(1, {"zero.sub_group_size=10"})),
              testing::HasSubstr("'sub_group_size' needs stage: 3"));
  EXPECT_THAT(ShardedError({"training.framework=deepspeed"}),
              testing::HasSubstr("framework deepspeed needs the section 'zero'"));
}

}  // namespace
}  // namespace drydock
