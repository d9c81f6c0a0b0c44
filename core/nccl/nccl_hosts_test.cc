// What NCCL builds on each kind of host and for each shape of group; and what people's logs show.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/nccl/test_hosts.h"

namespace drydock {
namespace {

HostKind DgxB200() {
  HostKind kind = DgxH100();
  kind.name = "dgx-b200";
  kind.scale_up.switches = 2;
  kind.scale_up.bandwidth = GigabitsPerSecond(7200);
  return kind;
}

NcclWorld WorldOf(const std::vector<std::pair<HostKind, int>>& kinds) {
  std::vector<NcclHost> hosts;
  for (const auto& [kind, capability] : kinds) {
    hosts.push_back(DescribeHost(kind, TestGpu(capability)).value());
  }
  return NcclWorld::Create(NcclLibrary::Load().value(), hosts, {}).value();
}

std::vector<int> Range(int begin, int end) {
  std::vector<int> list(static_cast<size_t>(end - begin));
  std::iota(list.begin(), list.end(), begin);
  return list;
}

void ExpectRingsAndTrees(const NcclCommunicator& comm) {
  const int ranks = comm.shape().ranks;
  ASSERT_GT(comm.shape().ring_channels, 0);
  for (int channel = 0; channel < comm.shape().ring_channels; ++channel) {
    std::vector<int> ring = comm.Ring(channel);
    std::sort(ring.begin(), ring.end());
    EXPECT_EQ(ring, Range(0, ranks)) << "channel " << channel;
    const std::vector<hacknccl_tree> tree = comm.Tree(channel);
    int roots = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const int up = tree[static_cast<size_t>(rank)].up;
      if (up == -1) {
        ++roots;
        continue;
      }
      const auto& down = tree[static_cast<size_t>(up)].down;
      EXPECT_NE(std::find(std::begin(down), std::end(down), rank), std::end(down)) << rank;
    }
    EXPECT_EQ(roots, 1) << "channel " << channel;
  }
}

// Heads sit on different GPUs; between hosts each talks through a NIC no other head of its host
// uses on the channel's tree.
void ExpectHeadsUseTheirOwnNics(const NcclCommunicator& comm) {
  std::set<std::pair<int, int>> used;  // host and NIC
  std::set<int> senders;
  for (int channel = 0; channel < comm.shape().nvls_channels; ++channel) {
    const std::vector<hacknccl_nvls> nvls = comm.Nvls(channel);
    for (int rank = 0; rank < comm.shape().ranks; ++rank) {
      const int up = nvls[static_cast<size_t>(rank)].tree_up;
      if (up == -1) continue;
      const auto link = comm.Link(HACKNCCL_GRAPH_NVLS, channel, rank, up);
      ASSERT_TRUE(link.ok()) << link.error().ToString();
      EXPECT_EQ(link->kind, HACKNCCL_LINK_NET);
      if (!senders.insert(rank).second) continue;
      const int host = comm.hosts()[static_cast<size_t>(rank)];
      EXPECT_TRUE(used.insert({host, link->send_nic}).second)
          << "rank " << rank << " shares NIC " << link->send_nic;
    }
  }
  if (comm.shape().nvls_channels > 0 && comm.shape().hosts > 1) {
    EXPECT_FALSE(used.empty());
  }
}

struct Shape {
  const char* name;
  std::vector<hacknccl_place> places;
};

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes = {
      {"one host", Places(1, kAllEight)},
      {"two hosts", Places(2, kAllEight)},
      {"half a host", Places(1, {4, 5, 6, 7})},
      {"every other GPU of two hosts", Places(2, {0, 2, 4, 6})},
      {"one GPU a host", Places(4, {5})},
      {"a pair a host", Places(3, {2, 3})},
      {"out of order", Places(2, {6, 1, 4, 3, 0, 7, 2, 5})},
  };
  Shape uneven = {"uneven hosts", Places(1, kAllEight)};
  for (const int gpu : {0, 1, 2, 3}) uneven.places.push_back({1, 0, gpu});
  uneven.places.push_back({2, 0, 6});
  Shape turns = {"hosts take turns", {}};
  for (const int gpu : {0, 1, 2, 3}) {
    turns.places.push_back({0, 0, gpu});
    turns.places.push_back({1, 0, gpu});
  }
  Shape backwards = {"backwards", Places(2, kAllEight)};
  std::reverse(backwards.places.begin(), backwards.places.end());
  for (const Shape& shape : {uneven, turns, backwards}) shapes.push_back(shape);
  return shapes;
}

class HostsTest : public ::testing::TestWithParam<std::pair<HostKind, int>> {};

TEST_P(HostsTest, EveryShapeOfGroup) {
  const NcclWorld world = WorldOf({GetParam()});
  for (const Shape& shape : Shapes()) {
    SCOPED_TRACE(shape.name);
    const auto comm = world.CreateCommunicator(shape.places);
    ASSERT_TRUE(comm.ok()) << comm.error().ToString();
    ExpectRingsAndTrees(*comm);
    ExpectHeadsUseTheirOwnNics(*comm);
    // The last rank made real builds what rank 0 said of it.
    const auto plan = comm->Launch(comm->shape().ranks - 1, {SendTo(0, 1 << 20)});
    EXPECT_TRUE(plan.ok()) << plan.error().ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostsTest,
                         ::testing::Values(std::pair(DgxA100(), 80), std::pair(DgxA100(4), 80),
                                           std::pair(DgxH100(), 90), std::pair(DgxB200(), 100),
                                           std::pair(Dgx1V100(), 70), std::pair(PcieOnly(), 89),
                                           std::pair(Gb200Rack(), 100)),
                         [](const auto& each) {
                           std::string name =
                               each.param.first.name + std::to_string(each.param.first.nics.count);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(NcclHostsTest, HostsOfTwoKindsFormOneRing) {
  const NcclWorld world = WorldOf({{DgxH100(), 90}, {DgxA100(), 80}});
  std::vector<hacknccl_place> places = Places(2, kAllEight);
  for (const hacknccl_place& place : Places(1, kAllEight, 1)) places.push_back({7, 1, place.gpu});
  const auto comm = world.CreateCommunicator(places);
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().hosts, 3);
  EXPECT_EQ(comm->shape().nvls_channels, 0);  // the A100 have none
  ExpectRingsAndTrees(*comm);
}

TEST(NcclHostsTest, ARackIsOneNodeWithNvlsOverAllItsGpus) {
  const NcclWorld world = WorldOf({{Gb200Rack(), 100}});
  const auto comm = world.CreateCommunicator(Places(1, Range(0, 72)));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().hosts, 1);
  EXPECT_GT(comm->shape().nvls_channels, 0);
  ExpectRingsAndTrees(*comm);
  const auto link = comm->Link(HACKNCCL_GRAPH_P2P, 0, 0, 71);
  ASSERT_TRUE(link.ok()) << link.error().ToString();
  EXPECT_EQ(link->kind, HACKNCCL_LINK_P2P_WRITE);  // NVLink, though another machine's
  const auto plan =
      comm->Collective({HACKNCCL_ALL_REDUCE, HACKNCCL_BFLOAT16, HACKNCCL_SUM, 0, 128 << 20});
  ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  EXPECT_EQ(plan->collectives.at(0).algorithm, HACKNCCL_NVLS);
}

TEST(NcclHostsTest, TwoRacksMeetThroughTheNicsOfTheirTrays) {
  const NcclWorld world = WorldOf({{Gb200Rack(), 100}});
  const auto comm = world.CreateCommunicator(Places(2, {0, 1, 2, 3, 4, 5, 6, 71}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().hosts, 2);
  ExpectRingsAndTrees(*comm);
  // Rank 15 is GPU 71, the last of tray 17; its NIC is the rack's last.
  const auto link = comm->Link(HACKNCCL_GRAPH_P2P, 0, 5, 15);
  ASSERT_TRUE(link.ok()) << link.error().ToString();
  EXPECT_EQ(link->kind, HACKNCCL_LINK_NET);
  EXPECT_EQ(link->recv_nic, 71);
}

// A rank on an ordinary host: NCCL then uses multi-node NVLink nowhere.
TEST(NcclHostsTest, WithoutMultiNodeNvlinkATrayIsAHost) {
  HostKind plain = DgxB200();
  const NcclWorld world = WorldOf({{Gb200Rack(), 100}, {plain, 100}});
  std::vector<hacknccl_place> places = Places(1, Range(0, 8));
  places.push_back({1, 1, 0});
  const auto comm = world.CreateCommunicator(places);
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().hosts, 3);
  const auto link = comm->Link(HACKNCCL_GRAPH_P2P, 0, 0, 7);
  ASSERT_TRUE(link.ok()) << link.error().ToString();
  EXPECT_EQ(link->kind, HACKNCCL_LINK_NET);
  EXPECT_EQ(link->recv_nic, 7);
}

// ---- XML in the structure of real machines' dumps.

struct Dump {
  const char* file;
  int capability;
  bool nics_near_gpus;  // GPU g's own NIC is g, as far as NCCL can see
};

class DumpTest : public ::testing::TestWithParam<Dump> {};

TEST_P(DumpTest, NcclTakesADump) {
  HostKind kind = GetParam().capability == 90 ? DgxH100() : DgxA100();
  kind.nccl_topology_file = std::string("core/nccl/testdata/") + GetParam().file;
  kind.nccl_topology_xml = ReadFile(kind.nccl_topology_file).value();
  const NcclWorld world = WorldOf({{kind, GetParam().capability}});
  for (const Shape& shape : Shapes()) {
    SCOPED_TRACE(shape.name);
    const auto comm = world.CreateCommunicator(shape.places);
    ASSERT_TRUE(comm.ok()) << comm.error().ToString();
    ExpectRingsAndTrees(*comm);
    ExpectHeadsUseTheirOwnNics(*comm);
  }
  const auto comm = world.CreateCommunicator(Places(2, {5}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  const auto link = comm->Link(HACKNCCL_GRAPH_RING, 0, 0, 1);
  ASSERT_TRUE(link.ok()) << link.error().ToString();
  EXPECT_EQ(link->kind, HACKNCCL_LINK_NET);
  if (GetParam().nics_near_gpus) {
    EXPECT_EQ(link->send_nic, 5);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, DumpTest,
                         ::testing::Values(Dump{"dgx-h100.xml", 90, true},
                                           Dump{"hgx-a100-epyc.xml", 80, true},
                                           Dump{"vm-a100.xml", 80, false}),
                         [](const auto& each) {
                           std::string name = each.param.file;
                           name.resize(name.find('.'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// ---- Logs people posted. Facts that do not depend on NCCL's version, as far as the XML is alike.

// NVIDIA/nccl issue 1453 (NCCL 2.22.3): three hosts of 8 H100 with eight NICs of 200 Gb/s links. 16
// channels; "Channel 05/16 : 0 7 6 13 12 11 10 9 8 15 14 21 ...": channel c enters a host at GPU c,
// goes down and round, and leaves from GPU c + 1 for GPU c of the next. The log shows the first 20
// ranks of each ring. With 400 Gb/s NCCL finds other rings: the speed of the NICs decides.
TEST(PostedLogsTest, Issue1453RingsOfThreeHostsOfEightH100) {
  HostKind kind = DgxH100();
  kind.nics.rate = GigabitsPerSecond(200);
  const NcclWorld world = WorldOf({{kind, 90}});
  const auto comm = world.CreateCommunicator(Places(3, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().ring_channels, 16);
  const std::vector<std::pair<int, std::vector<int>>> posted = {
      {5, {0, 7, 6, 13, 12, 11, 10, 9, 8, 15, 14, 21, 20, 19, 18, 17, 16, 23, 22, 5}},
      {6, {0, 7, 14, 13, 12, 11, 10, 9, 8, 15, 22, 21, 20, 19, 18, 17, 16, 23, 6, 5}},
      {7, {0, 15, 14, 13, 12, 11, 10, 9, 8, 23, 22, 21, 20, 19, 18, 17, 16, 7, 6, 5}},
      {8, {0, 7, 6, 5, 4, 3, 2, 1, 8, 15, 14, 13, 12, 11, 10, 9, 16, 23, 22, 21}},
      {9, {0, 7, 6, 5, 4, 3, 2, 9, 8, 15, 14, 13, 12, 11, 10, 17, 16, 23, 22, 21}},
      {10, {0, 7, 6, 5, 4, 3, 10, 9, 8, 15, 14, 13, 12, 11, 18, 17, 16, 23, 22, 21}},
      {11, {0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21}},
      {12, {0, 7, 6, 5, 12, 11, 10, 9, 8, 15, 14, 13, 20, 19, 18, 17, 16, 23, 22, 21}},
      {13, {0, 7, 6, 13, 12, 11, 10, 9, 8, 15, 14, 21, 20, 19, 18, 17, 16, 23, 22, 5}},
  };
  for (const auto& [channel, ranks] : posted) {
    std::vector<int> ring = comm->Ring(channel);
    ring.resize(ranks.size());
    EXPECT_EQ(ring, ranks) << "channel " << channel;
  }
}

// NVIDIA/nccl-tests issue 100: one HGX A100 with NVSwitch. 24 channels, each the ring 0 to 7
// ("Channel 19/24 : 0 1 2 3 4 5 6 7") and the chain ("1/-1/-1->0->-1"), GPUs read from their peers
// ("via P2P/IPC/read").
TEST(PostedLogsTest, NcclTestsIssue100OneHgxA100) {
  const NcclWorld world = WorldOf({{DgxA100(4), 80}});
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  ASSERT_EQ(comm->shape().ring_channels, 24);
  for (int channel = 0; channel < 24; ++channel) {
    EXPECT_EQ(comm->Ring(channel), Range(0, 8));
    for (int rank = 0; rank < 8; ++rank) {
      const hacknccl_tree tree = comm->Tree(channel)[static_cast<size_t>(rank)];
      EXPECT_EQ(tree.up, rank - 1);
      EXPECT_EQ(tree.down[0], rank == 7 ? -1 : rank + 1);
      EXPECT_EQ(tree.down[1], -1);
    }
  }
  const auto link = comm->Link(HACKNCCL_GRAPH_RING, 0, 0, 1);
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->kind, HACKNCCL_LINK_P2P_READ);
}

// NVIDIA/nccl issue 671: GPUs 0 to 3 of a DGX-1 with V100. 8 channels; neighbours in every ring
// have NVLinks; trees are chains with an end at rank 0 ("3/-1/-1->0->-1", "-1/-1/-1->0->3").
TEST(PostedLogsTest, Issue671HalfADgx1) {
  const NcclWorld world = WorldOf({{Dgx1V100(), 70}});
  const auto comm = world.CreateCommunicator(Places(1, {0, 1, 2, 3}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().ring_channels, 8);
  for (int channel = 0; channel < 8; ++channel) {
    for (const hacknccl_tree& tree : comm->Tree(channel)) EXPECT_EQ(tree.down[1], -1);
    const hacknccl_tree end = comm->Tree(channel)[0];
    EXPECT_TRUE(end.up == -1 || end.down[0] == -1) << channel;
  }
}

}  // namespace
}  // namespace drydock
