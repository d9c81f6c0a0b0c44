// Which hosts are equivalent, and which differences separate them?
#include "exec-engine/folding/host_equivalence_classes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "exec-engine/testing/replica_testing.h"

namespace drydock {
namespace {

using testing::Layout;
using testing::ReplicasOnOneSwitch;
using testing::ReplicasThatDiffer;
using testing::WorkloadBuilder;

HostEquivalenceClasses ClassesOf(const WorkloadBuilder& b, bool relaxed,
                                 const Variation& variation = {}) {
  const Result<ReplayIndex> index = ReplayIndex::Create(b.workload, b.plan, b.times);
  EXPECT_TRUE(index.ok());
  PlanEndsTable ends;
  return FindHostEquivalenceClasses(*index, variation, relaxed, &ends);
}

// Four data-parallel replicas of two stages, one host each.
TEST(HostEquivalenceClassesTest, TheHostsOfAStageAreEquivalent) {
  const WorkloadBuilder b = ReplicasOnOneSwitch(Layout(), 1);
  const HostEquivalenceClasses classes = ClassesOf(b, /*relaxed=*/false);
  EXPECT_EQ(classes.count, 2);
  EXPECT_EQ(classes.class_of_host, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
}

// Its stage is no longer uniform: other hosts are near the slow one in their rings, or far from it.
TEST(HostEquivalenceClassesTest, ASlowGpuSeparatesItsHostAndItsNeighbors) {
  const WorkloadBuilder b = ReplicasOnOneSwitch(Layout(), 1);
  Variation variation;
  variation.slow_gpus = {{Time::Us(100), 1, 0, 1.5}};
  const HostEquivalenceClasses classes = ClassesOf(b, /*relaxed=*/false, variation);
  EXPECT_GT(classes.count, 2);
  EXPECT_EQ(std::count(classes.class_of_host.begin(), classes.class_of_host.end(),
                       classes.class_of_host[1]),
            1);
}

TEST(HostEquivalenceClassesTest, RelaxedClassesIgnorePathsRingsAndTrees) {
  const WorkloadBuilder b = ReplicasThatDiffer(Layout(), 1, 1);
  EXPECT_EQ(ClassesOf(b, /*relaxed=*/false).count, Layout().hosts());
  const HostEquivalenceClasses relaxed = ClassesOf(b, /*relaxed=*/true);
  EXPECT_EQ(relaxed.class_of_host, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(std::count(relaxed.uneven.begin(), relaxed.uneven.end(), true), 1) << "the short chain";
  EXPECT_GT(std::count(relaxed.spread.begin(), relaxed.spread.end(), true), 0) << "ragged rings";
}

}  // namespace
}  // namespace drydock
