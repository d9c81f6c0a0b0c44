// What the real NCCL decides for virtual clusters. The expected decisions are those of NCCL 2.29.7.
// The decisions for DGX H100 agree with posted logs of real machines (NCCL issues 1259 and 1453).
#include "core/nccl/nccl_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

hacknccl_collective PlannedWork(const NcclCommunicator& comm, int function, int64_t bytes,
                                int datatype = HACKNCCL_BFLOAT16, int element_bytes = 2) {
  hacknccl_call call = {function, datatype, HACKNCCL_SUM, 0, 0, 0};
  call.count = static_cast<uint64_t>(bytes / element_bytes);
  if (function == HACKNCCL_ALL_GATHER || function == HACKNCCL_REDUCE_SCATTER) {
    call.count /= static_cast<uint64_t>(comm.shape().ranks);
  }
  const auto plan = comm.Collective(call);
  EXPECT_TRUE(plan.ok()) << plan.error().ToString();
  EXPECT_EQ(plan->kind, HACKNCCL_PLAN_KERNEL);
  EXPECT_EQ(plan->collectives.size(), 1u);
  return plan->collectives.at(0);
}

struct Decision {
  int64_t bytes;
  int algorithm;
  int protocol;
  int channels;
};

void ExpectDecisions(const NcclCommunicator& comm, int function,
                     const std::vector<Decision>& decisions) {
  for (const Decision& expected : decisions) {
    const hacknccl_collective work = PlannedWork(comm, function, expected.bytes);
    EXPECT_EQ(work.algorithm, expected.algorithm) << expected.bytes << " B";
    EXPECT_EQ(work.protocol, expected.protocol) << expected.bytes << " B";
    EXPECT_EQ(work.channel_hi - work.channel_lo + 1, expected.channels) << expected.bytes << " B";
  }
}

void ExpectRingsVisitAll(const NcclCommunicator& comm) {
  for (int channel = 0; channel < comm.shape().ring_channels; ++channel) {
    const std::vector<int> ring = comm.Ring(channel);
    EXPECT_EQ(ring.front(), 0);
    EXPECT_EQ(std::set<int>(ring.begin(), ring.end()).size(), ring.size());
  }
}

// There is one root, and every other rank is a child of its parent and of no other rank.
void ExpectTreesAreTrees(const NcclCommunicator& comm) {
  for (int channel = 0; channel < comm.shape().ring_channels; ++channel) {
    const auto tree = comm.Tree(channel);
    int roots = 0, children = 0;
    for (size_t r = 0; r < tree.size(); ++r) {
      if (tree[r].up == -1) ++roots;
      for (const int child : tree[r].down) {
        if (child == -1) continue;
        ++children;
        EXPECT_EQ(tree[static_cast<size_t>(child)].up, static_cast<int>(r));
      }
    }
    EXPECT_EQ(roots, 1) << "channel " << channel;
    EXPECT_EQ(children, comm.shape().ranks - 1) << "channel " << channel;
  }
}

TEST(NcclLibraryTest, DecidesForOneDgxH100) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().nvls_channels, 16);
  EXPECT_EQ(comm->shape().nvls_heads, 8);
  ExpectDecisions(*comm, HACKNCCL_ALL_REDUCE,
                  {{1 << 10, HACKNCCL_RING, HACKNCCL_LL, 1},
                   {256 << 10, HACKNCCL_RING, HACKNCCL_LL, 8},
                   {1 << 20, HACKNCCL_RING, HACKNCCL_LL, 24},
                   {16 << 20, HACKNCCL_NVLS, HACKNCCL_SIMPLE, 16},
                   {256 << 20, HACKNCCL_NVLS, HACKNCCL_SIMPLE, 16}});
  ExpectRingsVisitAll(*comm);
  ExpectTreesAreTrees(*comm);
}

TEST(NcclLibraryTest, NvlsHasNoEightBitIntegers) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok());
  EXPECT_EQ(PlannedWork(*comm, HACKNCCL_ALL_REDUCE, 256 << 20, HACKNCCL_INT8, 1).algorithm,
            HACKNCCL_RING);
}

TEST(NcclLibraryTest, DecidesForTwoDgxH100) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(2, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  ExpectDecisions(*comm, HACKNCCL_ALL_REDUCE,
                  {{1 << 10, HACKNCCL_TREE, HACKNCCL_LL, 1},
                   {32 << 10, HACKNCCL_TREE, HACKNCCL_LL, 8},
                   {256 << 10, HACKNCCL_TREE, HACKNCCL_LL128, 16},
                   {1 << 20, HACKNCCL_TREE, HACKNCCL_LL128, 16},
                   {16 << 20, HACKNCCL_NVLS_TREE, HACKNCCL_SIMPLE, 16}});
  const hacknccl_collective gather = PlannedWork(*comm, HACKNCCL_ALL_GATHER, 256 << 20);
  EXPECT_EQ(gather.algorithm, HACKNCCL_RING);
  EXPECT_EQ(gather.protocol, HACKNCCL_SIMPLE);
  EXPECT_EQ(gather.chunk_mid, 2u << 20);
  EXPECT_EQ(gather.chunk_steps, 4);
  EXPECT_EQ(gather.slice_steps, 2);
  ExpectRingsVisitAll(*comm);
  ExpectTreesAreTrees(*comm);
  // The head of each GPU index meets its counterpart on the other host.
  const auto nvls = comm->Nvls(0);
  for (int r = 0; r < 8; ++r) {
    EXPECT_EQ(nvls[static_cast<size_t>(r)].head, r);
    EXPECT_EQ(nvls[static_cast<size_t>(r)].tree_down[0], r + 8);
    EXPECT_EQ(nvls[static_cast<size_t>(r + 8)].tree_up, r);
  }
}

TEST(NcclLibraryTest, DecidesForOneDgxA100) {
  const NcclWorld world = TestWorld({DgxA100()}, 80);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().nvls_channels, 0);
  ExpectDecisions(*comm, HACKNCCL_ALL_REDUCE,
                  {{1 << 10, HACKNCCL_RING, HACKNCCL_LL, 1},
                   {1 << 20, HACKNCCL_RING, HACKNCCL_LL, 24},
                   {16 << 20, HACKNCCL_RING, HACKNCCL_LL128, 24},
                   {256 << 20, HACKNCCL_RING, HACKNCCL_SIMPLE, 24}});
  // Compute capability 8.0 reads from its peers, 9.0 writes to them.
  const auto link = comm->Link(HACKNCCL_GRAPH_RING, 0, 0, 1);
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->kind, HACKNCCL_LINK_P2P_READ);
  EXPECT_EQ(link->send_nic, -1);
}

TEST(NcclLibraryTest, StridedGroupUsesTheGpusOwnNic) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(16, {3}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().hosts, 16);
  for (int r = 0; r < 16; ++r) {
    const auto link = comm->Link(HACKNCCL_GRAPH_RING, 0, r, (r + 1) % 16);
    ASSERT_TRUE(link.ok()) << link.error().ToString();
    EXPECT_EQ(link->kind, HACKNCCL_LINK_NET);
    EXPECT_EQ(link->send_nic, 3);
    EXPECT_EQ(link->recv_nic, 3);
    EXPECT_EQ(link->send_gdr, 1);
    EXPECT_EQ(link->proxy, -1);
  }
  EXPECT_EQ(PlannedWork(*comm, HACKNCCL_ALL_GATHER, 256 << 10).algorithm, HACKNCCL_PAT);
  EXPECT_EQ(PlannedWork(*comm, HACKNCCL_ALL_GATHER, 256 << 20).algorithm, HACKNCCL_RING);
  ExpectTreesAreTrees(*comm);
}

TEST(NcclLibraryTest, PairAcrossHostsCutsAMessageOverItsChannels) {
  const NcclWorld world = TestWorld({DgxA100()}, 80);
  const auto comm = world.CreateCommunicator({{4, 0, 7}, {9, 0, 7}});
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  const auto send = comm->Launch(0, {SendTo(1, 64 << 20)});
  const auto receive = comm->Launch(1, {ReceiveFrom(0, 64 << 20)});
  ASSERT_TRUE(send.ok() && receive.ok());
  ASSERT_EQ(send->exchanges.size(), 1u);
  ASSERT_EQ(receive->exchanges.size(), 1u);
  EXPECT_EQ(send->exchanges[0].send_peer, 1);
  EXPECT_EQ(send->exchanges[0].recv_peer, -1);
  EXPECT_EQ(send->exchanges[0].send_channels, receive->exchanges[0].recv_channels);
  EXPECT_EQ(send->exchanges[0].send_chunk, receive->exchanges[0].recv_chunk);
  EXPECT_EQ(send->exchanges[0].channel_base, receive->exchanges[0].channel_base);
  EXPECT_FALSE(send->proxy_ops.empty());
}

// Rank 0 reports on all ranks. The library compares its report when it makes another rank real.
TEST(NcclLibraryTest, EveryRankBuildsWhatRankZeroReportsOfIt) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  std::vector<std::vector<hacknccl_place>> groups = {Places(1, kAllEight), Places(2, kAllEight),
                                                     Places(5, {1, 4, 6}), Places(12, {7}),
                                                     Places(6, {2, 3})};
  groups.push_back(Places(1, kAllEight));
  for (const int gpu : {0, 1, 2, 5}) groups.back().push_back({1, 0, gpu});
  groups.push_back({{0, 0, 5}, {1, 0, 2}, {0, 0, 1}, {1, 0, 7}});  // hosts take turns
  for (const auto& places : groups) {
    const auto comm = world.CreateCommunicator(places);
    ASSERT_TRUE(comm.ok()) << comm.error().ToString();
    for (int r = 0; r < comm->shape().ranks; ++r) {
      const int peer = r == 0 ? 1 : 0;
      const auto plan = comm->Launch(r, {SendTo(peer, 1 << 20)});
      ASSERT_TRUE(plan.ok()) << plan.error().ToString();
    }
  }
}

TEST(NcclLibraryTest, MessagesBetweenRailsLeaveByTheReceiversRail) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(2, kAllEight));
  ASSERT_TRUE(comm.ok());
  // PXN: over NVLink to the GPU next to the NIC of the receiver's rail.
  const auto link = comm->Link(HACKNCCL_GRAPH_P2P, 0, 8, 3);
  ASSERT_TRUE(link.ok()) << link.error().ToString();
  EXPECT_EQ(link->kind, HACKNCCL_LINK_NET);
  EXPECT_EQ(link->send_nic, 3);
  EXPECT_EQ(link->recv_nic, 3);
  EXPECT_EQ(link->proxy, 11);
}

TEST(NcclLibraryTest, HalfAHostHasItsOwnRing) {
  const NcclWorld world = TestWorld({DgxA100()}, 80);
  const auto comm = world.CreateCommunicator(Places(1, {4, 5, 6, 7}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().ranks, 4);
  EXPECT_EQ(comm->shape().hosts, 1);
  ExpectRingsVisitAll(*comm);
}

TEST(NcclLibraryTest, HostsMayHaveDifferentNumbersOfRanks) {
  const NcclWorld world = TestWorld({DgxA100()}, 80);
  auto places = Places(1, kAllEight);
  for (int gpu = 0; gpu < 4; ++gpu) places.push_back({1, 0, gpu});
  const auto comm = world.CreateCommunicator(places);
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().hosts, 2);
  ExpectRingsVisitAll(*comm);
  ExpectTreesAreTrees(*comm);
  // A ring connection between hosts uses a NIC at both ends.
  const std::vector<int> ring = comm->Ring(0);
  int crossings = 0;
  for (size_t i = 0; i < ring.size(); ++i) {
    const int from = ring[i], to = ring[(i + 1) % ring.size()];
    const auto link = comm->Link(HACKNCCL_GRAPH_RING, 0, from, to);
    ASSERT_TRUE(link.ok()) << link.error().ToString();
    const bool crosses = (from < 8) != (to < 8);
    EXPECT_EQ(link->kind == HACKNCCL_LINK_NET, crosses);
    if (crosses) {
      EXPECT_GE(link->send_nic, 0);
      EXPECT_GE(link->recv_nic, 0);
      ++crossings;
    }
  }
  EXPECT_EQ(crossings, 2);
}

TEST(NcclLibraryTest, OneRankMovesNothing) {
  const NcclWorld world = TestWorld({DgxA100()}, 80);
  const auto comm = world.CreateCommunicator(Places(1, {2}));
  ASSERT_TRUE(comm.ok());
  const auto plan =
      comm->Collective({HACKNCCL_ALL_REDUCE, HACKNCCL_FLOAT16, HACKNCCL_SUM, 0, 999, 0});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->kind, HACKNCCL_PLAN_LOCAL);
}

int64_t ResidentKilobytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4;
}

TEST(NcclLibraryTest, HundredsOfCommunicatorsFreeTheirMemory) {
  auto library = NcclLibrary::Load().value();
  const NcclWorld world =
      NcclWorld::Create(library, {DescribeHost(DgxH100(), TestGpu(90)).value()}, {}).value();
  const auto round = [&world](int i) {
    const auto comm = world.CreateCommunicator(Places(1 + i % 3, kAllEight));
    ASSERT_TRUE(comm.ok());
    PlannedWork(*comm, HACKNCCL_ALL_REDUCE, 16 << 20);
    PlannedWork(*comm, HACKNCCL_ALL_GATHER, 1 << 20);
    ASSERT_TRUE(comm->Launch(1, {SendTo(0, 1 << 20)}).ok());
  };
  for (int i = 0; i < 15; ++i) round(i);  // caches fill, the heap finds its size
  EXPECT_EQ(library->api().memory_in_use(), 0);
  const int64_t before = ResidentKilobytes();
  for (int i = 0; i < 150; ++i) round(i);
  EXPECT_EQ(library->api().memory_in_use(), 0);
  EXPECT_LT(ResidentKilobytes() - before, 3000) << "KB more after 300 of NCCL's communicators";
}

TEST(NcclLibraryTest, TheCallersEnvironmentChangesNothing) {
  ASSERT_EQ(setenv("NCCL_ALGO", "Tree", 1), 0);
  ASSERT_EQ(setenv("NCCL_PROTO", "LL", 1), 0);
  ASSERT_EQ(setenv("NCCL_MAX_NCHANNELS", "2", 1), 0);
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok());
  ExpectDecisions(*comm, HACKNCCL_ALL_REDUCE, {{16 << 20, HACKNCCL_NVLS, HACKNCCL_SIMPLE, 16}});
  unsetenv("NCCL_ALGO");
  unsetenv("NCCL_PROTO");
  unsetenv("NCCL_MAX_NCHANNELS");
}

// Each world here has its own library: the previous one was unloaded with its owner.
TEST(NcclLibraryTest, SettingsHoldForTheLifeOfTheLibrary) {
  {
    const NcclWorld world =
        TestWorld({DgxH100()}, 90, {{"NCCL_ALGO", "allreduce:ring"}, {"NCCL_MAX_NCHANNELS", "4"}});
    const auto comm = world.CreateCommunicator(Places(1, kAllEight));
    ASSERT_TRUE(comm.ok());
    ExpectDecisions(*comm, HACKNCCL_ALL_REDUCE, {{16 << 20, HACKNCCL_RING, HACKNCCL_LL128, 4}});
    auto other = NcclWorld::Create(NcclLibrary::Load().value(), {}, {{"NCCL_ALGO", "tree"}});
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().message(),
              "NCCL's settings are fixed for the life of the library; load the library again to "
              "change them");
  }
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok());
  ExpectDecisions(*comm, HACKNCCL_ALL_REDUCE, {{16 << 20, HACKNCCL_NVLS, HACKNCCL_SIMPLE, 16}});
}

// 16 NVLS channels up to compute capability 9, 32 from 10 on.
TEST(NcclLibraryTest, RefusesHostsWhoseNvlsDiffers) {
  auto library = NcclLibrary::Load().value();
  const NcclWorld world = NcclWorld::Create(library,
                                            {DescribeHost(DgxH100(), TestGpu(90)).value(),
                                             DescribeHost(DgxH100(), TestGpu(100)).value()},
                                            {})
                              .value();
  auto places = Places(1, kAllEight);
  for (const int gpu : kAllEight) places.push_back({1, 1, gpu});
  const auto comm = world.CreateCommunicator(places);
  ASSERT_FALSE(comm.ok());
  EXPECT_EQ(
      comm.error().message(),
      "NCCL could not create the communicator: NCCL sets up 16 NVLS channels on one host and "
      "32 on another; such a communicator hangs on real machines (NCCL_NVLS_ENABLE: 0 lets it "
      "run)");
}

TEST(NcclLibraryTest, ErrorsSayWhatIsWrong) {
  const NcclWorld world = TestWorld({DgxA100(), DgxA100(0)}, 80);
  const auto error = [&world](const std::vector<hacknccl_place>& places) {
    const auto comm = world.CreateCommunicator(places);
    return comm.ok() ? "no error" : comm.error().message();
  };
  EXPECT_EQ(error({}), "a communicator needs at least one rank");
  EXPECT_EQ(error({{0, 0, 8}}), "rank 0: no GPU 8 on its host, which has 8");
  EXPECT_EQ(error({{0, 0, 1}, {0, 0, 1}}),
            "rank 1: GPU 1 of host 0 already belongs to another rank");
  EXPECT_EQ(error({{0, 0, 1}, {1, 1, 1}}), "host 1 has no NIC to reach the other hosts");

  const auto comm = world.CreateCommunicator(Places(1, kAllEight, 1));  // no NIC needed inside
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  const auto plan = comm->Collective({HACKNCCL_BROADCAST, HACKNCCL_FLOAT16, 0, 99, 1024, 0});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().message().substr(0, 22), "NCCL refused the call:");
  EXPECT_NE(plan.error().message().find("99"), std::string::npos) << plan.error().message();

  const auto link = [&comm](int graph, int channel, int to) {
    const auto found = comm->Link(graph, channel, 0, to);
    return found.ok() ? "no error" : found.error().message();
  };
  EXPECT_EQ(link(HACKNCCL_GRAPH_RING, 0, 1), "no error");
  EXPECT_EQ(link(HACKNCCL_GRAPH_RING, 999, 1), "there is no ring channel 999");
  EXPECT_EQ(link(HACKNCCL_GRAPH_NVLS, 0, 1), "there is no NVLS channel 0");
  EXPECT_EQ(link(HACKNCCL_GRAPH_P2P, -1, 1), "there is no message channel -1");
  EXPECT_EQ(link(HACKNCCL_GRAPH_COLLNET_UP, 0, 1), "there is no CollNet channel 0");
  EXPECT_EQ(link(6, 0, 1), "there is no graph 6");
  EXPECT_EQ(link(HACKNCCL_GRAPH_RING, 0, 8), "there is no rank 8");
  EXPECT_EQ(link(HACKNCCL_GRAPH_RING, 0, 0), "a rank has no link to itself");

  const auto nowhere = NcclLibrary::Load("/nowhere/libhacknccl.so");
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().ToString(),
            "/nowhere/libhacknccl.so: error: cannot load NCCL: cannot open shared object file: No "
            "such file or directory; run scripts/setup.sh to build it");
}

TEST(NcclLibraryTest, PlansAThousandRanks) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(128, kAllEight));
  ASSERT_TRUE(comm.ok());
  EXPECT_EQ(comm->shape().ranks, 1024);
  ExpectDecisions(*comm, HACKNCCL_ALL_REDUCE, {{1 << 30, HACKNCCL_NVLS_TREE, HACKNCCL_SIMPLE, 16}});
  ExpectTreesAreTrees(*comm);
}

}  // namespace
}  // namespace drydock
