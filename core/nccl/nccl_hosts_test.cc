// What NCCL builds on each kind of host and for each shape of group, and what posted logs show.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/nccl/testing/hosts_testing.h"

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

// Heads are on different GPUs. Between hosts each head uses a NIC that no other head of its host
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
    // The last rank, made real, builds what rank 0 reported about it.
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

TEST(NcclHostsTest, RacksAreConnectedByTheNicsOfTheirTrays) {
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

// If any rank is on an ordinary host, NCCL does not use multi-node NVLink.
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

// ---- XML with the structure of real machines' dumps.

struct Dump {
  const char* file;
  int capability;
  bool nics_near_gpus;  // GPU g's own NIC is g, as far as NCCL can see
};

class DumpTest : public ::testing::TestWithParam<Dump> {};

TEST_P(DumpTest, NcclAcceptsADump) {
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

}  // namespace
}  // namespace drydock
