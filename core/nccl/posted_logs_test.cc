// Facts of NCCL logs that were posted publicly. They hold in every version of NCCL for similar XML.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

// Returns a rank's place in a tree as NCCL's log writes it: children->rank->parent.
std::string TreeText(const NcclCommunicator& comm, int channel, int rank) {
  const hacknccl_tree tree = comm.Tree(channel)[static_cast<size_t>(rank)];
  return fmt::format("{}/{}/{}->{}->{}", tree.down[0], tree.down[1], tree.down[2], rank, tree.up);
}

// Returns a rank's place in the chain from 0 to 7 in the same form.
std::string ChainText(int rank) {
  return fmt::format("{}/-1/-1->{}->{}", rank == 7 ? -1 : rank + 1, rank, rank - 1);
}

// NVIDIA/nccl issue 1453 (NCCL 2.22.3): three hosts of 8 H100 with eight NICs of 200 Gb/s links. 16
// channels; "Channel 05/16 : 0 7 6 13 12 11 10 9 8 15 14 21 ...": channel c enters a host at GPU c,
// goes down and round, and leaves from GPU c + 1 for GPU c of the next. The log shows the first 20
// ranks of each ring. With 400 Gb/s NCCL finds other rings: the speed of the NICs decides.
TEST(PostedLogsTest, Issue1453RingsOfThreeHostsOfEightH100) {
  HostKind kind = DgxH100();
  kind.nics.rate = GigabitsPerSecond(200);
  const NcclWorld world = TestWorld({kind}, 90);
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
  const NcclWorld world = TestWorld({DgxA100(4)}, 80);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  ASSERT_EQ(comm->shape().ring_channels, 24);
  for (int channel = 0; channel < 24; ++channel) {
    EXPECT_EQ(comm->Ring(channel), kAllEight);
    for (int rank = 0; rank < 8; ++rank) {
      EXPECT_EQ(TreeText(*comm, channel, rank), ChainText(rank));
    }
  }
  const auto link = comm->Link(HACKNCCL_GRAPH_RING, 0, 0, 1);
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->kind, HACKNCCL_LINK_P2P_READ);
}

// NVIDIA/nccl issues 1259 (NCCL 2.20.5) and 2094 (2.29): one HGX H100. 24 channels, each a chain
// ("7/-1/-1->6->5"); "P2P Chunksize set to 524288"; "NVLS_NCHANNELS 16", with all eight as heads.
TEST(PostedLogsTest, Issues1259And2094OneHgxH100) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  ASSERT_EQ(comm->shape().ring_channels, 24);
  EXPECT_EQ(comm->shape().p2p_chunk_bytes, 524288);
  EXPECT_EQ(comm->shape().nvls_channels, 16);
  EXPECT_EQ(comm->shape().nvls_heads, 8);
  for (int channel = 0; channel < 24; ++channel) {
    for (int rank = 0; rank < 8; ++rank) {
      EXPECT_EQ(TreeText(*comm, channel, rank), ChainText(rank)) << channel;
    }
  }
}

// NVIDIA/nccl issue 1357: two hosts of 8 H100 with a NIC for every two. 16 channels; "NVLS Head  1:
// 2 10"; the places of ranks 1, 3 and 6 in their trees; "P2P Chunksize set to 131072".
TEST(PostedLogsTest, Issue1357TwoHostsOfFourNics) {
  HostKind kind = DgxH100();
  kind.nics.count = 4;
  const NcclWorld world = TestWorld({kind}, 90);
  const auto comm = world.CreateCommunicator(Places(2, kAllEight));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  EXPECT_EQ(comm->shape().ring_channels, 16);
  EXPECT_EQ(comm->shape().p2p_chunk_bytes, 131072);
  const std::vector<hacknccl_nvls> nvls = comm->Nvls(0);
  for (int rank = 0; rank < 16; ++rank) {
    const int head = rank % 8 / 2;
    EXPECT_EQ(nvls[static_cast<size_t>(rank)].head, rank % 2 == 0 ? head : -1) << rank;
  }
  for (int channel = 0; channel < 16; ++channel) {
    SCOPED_TRACE(channel);
    EXPECT_EQ(TreeText(*comm, channel, 1), "3/-1/-1->1->2");
    EXPECT_EQ(TreeText(*comm, channel, 3), channel % 4 == 2 ? "-1/-1/-1->3->1" : "4/-1/-1->3->1");
    const std::string at_root = channel < 8 ? "5/14/-1->6->-1" : "5/-1/-1->6->14";
    EXPECT_EQ(TreeText(*comm, channel, 6), channel % 4 == 3 ? at_root : "5/-1/-1->6->4");
  }
}

// NVIDIA/nccl issue 671: GPUs 0 to 3 of a DGX-1 with V100. 8 channels; neighbors in every ring
// have NVLinks; trees are chains with an end at rank 0 ("3/-1/-1->0->-1", "-1/-1/-1->0->3").
TEST(PostedLogsTest, Issue671HalfADgx1) {
  const NcclWorld world = TestWorld({Dgx1V100()}, 70);
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
