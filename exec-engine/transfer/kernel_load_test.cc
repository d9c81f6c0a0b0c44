#include "exec-engine/transfer/kernel_load.h"

#include <gtest/gtest.h>

#include "core/model/sharing_costs.h"
#include "exec-engine/testing/replay_testing.h"
#include "exec-engine/transfer/local_plan.h"

namespace drydock {
namespace {

using testing::PlanShape;
using testing::SmallCluster;

constexpr int64_t kBytes = 64 << 20;

// The loads of the members on host 0. Each thread block moves 10 GB/s and keeps one SM; half of the
// staged bytes reach the memory.
std::vector<KernelLoad> Loads(const Plan& plan, int gpus_per_host) {
  const auto members = static_cast<int>(plan.members.size());
  Topology topology = SmallCluster(members / gpus_per_host, gpus_per_host);
  const PortMap ports(topology.host_kinds[0], topology.gpus[0]);
  std::vector<int> hosts, gpus;
  for (int m = 0; m < members; ++m) {
    hosts.push_back(m / gpus_per_host);
    gpus.push_back(m % gpus_per_host);
  }
  LocalPlan local = MakeLocalPlan(plan, topology.gpus[0], ports, 0, 0, hosts, gpus);
  FindLoads({1, 0.5, "a test"}, ports, &local);
  std::vector<KernelLoad> out;
  for (const LocalMember& member : local.members) out.push_back(member.load);
  return out;
}

double GigabytesPerSecond(const KernelLoad& load) { return load.memory.bytes_per_second() / 1e9; }

// The steps of a chunk in a ring of n: read and send; n - 2 times sum and send; sum, store and
// send; n - 2 times store and send; store.
TEST(KernelLoadTest, AnAllReduceReadsItsInputAndWritesItsResult) {
  for (const int n : {2, 4, 8}) {
    const std::vector<KernelLoad> loads =
        Loads(testing::RingAllReduce({.members = n, .channels = 4, .bytes = kBytes}), n);
    ASSERT_EQ(loads.size(), static_cast<size_t>(n));
    const double primitives = 2 * n - 1, reads = n, writes = n, staged = 0.5 * (2 * n - 2);
    for (const KernelLoad& load : loads) {
      EXPECT_EQ(load.sms, 4);
      EXPECT_NEAR(GigabytesPerSecond(load), 4 * 10 * (reads + writes + staged) / primitives, 0.01);
    }
  }
}

// A link of 100 GB/s carries less than two thirds of 16 channels of 10 GB/s.
TEST(KernelLoadTest, ASlowLinkReducesTheLoad) {
  const PlanShape shape = {.members = 8, .channels = 16, .bytes = kBytes};
  const double primitives = 2 * 8 - 1, sent = 2 * 8 - 2, traffic = 8 + 8 + 0.5 * sent;
  // A slice that crosses the link takes 16 times (sent slices / steps) as long as alone. The last
  // step does not cross the link.
  const double share = 16 * sent / primitives * 10 / 100;
  const double time = sent * share + 1;
  EXPECT_NEAR(GigabytesPerSecond(Loads(testing::RingAllReduce(shape), 8)[3]),
              16 * 10 * traffic / time, 0.1);
}

TEST(KernelLoadTest, ASenderReadsAndAReceiverWrites) {
  const std::vector<KernelLoad> loads =
      Loads(testing::SendReceive({.channels = 2, .bytes = kBytes}), 2);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_NEAR(GigabytesPerSecond(loads[0]), 2 * 10 * 1.0, 0.01);
  EXPECT_NEAR(GigabytesPerSecond(loads[1]), 2 * 10 * 1.5, 0.01) << "reads from NCCL's buffer";
}

TEST(KernelLoadTest, AFetchedMessageIsStagedAtItsSender) {
  const std::vector<KernelLoad> loads =
      Loads(testing::SendReceive({.channels = 2, .bytes = kBytes, .link = LinkKind::kPeerRead}), 2);
  EXPECT_NEAR(GigabytesPerSecond(loads[0]), 2 * 10 * 1.5, 0.01);
  EXPECT_NEAR(GigabytesPerSecond(loads[1]), 2 * 10 * 1.0, 0.01);
}

TEST(KernelLoadTest, ACopyEngineTakesNoSm) {
  Plan plan = testing::SendReceive({.channels = 1, .bytes = kBytes});
  plan.works[0].algorithm = Algorithm::kCopyEngine;
  for (Connection& connection : plan.connections) connection.direct = true;
  const std::vector<KernelLoad> loads = Loads(plan, 2);
  EXPECT_EQ(loads[0].sms, 0);
  EXPECT_NEAR(GigabytesPerSecond(loads[0]), 10, 0.01) << "reads, and writes into the peer's memory";
  plan.works[0].algorithm = Algorithm::kUserBuffers;
  EXPECT_EQ(Loads(plan, 2)[0].sms, 1);
  // One program stands for all SMs of a token exchange, which has their rate.
  plan.works[0].algorithm = Algorithm::kDeepEp;
  plan.works[0].channels = 20;
  plan.works[0].rate = Bandwidth::BitsPerSecond(4'000'000'000);  // 0.5 GB/s
  EXPECT_EQ(Loads(plan, 2)[0].sms, 20);
  EXPECT_NEAR(GigabytesPerSecond(Loads(plan, 2)[0]), 10, 0.01);
  // Kernels of low latency hold no SM while data is on its way.
  plan.works[0].algorithm = Algorithm::kDeepEpLowLatency;
  EXPECT_EQ(Loads(plan, 2)[0].sms, 0);
}

// A NIC of 25 GB/s and four channels of 40 GB/s together: both ends stage data for the NIC.
TEST(KernelLoadTest, BetweenHostsTheNicIsTheBottleneck) {
  const Plan plan = testing::SendReceive({.gpus_per_host = 1, .channels = 4, .bytes = kBytes});
  const std::vector<KernelLoad> loads = Loads(plan, 1);
  ASSERT_EQ(loads.size(), 1u) << "the other end is on another host";
  EXPECT_EQ(loads[0].sms, 4);
  EXPECT_NEAR(GigabytesPerSecond(loads[0]), 25 * 1.5, 0.01);
}

}  // namespace
}  // namespace drydock
