// Machines whose GPUs NCCL divides into several hosts, because some reach each other no better than
// through the network (ncclTopoTrimSystem).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

// Checks that every rank, made real, builds what rank 0 reported about it, and sends to every other
// rank.
void ExpectAllAgree(const NcclCommunicator& comm) {
  const int ranks = comm.shape().ranks;
  for (int rank = 1; rank < ranks; ++rank) {
    std::vector<hacknccl_call> calls;
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer != rank) calls.push_back(SendTo(peer, 1 << 20));
    }
    const auto plan = comm.Launch(rank, calls);
    ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  }
}

void ExpectNetwork(const NcclCommunicator& comm, int from, int to, int send_nic, int recv_nic) {
  const auto link = comm.Link(HACKNCCL_GRAPH_P2P, 0, from, to);
  ASSERT_TRUE(link.ok()) << link.error().ToString();
  EXPECT_EQ(link->kind, HACKNCCL_LINK_NET) << from << " to " << to;
  EXPECT_EQ(link->send_nic, send_nic) << from << " to " << to;
  EXPECT_EQ(link->recv_nic, recv_nic) << from << " to " << to;
}

// GPUs 0 and 5 of the cube mesh have no NVLink between them, and a NIC each beside them.
TEST(SplitHostsTest, CornersOfADgx1AreSeparateHosts) {
  const NcclWorld world = TestWorld({Dgx1V100()}, 70);
  const auto pair = world.CreateCommunicator(Places(1, {0, 5}));
  ASSERT_TRUE(pair.ok()) << pair.error().ToString();
  EXPECT_EQ(pair->shape().hosts, 2);
  EXPECT_EQ(pair->hosts(), std::vector({0, 1}));
  ExpectNetwork(*pair, 0, 1, 0, 2);
  ExpectAllAgree(*pair);

  const auto two = world.CreateCommunicator(Places(2, {0, 5}));
  ASSERT_TRUE(two.ok()) << two.error().ToString();
  EXPECT_EQ(two->hosts(), std::vector({0, 1, 2, 3}));
  ExpectNetwork(*two, 1, 2, 2, 0);
  ExpectNetwork(*two, 2, 3, 0, 2);
  ExpectNetwork(*two, 3, 0, 2, 0);
  ExpectAllAgree(*two);

  // GPUs 0 and 1 have NVLinks; GPU 7, between them in rank order, reaches neither.
  const auto three = world.CreateCommunicator(Places(1, {0, 7, 1}));
  ASSERT_TRUE(three.ok()) << three.error().ToString();
  EXPECT_EQ(three->hosts(), std::vector({0, 1, 0}));
  ExpectAllAgree(*three);
}

// With all eight GPUs the machine is one host.
TEST(SplitHostsTest, ASplitMayDivideAHost) {
  const NcclWorld world = TestWorld({Dgx1V100()}, 70);
  const auto whole = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(whole.ok()) << whole.error().ToString();
  EXPECT_EQ(whole->shape().hosts, 1);
  const auto part = whole->Split({1, 0, 0, 0, 0, 1, 0, 0}, std::vector<int32_t>(8, 0), 1);
  ASSERT_TRUE(part.ok()) << part.error().ToString();
  EXPECT_EQ(part->hosts(), std::vector({0, 1}));
  ExpectNetwork(*part, 0, 1, 0, 2);
}

TEST(SplitHostsTest, WithoutP2pTheSocketsAreHosts) {
  const NcclWorld world = TestWorld({DgxH100()}, 90, {{"NCCL_P2P_DISABLE", "1"}});
  const auto comm = world.CreateCommunicator(Places(2, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->hosts(), std::vector({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  ExpectNetwork(*comm, 3, 4, 3, 4);
  const auto inside = comm->Link(HACKNCCL_GRAPH_RING, 0, 12, 13);
  ASSERT_TRUE(inside.ok());
  EXPECT_EQ(inside->kind, HACKNCCL_LINK_SHM);
  ExpectAllAgree(*comm);
}

TEST(SplitHostsTest, WithoutP2pAndSharedMemoryEveryGpuIsAHost) {
  const Settings settings = {{"NCCL_P2P_DISABLE", "1"}, {"NCCL_SHM_DISABLE", "1"}};
  const NcclWorld world = TestWorld({DgxA100(4), DgxA100(0)}, 80, settings);
  // Ranks go round-robin over the hosts.
  std::vector<hacknccl_place> places;
  for (const int gpu : {1, 6, 0}) {
    places.push_back({0, 0, gpu});
    places.push_back({1, 0, gpu});
  }
  const auto comm = world.CreateCommunicator(places);
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->hosts(), std::vector({0, 1, 2, 3, 4, 5}));
  ExpectNetwork(*comm, 0, 1, 0, 0);
  ExpectNetwork(*comm, 0, 4, 0, 0);  // two GPUs that share a NIC
  ExpectAllAgree(*comm);

  const auto unreachable = world.CreateCommunicator(Places(1, {0, 1}, 1));
  ASSERT_FALSE(unreachable.ok());
  EXPECT_EQ(unreachable.error().message(),
            "NCCL divides the GPUs of host 0 into several hosts, as they cannot reach each other, "
            "and the "
            "host has no NIC");
}

// The setting also disables multi-node NVLink: each tray is a host.
TEST(SplitHostsTest, WithoutP2pTheTraysOfARackAreHosts) {
  const NcclWorld world = TestWorld({Gb200Rack()}, 100, {{"NCCL_P2P_LEVEL", "LOC"}});
  const auto comm = world.CreateCommunicator(Places(1, {0, 1, 4, 5}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->hosts(), std::vector({0, 0, 1, 1}));
  ExpectNetwork(*comm, 1, 2, 1, 4);
  ExpectAllAgree(*comm);
}

}  // namespace
}  // namespace drydock
