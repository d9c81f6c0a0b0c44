// "Do offloaded states move the bytes of their closed form, and does the host run the optimizer?"
// States are sharded over 8 ranks; the size of each parameter is divisible by 8.
#include "workload-gen/sharded/offload.h"

#include <gmock/gmock.h>

#include "workload-gen/testing/sharded_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

using testing::HasSubstr;

constexpr int64_t kShare = kAllElements / 8;

Overrides Job(const std::string& framework, int microbatches, Overrides more) {
  more.push_back("training.framework=" + framework);
  more.push_back("training.global_batch=" + std::to_string(16 * microbatches));
  return more;
}

// Returns the bytes of a rank's ops of a kind and name.
int64_t Moved(const Workload& w, OpKind kind, const std::string& name) {
  int64_t bytes = 0;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind != kind) continue;
    const MemoryTransfer& transfer = w.transfers[op.work];
    EXPECT_EQ(transfer.tier, MemoryTier::kHost);
    if (transfer.name == name) bytes += transfer.bytes.count();
  }
  return bytes;
}

int64_t OptimizerElements(const Workload& w) {
  int64_t elements = 0;
  for (const Submodule& s : w.submodules) {
    if (const auto* step = s.As<submodule::Optimizer>()) elements += step->elements;
  }
  return elements;
}

int64_t PartOf(const Workload& w, const std::string& name) {
  for (const MemoryPart& part : w.memory[0]) {
    if (part.name == name) return part.bytes.count();
  }
  return -1;
}

TEST(OffloadTest, FsdpLoadsGatheredSharesAndStoresReducedGradients) {
  for (const int microbatches : {1, 2, 3}) {
    for (const int version : {1, 2}) {
      const Workload w = ShardedWorkload(Job(
          "fsdp", microbatches, {"fsdp.offload=cpu", "fsdp.version=" + std::to_string(version)}));
      EXPECT_EQ(StructureMistake(w), "");
      const int64_t gathered = ElementsMoved(w, "dp", CollectiveType::kAllGather);
      EXPECT_EQ(Moved(w, OpKind::kLoad, "fsdp.parameters"), gathered / 8 * 4);
      EXPECT_EQ(Moved(w, OpKind::kStore, "fsdp.gradients"), microbatches * kShare * 4);
      EXPECT_EQ(Moved(w, OpKind::kHostWork, "fsdp.accumulate"), (microbatches - 1) * kShare * 12);
      EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.norm"), kShare * 4);
      EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.clip"), kShare * 8);
      EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.adam"), kShare * 28);
      EXPECT_EQ(OptimizerElements(w), 0);
    }
  }
}

TEST(OffloadTest, EveryGatherWaitsForItsLoadAndEveryStoreForItsReduction) {
  const Workload w = ShardedWorkload(Job("fsdp", 1, {"fsdp.offload=cpu"}));
  const Program& p = w.programs[0];
  int gathers = 0, stores = 0;
  for (uint32_t i = 0; i < p.ops.size(); ++i) {
    const auto waits = p.dependencies(i);
    const auto waits_for = [&](OpKind kind) {
      return std::any_of(waits.begin(), waits.end(),
                         [&](uint32_t d) { return p.ops[d].kind == kind; });
    };
    if (p.ops[i].kind == OpKind::kCollective &&
        w.calls[p.ops[i].work].collective == CollectiveType::kAllGather) {
      EXPECT_TRUE(waits_for(OpKind::kLoad)) << i;
      ++gathers;
    }
    if (p.ops[i].kind == OpKind::kStore) {
      EXPECT_TRUE(waits_for(OpKind::kCollective)) << i;
      ++stores;
    }
  }
  EXPECT_EQ(gathers, 11);
  EXPECT_EQ(stores, 6);
}

TEST(OffloadTest, FsdpOnOneGpuLoadsAndGathersNothing) {
  const Workload w = ShardedWorkload(Job("fsdp", 1, {"fsdp.offload=cpu"}), 1, 1);
  EXPECT_TRUE(CollectivesOf(w, "dp").empty());
  EXPECT_EQ(Moved(w, OpKind::kStore, "fsdp.gradients"), 8 * kAllElements * 4);  // 8 micro-batches
  EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.adam"), kAllElements * 28);
}

TEST(OffloadTest, Zero2StoresEachSumAndTheLastInFp32) {
  for (const int m : {1, 3}) {
    const Workload w =
        ShardedWorkload(Job("deepspeed", m, {"zero.stage=2", "zero.offload_optimizer=cpu"}));
    EXPECT_EQ(StructureMistake(w), "");
    EXPECT_EQ(Moved(w, OpKind::kStore, "zero.gradients"), (m - 1) * kShare * 2);
    EXPECT_EQ(Moved(w, OpKind::kLoad, "zero.gradients"), (m - 1) * kShare * 2);
    EXPECT_EQ(Moved(w, OpKind::kStore, "zero.fp32-gradients"), kShare * 4);
    EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.unscale-clip"), kShare * 8);
    EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.adam"), kShare * 28);
    EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.copy"), kShare * 6);
    EXPECT_EQ(Moved(w, OpKind::kLoad, "zero.parameters"), kShare * 2);
    EXPECT_EQ(OptimizerElements(w), 0);
  }
}

TEST(OffloadTest, Zero1KeepsTheSumOnTheGpu) {
  const Workload w =
      ShardedWorkload(Job("deepspeed", 3, {"zero.stage=1", "zero.offload_optimizer=cpu"}));
  EXPECT_EQ(Moved(w, OpKind::kStore, "zero.gradients"), 0);
  EXPECT_EQ(Moved(w, OpKind::kStore, "zero.fp32-gradients"), kShare * 4);
}

TEST(OffloadTest, Zero3PassesItsSumThroughTheGpuAndUpdatesInSubGroups) {
  for (const int m : {1, 3}) {
    const Workload w =
        ShardedWorkload(Job("deepspeed", m,
                            {"zero.stage=3", "zero.offload_optimizer=cpu",
                             "zero.sub_group_size=10000", "zero.param_persistence_threshold=0"}));
    EXPECT_EQ(StructureMistake(w), "");
    EXPECT_EQ(Moved(w, OpKind::kStore, "zero.gradients"), m * kShare * 2);
    EXPECT_EQ(Moved(w, OpKind::kLoad, "zero.gradients"), m * kShare * 2);
    EXPECT_EQ(Moved(w, OpKind::kStore, "zero.fp32-gradients"), kShare * 4);
    EXPECT_EQ(Moved(w, OpKind::kHostWork, "optimizer.adam"), kShare * 28);
    EXPECT_EQ(Moved(w, OpKind::kLoad, "zero.parameters"), kShare * 2);
    const auto updates =
        std::count_if(w.programs[0].ops.begin(), w.programs[0].ops.end(), [&](const Op& op) {
          return op.kind == OpKind::kHostWork && w.transfers[op.work].name == "optimizer.adam";
        });
    EXPECT_EQ(updates, (kShare + 9999) / 10000);
  }
}

TEST(OffloadTest, OffloadedParametersAreLoadedForEveryGather) {
  const Workload w =
      ShardedWorkload(Job("deepspeed", 2,
                          {"zero.stage=3", "zero.offload_optimizer=cpu", "zero.offload_param=cpu",
                           "zero.param_persistence_threshold=0", "zero.max_reuse_distance=0"}));
  EXPECT_EQ(StructureMistake(w), "");
  const int64_t gathered = ElementsMoved(w, "dp", CollectiveType::kAllGather);
  EXPECT_GT(gathered, 2 * kAllElements);
  EXPECT_EQ(Moved(w, OpKind::kLoad, "zero.parameters"), gathered / 8 * 2);
}

TEST(OffloadTest, GpuMemoryExcludesOffloadedStates) {
  const Workload here = ShardedWorkload(Job("fsdp", 1, {}));
  const Workload there = ShardedWorkload(Job("fsdp", 1, {"fsdp.offload=cpu"}));
  EXPECT_EQ(PartOf(here, "parameters"), kShare * 4);
  EXPECT_EQ(PartOf(here, "optimizer states"), 2 * kShare * 4);
  for (const char* part : {"parameters", "gradients", "optimizer states"}) {
    EXPECT_EQ(PartOf(there, part), 0) << part;
  }
  const Workload zero =
      ShardedWorkload(Job("deepspeed", 1, {"zero.stage=3", "zero.offload_optimizer=cpu"}));
  EXPECT_EQ(PartOf(zero, "optimizer states"), 0);
  EXPECT_EQ(PartOf(zero, "parameters"), kShare * 2);
  const Workload all = ShardedWorkload(Job(
      "deepspeed", 1, {"zero.stage=3", "zero.offload_optimizer=cpu", "zero.offload_param=cpu"}));
  EXPECT_EQ(PartOf(all, "parameters"), 0);
}

TEST(OffloadTest, RejectsIncompatibleKeys) {
  const auto error = [](Overrides rules) { return ShardedError(Job("deepspeed", 1, rules)); };
  EXPECT_THAT(error({"zero.stage=3", "zero.offload_optimizer=nvme"}),
              HasSubstr("valid values are none, cpu"));
  EXPECT_THAT(error({"zero.stage=2", "zero.offload_optimizer=cpu", "zero.offload_param=cpu"}),
              HasSubstr("'offload_param' needs stage: 3"));
  EXPECT_THAT(error({"zero.stage=3", "zero.offload_param=cpu"}),
              HasSubstr("'offload_param' needs offload_optimizer: cpu"));
  EXPECT_EQ(error({"zero.stage=3", "zero.offload_optimizer=cpu", "zero.offload_param=cpu"}), "ok");
}

}  // namespace
}  // namespace drydock
