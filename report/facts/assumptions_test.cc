#include "report/facts/assumptions.h"

#include <gtest/gtest.h>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

TEST(Assumptions, KernelsAndCollectivesComeBeforeTheRunsOwn) {
  Inputs inputs = FakeRun();
  inputs.workload.topology.gpus[0].file_name = "somewhere/test-gpu.yaml";
  inputs.workload.topology.gpus[0].reference = "big-gpu";
  inputs.workload.assumptions = {{"host costs", "fast", "a file"}};
  std::vector<Assumption> all = AllAssumptions(inputs);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "kernels of test-gpu");
  EXPECT_EQ(all[0].value, "1 profile, 1 model, 1 scaled; scaled from big-gpu");
  EXPECT_EQ(all[0].source, "gpus/test-gpu.yaml");
  EXPECT_EQ(all[1].name, "host costs");
  inputs.workload.topology.gpus[0].has_collective_costs = true;
  inputs.workload.topology.gpus[0].collectives.link_efficiency = 0.824;
  all = AllAssumptions(inputs);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].name, "NCCL on test-gpu");
  EXPECT_EQ(all[1].value,
            "costs of thread blocks; collectives reach 82.4 % of the scale-up bandwidth");
}

}  // namespace
}  // namespace drydock
