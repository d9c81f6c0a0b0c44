// Compares FSDP's programs with counts by hand and closed forms: per micro-batch one all-gather of
// each group in forward, one of each resharded group in backward, and one reduce-scatter of each.
#include "workload-gen/sharded/fsdp.h"

#include <gmock/gmock.h>

#include "workload-gen/testing/sharded_testing.h"

namespace drydock {
namespace {

constexpr auto kAg = CollectiveType::kAllGather;
constexpr auto kRs = CollectiveType::kReduceScatter;
constexpr auto kAr = CollectiveType::kAllReduce;
using Counts = std::map<CollectiveType, int>;

TEST(Fsdp, Version2GathersAndReducesEveryGroupInOrder) {
  const Workload w = ShardedWorkload({});
  const auto gather = [](int64_t n) { return std::pair{kAg, n}; };
  const auto scatter = [](int64_t n) { return std::pair{kRs, n}; };
  const int64_t e = kEmbeddingElements, l = kLayerElements, h = kHeadElements;
  EXPECT_EQ(CollectivesOf(w, "dp"),
            (Collectives{
                gather(e), gather(l), gather(l), gather(l), gather(l), gather(h),
                // Backward: the head is still gathered; gathers run one group ahead of reductions.
                gather(l), scatter(h), gather(l), scatter(l), gather(l), scatter(l), gather(l),
                scatter(l), gather(e), scatter(l), scatter(e)}));
}

TEST(Fsdp, BytesOfAStepFollowTheClosedForm) {
  for (const int microbatches : {1, 2, 3}) {
    const Workload w =
        ShardedWorkload({"training.global_batch=" + std::to_string(16 * microbatches)});
    const int64_t m = microbatches;
    EXPECT_EQ(ElementsMoved(w, "dp", kAg), m * (2 * kAllElements - kHeadElements));
    EXPECT_EQ(ElementsMoved(w, "dp", kRs), m * kAllElements);
  }
  for (const CommCall& call : ShardedWorkload({}).calls) {
    if (call.collective == kAg) {
      EXPECT_EQ(call.type, DataType::kBf16);
    }
    if (call.collective == kRs) {
      EXPECT_EQ(call.type, DataType::kFp32);
      EXPECT_EQ(call.op, ReduceOp::kAverage);
    }
  }
}

TEST(Fsdp, ReshardingAndGradientSync) {
  const Overrides two = {"training.global_batch=32"};
  const auto with = [&](const std::string& rule) {
    Overrides all = two;
    all.push_back(rule);
    return CountCollectives(ShardedWorkload(all), "dp");
  };
  EXPECT_EQ(with("fsdp.version=2"), (Counts{{kAg, 2 * 11}, {kRs, 2 * 6}}));
  EXPECT_EQ(with("fsdp.reshard_after_forward=always"), (Counts{{kAg, 2 * 12}, {kRs, 2 * 6}}));
  // Each group is gathered once for both passes and resharded after its reduction.
  EXPECT_EQ(with("fsdp.reshard_after_forward=never"), (Counts{{kAg, 2 * 6}, {kRs, 2 * 6}}));
  EXPECT_EQ(with("fsdp.gradient_sync=last-microbatch"), (Counts{{kAg, 2 * 11}, {kRs, 6}}));
}

TEST(Fsdp, Version1HasOneFlatParameterOutsideTheLayers) {
  const Workload w = ShardedWorkload({"fsdp.version=1"});
  // Forward: root and four layers; backward: four layers.
  EXPECT_EQ(CountCollectives(w, "dp"), (Counts{{kAg, 9}, {kRs, 5}}));
  EXPECT_EQ(ElementsMoved(w, "dp", kAg), kAllElements + 4 * kLayerElements);
  EXPECT_EQ(ElementsMoved(w, "dp", kRs), kAllElements);
  for (const Submodule& s : w.submodules) EXPECT_NE(s.name, "fsdp.copy-out");
}

TEST(Fsdp, HybridShardingReducesTheShardOverItsReplicas) {
  const Workload w = ShardedWorkload({"fsdp.replicas=2"});
  EXPECT_EQ(CountCollectives(w, "dp-shard"), (Counts{{kAg, 11}, {kRs, 6}}));
  EXPECT_EQ(CountCollectives(w, "dp-replicate"), (Counts{{kAr, 6}}));
  EXPECT_EQ(ElementsMoved(w, "dp-replicate", kAr), kAllElements / 4);
  const auto group = [&](const char* role, size_t rank) {
    for (size_t i = 0; i < w.roles.size(); ++i) {
      if (w.roles[i].name == role) {
        return w.groups[static_cast<size_t>(w.group_of_rank[i][rank])].ranks;
      }
    }
    return std::vector<int>();
  };
  EXPECT_THAT(group("dp-shard", 5), testing::ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(group("dp-replicate", 5), testing::ElementsAre(1, 5));
}

// Every all-reduce follows its own reduce-scatter, beside the compute stream.
TEST(Fsdp, AllReduceWaitsForItsReduceScatter) {
  const Workload w = ShardedWorkload({"fsdp.replicas=2"});
  const Program& p = w.programs[0];
  int found = 0;
  for (size_t i = 0; i < p.ops.size(); ++i) {
    if (w.roles[p.ops[i].role].name != "dp-replicate" || p.ops[i].kind != OpKind::kCollective) {
      continue;
    }
    bool follows = false;
    for (const uint32_t d : p.dependencies(i)) {
      follows |= p.ops[d].kind == OpKind::kCollective && w.calls[p.ops[d].work].collective == kRs;
    }
    EXPECT_TRUE(follows);
    ++found;
  }
  EXPECT_EQ(found, 6);
}

// The gather of the group after next starts after the copy-out of this group's parameters. Compute
// waits only for the gather of its own group.
TEST(Fsdp, ForwardGathersTwoGroupsAhead) {
  const Workload w = ShardedWorkload({});
  const Program& p = w.programs[0];
  std::vector<size_t> gathers;
  for (size_t i = 0; i < p.ops.size() && p.ops[i].phase == Phase::kForward; ++i) {
    if (p.ops[i].kind == OpKind::kCollective && w.calls[p.ops[i].work].collective == kAg) {
      gathers.push_back(i);
    }
  }
  ASSERT_EQ(gathers.size(), 6u);
  for (size_t k = 2; k < gathers.size(); ++k) {
    // It follows the op that waits for the gather two before it.
    bool behind = false;
    for (const uint32_t d : p.dependencies(gathers[k])) {
      for (const uint32_t waited : p.dependencies(d)) behind |= waited == gathers[k - 2];
    }
    EXPECT_TRUE(behind) << k;
  }
}

TEST(Fsdp, ReductionWaitsForThePreviousOne) {
  const Workload w = ShardedWorkload({});
  const Program& p = w.programs[0];
  size_t previous = SIZE_MAX;
  int held = 0;
  for (size_t i = 0; i < p.ops.size(); ++i) {
    if (p.ops[i].kind != OpKind::kCollective || w.calls[p.ops[i].work].collective != kRs) continue;
    if (previous != SIZE_MAX) {
      for (const uint32_t d : p.dependencies(i)) {
        for (const uint32_t waited : p.dependencies(d)) held += waited == previous ? 1 : 0;
      }
    }
    previous = i;
  }
  EXPECT_EQ(held, 5);
}

TEST(Fsdp, PipelineKeepsParametersAndReducesAtTheEnd) {
  const Workload w = ShardedWorkload({"parallel.pipeline=2", "training.global_batch=32"});
  ASSERT_EQ(w.class_count, 2);
  EXPECT_EQ(CountCollectives(w, "dp", 0), (Counts{{kAg, 3}, {kRs, 3}}));
  EXPECT_EQ(CountCollectives(w, "dp", 1), (Counts{{kAg, 3}, {kRs, 3}}));
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCollective && w.calls[op.work].collective == kRs) {
      EXPECT_EQ(op.microbatch, -1);  // after the schedule
    }
  }
}

TEST(Fsdp, TensorParallelismGathersAndScattersFourTimesALayer) {
  const Overrides two = {"parallel.tensor=2", "parallel.sequence_parallel=true",
                         "training.global_batch=8"};
  const auto layer = [](const Workload& w) {
    Counts counts;
    for (const Op& op : w.programs[0].ops) {
      const bool counts_here = op.kind == OpKind::kCollective && op.layer == 2 &&
                               w.roles[op.role].name == "tp" &&
                               w.calls[op.work].count == 2 * 32 * 64;
      if (counts_here) ++counts[w.calls[op.work].collective];
    }
    return counts;
  };
  EXPECT_EQ(layer(ShardedWorkload(two)), (Counts{{kAg, 4}, {kRs, 4}}));
  Overrides full = two;
  full.push_back("training.recompute=full");
  // The recomputation stops before the last product.
  EXPECT_EQ(layer(ShardedWorkload(full)), (Counts{{kAg, 6}, {kRs, 5}}));
  Overrides selective = two;
  selective.push_back("training.recompute=selective");
  EXPECT_EQ(layer(ShardedWorkload(selective)), (Counts{{kAg, 6}, {kRs, 4}}));
}

// Sequence parallelism makes the gradients of norms partial sums. FSDP2 sums them before each
// reduction: in every micro-batch, or once in fp32. Nine norms.
TEST(Fsdp, PartialGradientsAreSummedWhereTheyAreReduced) {
  const auto sums = [](const std::string& sync) {
    std::map<DataType, int> counts;
    const Workload w = ShardedWorkload({"parallel.tensor=2", "parallel.sequence_parallel=true",
                                        "training.micro_batch=1", "training.global_batch=12",
                                        "fsdp.gradient_sync=" + sync});
    for (const Op& op : w.programs[0].ops) {
      if (op.kind != OpKind::kCollective || w.roles[op.role].name != "tp") continue;
      const CommCall& call = w.calls[op.work];
      if (call.collective == kAr && call.count == 64) ++counts[call.type];
    }
    return counts;
  };
  using enum DataType;
  EXPECT_EQ(sums("every-microbatch"), (std::map<DataType, int>{{kBf16, 3 * 9}}));
  EXPECT_EQ(sums("last-microbatch"), (std::map<DataType, int>{{kFp32, 9}}));
}

TEST(Fsdp, SelectiveRecomputationRepeatsAllButAttentionAndEverySecondGemm) {
  const Workload w = ShardedWorkload({"training.recompute=selective"});
  std::vector<std::string> names;
  for (const Op& op : w.programs[0].ops) {
    if (op.phase != Phase::kRecompute || op.layer != 1) continue;
    for (const uint32_t s : w.blocks[op.work].submodules) names.push_back(w.submodules[s].name);
  }
  EXPECT_THAT(names, testing::ElementsAre("attention.norm", "attention.wk", "attention.rotary",
                                          "attention.wo", "attention.residual", "mlp.norm",
                                          "mlp.w3", "mlp.activation", "mlp.residual"));
  // Per token: wk 64 x 32, wo 64 x 64, w3 64 x 160; 4 layers.
  EXPECT_DOUBLE_EQ(w.totals.hardware_flops - w.totals.model_flops,
                   2.0 * 16 * 32 * 4 * (64 * 32 + 64 * 64 + 64 * 160));
}

TEST(Fsdp, FullRecomputationStopsBeforeTheLastProduct) {
  const Workload w = ShardedWorkload({"training.recompute=full"});
  std::string last;
  for (const Op& op : w.programs[0].ops) {
    if (op.phase != Phase::kRecompute || op.layer != 1) continue;
    for (const uint32_t s : w.blocks[op.work].submodules) last = w.submodules[s].name;
  }
  EXPECT_EQ(last, "mlp.activation");
  // Per token: all of a layer's products but w2, and attention over half of 32 keys; 4 layers.
  EXPECT_DOUBLE_EQ(w.totals.hardware_flops - w.totals.model_flops,
                   2.0 * 16 * 32 * 4 * (kLayerElements - 2 * 64 - 160 * 64 + 2 * 64 * 16));
}

TEST(Fsdp, TheStepReducesNormAndLoss) {
  const Workload w = ShardedWorkload({"parallel.tensor=2", "parallel.sequence_parallel=true",
                                      "parallel.pipeline=2", "training.global_batch=8"});
  std::vector<std::string> roles;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCollective && w.calls[op.work].count == 1) {
      roles.push_back(w.roles[op.role].name);
    }
  }
  EXPECT_THAT(roles, testing::ElementsAre("dp", "tp", "pp", "dp"));
}

TEST(Fsdp, OneRankCommunicatesNothing) {
  const Workload w = ShardedWorkload({}, 1, 1);
  for (const Op& op : w.programs[0].ops) EXPECT_EQ(op.kind, OpKind::kCompute);
}

TEST(Fsdp, RejectsUnsupportedJobs) {
  EXPECT_EQ(ShardedError({}), "ok");
  EXPECT_EQ(ShardedError({"fsdp.replicas=3"}), "replicas 3 does not divide data 8");
  EXPECT_EQ(
      ShardedError({"fsdp.replicas=8"}),
      "replicas 8 of data 8 leaves one rank per model and nothing to shard: replicas must be at "
      "most 4");
  EXPECT_EQ(ShardedError({"parallel.tensor=2"}),
            "torchtitan splits activations wherever it splits layers: with tensor > 1 "
            "sequence_parallel must be true");
  EXPECT_EQ(ShardedError({"training.distributed_optimizer=true"}),
            "Megatron's distributed optimizer is not generated for framework fsdp");
  EXPECT_EQ(ShardedError({"parallel.layout=Et*4L"}),
            "Megatron's pipeline layout is not generated for framework fsdp");
  EXPECT_EQ(ShardedError({"fsdp.async_tensor=true"}), "'async_tensor' needs tensor > 1");
  EXPECT_EQ(ShardedError({"parallel.tensor=2", "parallel.sequence_parallel=true",
                          "training.kernels=unfused", "fsdp.async_tensor=true"}),
            "'async_tensor' needs kernels: fused: torch.compile splits the products");
  EXPECT_THAT(ShardedError({"fsdp.fp8_recipe=rowwise"}),
              testing::HasSubstr("'fp8_recipe' needs training.precision: fp8"));
  EXPECT_EQ(ShardedError({"training.precision=fp8", "fsdp.version=1", "fsdp.fp8_all_gather=true"}),
            "FullyShardedDataParallel gathers flat parameters of one type: 'fp8_all_gather' needs "
            "version: 2");
  EXPECT_EQ(ShardedError(
                {"training.precision=fp8", "fsdp.fp8_recipe=rowwise", "fsdp.fp8_all_gather=true"}),
            "torchao gathers weights in fp8 with the scale of a tensor: 'fp8_all_gather' needs "
            "fp8_recipe: tensorwise");
  EXPECT_THAT(ShardedError({"fsdp.version=3"}),
              testing::HasSubstr("'version' is 3; it must be between 1 and 2"));
  EXPECT_THAT(ShardedError({"fsdp.limit_all_gathers=true"}),
              testing::HasSubstr("'limit_all_gathers' needs version: 1"));
  EXPECT_THAT(ShardedError({"zero.stage=3"}),
              testing::HasSubstr("section 'zero' needs training.framework: deepspeed, not fsdp"));
  EXPECT_THAT(ShardedError({"fsdp.reshard=always"}),
              testing::HasSubstr("did you mean 'reshard_after_forward'"));
}

}  // namespace
}  // namespace drydock
