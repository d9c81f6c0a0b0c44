// Compares programs of Megatron-FSDP and of several optimizer instances with counts by hand.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

using Calls = std::map<std::tuple<CollectiveType, int, int64_t>, int>;  // type, ranks, elements
constexpr auto kAr = CollectiveType::kAllReduce;
constexpr auto kAg = CollectiveType::kAllGather;
constexpr auto kRs = CollectiveType::kReduceScatter;
constexpr int64_t kOutside = kEmbeddingElements + kHeadElements;
constexpr const char* kParameters = "megatron_fsdp.sharding=optim_grads_params";
constexpr const char* kBuffers = "megatron_fsdp.double_buffer=true";
constexpr const char* kTwo = "training.global_batch=32";  // micro-batches

Overrides Megatron(Overrides more) {
  more.insert(more.begin(), {"training.framework=megatron", "training.distributed_optimizer=true",
                             "training.gradient_type=bf16"});
  return more;
}

Workload Made(const Overrides& more) { return ShardedWorkload(Megatron(more)); }

// The calls with more than a few elements.
Calls CallsOf(const Workload& w) {
  Calls calls;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != OpKind::kCollective) continue;
    const CommCall& call = w.calls[op.work];
    if (call.count > 2) ++calls[{call.collective, call.group_size, call.count}];
  }
  return calls;
}

// Each layer is gathered before forward and before backward, and reduced behind each backward.
TEST(MegatronFsdp, ShardedParametersAreGatheredTwiceAMicrobatch) {
  EXPECT_EQ(CallsOf(Made({kParameters, kBuffers, kTwo})), (Calls{{{kAg, 8, kOutside}, 1},
                                                                 {{kAg, 8, kLayerElements}, 16},
                                                                 {{kRs, 8, kOutside}, 2},
                                                                 {{kRs, 8, kLayerElements}, 8}}));
}

// Without two buffers, the head's hook gathers the first layers again, and backward frees them.
TEST(MegatronFsdp, TheHeadLooksAhead) {
  EXPECT_EQ(CallsOf(Made({kParameters})), (Calls{{{kAg, 8, kOutside}, 1},
                                                 {{kAg, 8, kLayerElements}, 12},
                                                 {{kRs, 8, kOutside}, 1},
                                                 {{kRs, 8, kLayerElements}, 4}}));
}

TEST(MegatronFsdp, ShardedGradientsAreReducedInEachMicrobatch) {
  EXPECT_EQ(CallsOf(Made({"megatron_fsdp.sharding=optim_grads", kTwo})),
            (Calls{{{kAg, 8, kOutside}, 1},
                   {{kAg, 8, kLayerElements}, 4},
                   {{kRs, 8, kOutside}, 2},
                   {{kRs, 8, kLayerElements}, 8}}));
}

TEST(MegatronFsdp, ShardedStatesAreReducedOnce) {
  EXPECT_EQ(CallsOf(Made({"megatron_fsdp.sharding=optim", kTwo})),
            (Calls{{{kAg, 8, kOutside}, 1},
                   {{kAg, 8, kLayerElements}, 4},
                   {{kRs, 8, kOutside}, 1},
                   {{kRs, 8, kLayerElements}, 4}}));
}

TEST(MegatronFsdp, WithoutShardingGradientsAreAllReduced) {
  EXPECT_EQ(CallsOf(Made({"megatron_fsdp.sharding=no_shard", kTwo})),
            (Calls{{{kAr, 8, kAllElements}, 1}}));
}

// HSDP: the shards are summed over instances in the last micro-batch.
TEST(MegatronFsdp, InstancesSumTheirShardsOnce) {
  EXPECT_EQ(CallsOf(Made({kParameters, kBuffers, kTwo, "training.optimizer_instances=2"})),
            (Calls{{{kAg, 4, kOutside}, 1},
                   {{kAg, 4, kLayerElements}, 16},
                   {{kRs, 4, kOutside}, 2},
                   {{kRs, 4, kLayerElements}, 8},
                   {{kAr, 2, kOutside / 4}, 1},
                   {{kAr, 2, kLayerElements / 4}, 4}}));
}

// With states split over instances, shards are scattered after backward and gathered before the
// first forward.
TEST(MegatronFsdp, InstancesMaySplitStates) {
  EXPECT_EQ(CallsOf(Made({kParameters, kBuffers, kTwo, "training.optimizer_instances=2",
                          "megatron_fsdp.outer_sharding=optim"})),
            (Calls{{{kAg, 4, kOutside}, 1},
                   {{kAg, 4, kLayerElements}, 16},
                   {{kAg, 2, kOutside / 4}, 1},
                   {{kAg, 2, kLayerElements / 4}, 4},
                   {{kRs, 4, kOutside}, 2},
                   {{kRs, 4, kLayerElements}, 8},
                   {{kRs, 2, kOutside / 4}, 1},
                   {{kRs, 2, kLayerElements / 4}, 4}}));
}

// Megatron's own data parallelism with instances: gradients in one bucket.
TEST(MegatronFsdp, InstancesWithoutIt) {
  const int64_t padded = (kAllElements + 127) / 128 * 128;
  const Workload w = Made({"training.optimizer_instances=2"});
  EXPECT_EQ(CallsOf(w),
            (Calls{{{kRs, 4, padded}, 1}, {{kAr, 2, padded / 4}, 1}, {{kAg, 4, padded}, 1}}));
  const auto role = [&](const std::string& name) {
    const auto is = [&](const GroupRole& r) { return r.name == name; };
    return static_cast<size_t>(std::find_if(w.roles.begin(), w.roles.end(), is) - w.roles.begin());
  };
  const auto members = [&](const std::string& name, size_t rank) {
    return w.groups[static_cast<size_t>(w.group_of_rank[role(name)][rank])].ranks;
  };
  EXPECT_THAT(members("dp-shard", 1), ::testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(members("dp-replicate", 1), ::testing::ElementsAre(1, 5));
  EXPECT_THAT(members("dp-instance", 5), ::testing::ElementsAre(4, 5, 6, 7));
}

TEST(MegatronFsdp, ProgramsEnd) {
  for (const Overrides& more :
       {Overrides{kParameters, kTwo}, Overrides{kParameters, kBuffers, kTwo},
        Overrides{kParameters, "training.optimizer_instances=2"},
        Overrides{kParameters, "training.recompute=full"},
        Overrides{kParameters, "model.experts=4", "model.experts_per_token=2", "parallel.expert=2"},
        Overrides{"megatron_fsdp.sharding=optim", "overlap.grad_reduce=true",
                  "overlap.param_gather=true"}}) {
    EXPECT_EQ(Executor(Made(more)).Run(), "") << more.back();
  }
}

// MXFP8 has weights for forward and weights for backward, of 33 bits for 4 elements.
TEST(MegatronFsdp, Mxfp8GathersTheSideThatThePassNeeds) {
  const Workload w = Made({kParameters, kBuffers, "training.precision=fp8",
                           "training.fp8_recipe=mxfp8", "training.quantized_param_gather=true"});
  const int64_t weights = kLayerElements - 128;
  EXPECT_EQ(CallsOf(w).at({kAg, 8, weights + weights / 32 + 2 * 128}), 8);
}

int64_t Part(const Workload& w, const std::string& name) {
  for (const MemoryPart& part : w.memory[0]) {
    if (part.name == name) return part.bytes.count();
  }
  return -1;
}

TEST(MegatronFsdp, MemoryIsSplit) {
  const Workload w = Made({kParameters, kBuffers});
  EXPECT_EQ(Part(w, "parameters"), kAllElements / 8 * 2);
  EXPECT_EQ(Part(w, "gradients"), kAllElements / 8 * 2);
  EXPECT_EQ(Part(w, "optimizer states"), kAllElements / 8 * 12);
  EXPECT_EQ(Part(w, "gathered parameters"), (kOutside + 2 * kLayerElements) * 2);
  EXPECT_EQ(Part(w, "gradient buffers"), (kOutside + 2 * kLayerElements) * 2);
  const Workload states = Made({"megatron_fsdp.sharding=optim"});
  EXPECT_EQ(Part(states, "parameters"), kAllElements * 2);
  EXPECT_EQ(Part(states, "gathered parameters"), 0);
  EXPECT_EQ(Part(states, "optimizer states"), kAllElements / 8 * 12);
}

std::string RuleError(const Overrides& more) {
  const Result<TrainingJob> job = ParseShardedJob(Megatron(more));
  return job.ok() ? "" : job.error().message();
}

TEST(MegatronFsdp, Rules) {
  EXPECT_EQ(RuleError({kParameters, "training.distributed_optimizer=false"}),
            "Megatron-FSDP needs training.distributed_optimizer: true");
  EXPECT_EQ(RuleError({kParameters, "parallel.pipeline=2"}),
            "Megatron-FSDP is generated without stages: pipeline must be 1, not 2");
  EXPECT_EQ(RuleError({kParameters, "megatron_fsdp.outer_sharding=optim"}),
            "'outer_sharding: optim' needs optimizer_instances > 1");
  EXPECT_EQ(RuleError({"megatron_fsdp.sharding=optim", "training.optimizer_instances=2"}),
            "with optimizer_instances 2, sharding must be optim_grads or optim_grads_params");
  EXPECT_EQ(RuleError({"training.distributed_optimizer=false", "training.optimizer_instances=2"}),
            "'optimizer_instances' needs distributed_optimizer: true");
  const TrainingJob job = *ParseShardedJob(Megatron({"training.optimizer_instances=3"}));
  EXPECT_NE(
      ResolveLayout(job, TestTopology(1, 8))
          .error()
          .message()
          .find("optimizer_instances 3 does not divide the 8 ranks that hold the same weights"),
      std::string::npos);
}

}  // namespace
}  // namespace drydock
