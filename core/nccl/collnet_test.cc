// What the real NCCL decides with in-network reduction. The expected decisions are NCCL 2.29.7's.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/nccl/nccl_library.h"
#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

NcclWorld MakeWorld(const HostKind& kind, int capability, const std::string& enable) {
  NcclHost host = DescribeHost(kind, TestGpu(capability)).value();
  host.collnet = true;
  return NcclWorld::Create(NcclLibrary::Load().value(), {host}, {{"NCCL_COLLNET_ENABLE", enable}})
      .value();
}

NcclCommunicator MakeCommunicator(const HostKind& kind, int capability,
                                  const std::vector<hacknccl_place>& places,
                                  const std::string& enable = "1") {
  return MakeWorld(kind, capability, enable).CreateCommunicator(places).value();
}

int AlgorithmFor(const NcclCommunicator& comm, int64_t bytes, int type = HACKNCCL_BFLOAT16,
                 int op = HACKNCCL_SUM) {
  const int64_t width = type == HACKNCCL_FLOAT8_E4M3 ? 1 : 2;
  const hacknccl_call call = {
      HACKNCCL_ALL_REDUCE, type, op, 0, static_cast<uint64_t>(bytes / width), 0};
  const auto plan = comm.Collective(call);
  EXPECT_TRUE(plan.ok()) << plan.error().ToString();
  return plan->collectives.at(0).algorithm;
}

// On every channel a chain visits all ranks of a host, and its top rank is joined to the network.
void ExpectChains(const NcclCommunicator& comm) {
  ASSERT_GT(comm.shape().collnet_heads, 0);
  for (int channel = 0; channel < comm.shape().ring_channels; ++channel) {
    const std::vector<hacknccl_collnet> places = comm.CollNet(channel).value();
    size_t passed = 0;
    for (size_t top = 0; top < places.size(); ++top) {
      if (places[top].chain_up != -1) continue;
      EXPECT_GE(places[top].nic, 0) << "rank " << top << ", channel " << channel;
      for (int rank = static_cast<int>(top); rank != -1; ++passed) {
        const int down = places[static_cast<size_t>(rank)].chain_down;
        EXPECT_EQ(comm.hosts()[static_cast<size_t>(rank)], comm.hosts()[top]);
        if (down != -1) {
          EXPECT_EQ(places[static_cast<size_t>(down)].chain_up, rank);
        }
        rank = down;
      }
    }
    EXPECT_EQ(passed, places.size()) << "channel " << channel;
  }
}

TEST(CollNetTest, DgxH100ReducesByNvlsInsideAndSwitchesBetweenHosts) {
  const NcclCommunicator comm = MakeCommunicator(DgxH100(), 90, Places(4, kAllEight));
  EXPECT_EQ(comm.shape().collnet_heads, 8);
  ExpectChains(comm);
  const std::vector<hacknccl_collnet> places = comm.CollNet(0).value();
  for (size_t r = 0; r < places.size(); ++r) {
    EXPECT_EQ(places[r].head, static_cast<int>(r % 8));
    EXPECT_EQ(places[r].nic, static_cast<int>(r % 8));
    EXPECT_EQ(places[r].gdr, 1);
  }
  EXPECT_EQ(AlgorithmFor(comm, 16 << 10), HACKNCCL_TREE);
  for (const int64_t bytes : {64 << 10, 1 << 20, 256 << 20}) {
    EXPECT_EQ(AlgorithmFor(comm, bytes), HACKNCCL_NVLS) << bytes;
  }
}

TEST(CollNetTest, TwoHostsKeepTheirTreeForLargeSizes) {
  const NcclCommunicator comm = MakeCommunicator(DgxH100(), 90, Places(2, kAllEight));
  EXPECT_EQ(AlgorithmFor(comm, 1 << 20), HACKNCCL_NVLS);
  EXPECT_EQ(AlgorithmFor(comm, 256 << 20), HACKNCCL_NVLS_TREE);
}

TEST(CollNetTest, DgxA100ScattersToHeads) {
  const NcclCommunicator comm = MakeCommunicator(DgxA100(), 80, Places(4, kAllEight));
  ExpectChains(comm);
  EXPECT_EQ(AlgorithmFor(comm, 1 << 20), HACKNCCL_COLLNET_DIRECT);
  EXPECT_EQ(AlgorithmFor(comm, 256 << 20), HACKNCCL_COLLNET_DIRECT);
}

TEST(CollNetTest, WithOneNicPerTwoGpusEverySecondGpuIsAHead) {
  const NcclCommunicator comm = MakeCommunicator(DgxA100(4), 80, Places(4, kAllEight));
  EXPECT_EQ(comm.shape().collnet_heads, 4);
  ExpectChains(comm);
  const std::vector<hacknccl_collnet> places = comm.CollNet(0).value();
  for (size_t r = 0; r < places.size(); ++r) {
    const int wanted = r % 2 == 0 ? static_cast<int>(r % 8 / 2) : -1;
    EXPECT_EQ(places[r].head, wanted);
    EXPECT_EQ(places[r].nic, wanted);
  }
  EXPECT_EQ(AlgorithmFor(comm, 1 << 20), HACKNCCL_COLLNET_DIRECT);
  EXPECT_EQ(AlgorithmFor(comm, 256 << 20), HACKNCCL_COLLNET_CHAIN);
}

TEST(CollNetTest, OfTwoGpusOnOneNicTheLowerRankIsTheHead) {
  const NcclCommunicator comm =
      MakeCommunicator(DgxA100(4), 80, Places(4, {1, 0, 3, 2, 5, 4, 7, 6}));
  ExpectChains(comm);
  const std::vector<hacknccl_collnet> places = comm.CollNet(0).value();
  EXPECT_EQ(places[0].nic, 0);
  EXPECT_EQ(places[1].nic, -1);
  EXPECT_EQ(AlgorithmFor(comm, 1 << 20), HACKNCCL_COLLNET_DIRECT);
}

TEST(CollNetTest, WithOneGpuPerHostDataGoesStraightToTheNetwork) {
  const NcclCommunicator comm = MakeCommunicator(DgxH100(), 90, Places(4, {3}));
  ExpectChains(comm);
  EXPECT_EQ(comm.CollNet(0).value()[2].nic, 3);
  EXPECT_EQ(AlgorithmFor(comm, 1 << 20), HACKNCCL_COLLNET_CHAIN);
}

TEST(CollNetTest, HostsMayDiffer) {
  std::vector<hacknccl_place> places = Places(2, kAllEight);
  for (const int gpu : {2, 3, 6, 7}) places.push_back({2, 0, gpu});
  const NcclCommunicator comm = MakeCommunicator(DgxA100(), 80, places);
  ExpectChains(comm);
  // Four heads on each host, as many as the smallest host has.
  EXPECT_EQ(comm.shape().collnet_heads, 4);
  const std::vector<hacknccl_collnet> heads = comm.CollNet(0).value();
  int joined = 0;
  for (const hacknccl_collnet& head : heads) {
    EXPECT_EQ(head.head, head.rail);
    if (head.nic >= 0) ++joined;
  }
  EXPECT_EQ(joined, 12);
  EXPECT_EQ(heads[17].nic, 3);
}

TEST(CollNetTest, SwitchesDoNotReduceEveryTypeAndOperation) {
  const NcclCommunicator comm = MakeCommunicator(DgxH100(), 90, Places(4, {3}));
  EXPECT_EQ(AlgorithmFor(comm, 1 << 20, HACKNCCL_BFLOAT16, HACKNCCL_AVG), HACKNCCL_COLLNET_CHAIN);
  EXPECT_NE(AlgorithmFor(comm, 1 << 20, HACKNCCL_BFLOAT16, HACKNCCL_PROD), HACKNCCL_COLLNET_CHAIN);
  EXPECT_NE(AlgorithmFor(comm, 1 << 20, HACKNCCL_FLOAT8_E4M3), HACKNCCL_COLLNET_CHAIN);
}

TEST(CollNetTest, NeedsTheSettingAndSeveralHosts) {
  EXPECT_EQ(MakeCommunicator(DgxH100(), 90, Places(4, kAllEight), "0").shape().collnet_heads, 0);
  const NcclCommunicator alone = MakeCommunicator(DgxH100(), 90, Places(1, kAllEight));
  EXPECT_EQ(alone.shape().collnet_heads, 0);
  EXPECT_EQ(alone.CollNet(0).error().ToString(), "error: there is no CollNet channel 0");
}

TEST(CollNetTest, AllMemoryIsReturned) {
  const auto library = NcclLibrary::Load().value();
  const int64_t before = library->api().memory_in_use();
  { const NcclCommunicator comm = MakeCommunicator(DgxA100(), 80, Places(4, kAllEight)); }
  EXPECT_EQ(library->api().memory_in_use(), before);
}

}  // namespace
}  // namespace drydock
