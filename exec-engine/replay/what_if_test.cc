#include "exec-engine/replay/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

using drydock::testing::Analytical;
using drydock::testing::SmallCluster;
using drydock::testing::WorkloadBuilder;

// By name, in us. "" is the iteration without a change.
std::map<std::string, double> Ask(const WorkloadBuilder& builder, double better) {
  WhatIfOptions options;
  options.better = better;
  options.changes = FindChanges("").value();
  const Result<WhatIf> what_if =
      AnswerWhatIf(builder.workload, builder.plan, builder.times, Analytical(), options);
  EXPECT_TRUE(what_if.ok()) << what_if.error().ToString();
  std::map<std::string, double> out = {{"", what_if->iteration.us()}};
  for (const WhatIfAnswer& answer : what_if->answers) out[answer.name] = answer.iteration.us();
  return out;
}

TEST(WhatIf, ComputeAloneTakesLess) {
  WorkloadBuilder builder(SmallCluster(1, 1));
  builder.Compute(0, builder.Stream("compute"), Time::Us(110));
  builder.PlanAll();
  const auto times = Ask(builder, 10);
  EXPECT_DOUBLE_EQ(times.at(""), 110);
  EXPECT_DOUBLE_EQ(times.at("compute"), 100);
  for (const char* other : {"nvlink", "nic", "latency", "nccl", "host"}) {
    EXPECT_DOUBLE_EQ(times.at(other), 110) << other;
  }
}

// 25 MB at 200 Gbps take 1 ms, and half of it at twice the rate.
TEST(WhatIf, AMessageBetweenHostsGainsFromItsNic) {
  WorkloadBuilder builder(SmallCluster(2, 1));
  const int role = builder.Role("pp", Dimension::kPipeline, {{0, 1}});
  const int stream = builder.Stream("pp");
  for (const bool send : {true, false}) {
    builder.Transfer(send ? 0 : 1, stream, role, send, 0, 25'000'000, 7);
  }
  builder.PlanAll(8);  // thread blocks of 10 GB/s each
  const auto times = Ask(builder, 100);
  EXPECT_NEAR(times.at("nic") / times.at(""), 0.5, 0.1);
  EXPECT_DOUBLE_EQ(times.at("compute"), times.at(""));
  EXPECT_DOUBLE_EQ(times.at("nvlink"), times.at(""));
  EXPECT_LT(times.at("latency"), times.at(""));
}

// A thread block of 10 GB/s on a link of 100 GB/s: the link is not the bottleneck.
TEST(WhatIf, ACallBoundByThreadBlocksGainsFromThem) {
  constexpr int64_t kBytes = 8 << 20;
  WorkloadBuilder builder(SmallCluster(1, 4));
  const int stream = builder.Stream("tp");
  const int role = builder.Role("tp", Dimension::kTensor, {{0, 1, 2, 3}});
  for (const int rank : {0, 1, 2, 3}) {
    builder.Collective(rank, stream, role, CollectiveType::kAllReduce, kBytes);
  }
  builder.PlanAll();
  builder.SetPlan(kBytes, drydock::testing::RingAllReduce({.members = 4, .bytes = kBytes}));
  const auto times = Ask(builder, 10);
  EXPECT_LT(times.at("nccl"), 0.95 * times.at(""));
  EXPECT_GT(times.at("nvlink"), times.at("nccl"));
}

TEST(WhatIf, ChangesAreInTheOrderOfTheTable) {
  const auto found = FindChanges("nic,compute").value();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]->name, "compute");
  EXPECT_EQ(found[1]->name, "nic");
  EXPECT_EQ(FindChanges("nik").error().ToString(),
            "error: --only: 'nik' is not a change; did you mean 'nic'?; valid values are "
            "compute, nvlink, nic, latency, nccl, host");
}

TEST(WhatIf, TextSaysByHowMuchTheIterationChanges) {
  const WhatIf what_if = {
      "fluid", 10, Time::Us(200), {{"compute", "all kernels of compute ops", Time::Us(190)}}};
  EXPECT_EQ(WhatIfText(what_if),
            "iteration 200 us over the fluid network; 10 % better:\n"
            "  compute        190 us   -5.00 %  all kernels of compute ops\n");
}

}  // namespace
}  // namespace drydock
