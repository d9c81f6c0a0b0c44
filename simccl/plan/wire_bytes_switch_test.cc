// Compares the bytes that ranks exchange with switches that reduce and multicast with closed forms.
// n is the number of ranks, S the size of the larger buffer, and S/n the size of a part.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/model/calls/step_cursor.h"
#include "simccl/testing/traffic_testing.h"

namespace drydock {
namespace {

// Returns the bytes on a GPU's NVLink for NVLS. A contribution and a result count once per member,
// a head's multicast and its reduction in the switch once for all members.
struct NvlsTraffic {
  int64_t out = 0, in = 0;
};
std::vector<NvlsTraffic> NvlsTrafficOf(const Plan& plan) {
  std::vector<NvlsTraffic> traffic(plan.members.size());
  for (size_t m = 0; m < plan.members.size(); ++m) {
    for (const ChannelProgram& program : plan.members[m]) {
      const auto add = [&](const Step& step, int64_t bytes, int64_t times) {
        if (step.send.count > 0) traffic[m].out += bytes * times;
        if (step.receive.count > 0) traffic[m].in += bytes * times;
      };
      ForEachSize(plan.patterns[program.pattern], program.position, add);
    }
  }
  return traffic;
}

// NVLS on one host, where all h GPUs are heads. All-reduce, if S divides into whole loops: the
// switches read each buffer once and write the result into each buffer once, and every head
// receives the sum of its share and multicasts it: S + S/h in each direction. All-gather: a head
// multicasts its part, and every GPU receives all parts. Reduce-scatter: the reverse.
TEST(WireBytesTest, NvlsReadsAndWritesEachBufferOnce) {
  for (int gpus = 2; gpus <= 8; ++gpus) {
    const NcclCommunicator comm =
        Open(SameGpusOnHosts(kH100, 1, {kAll.begin(), kAll.begin() + gpus}));
    ASSERT_EQ(comm.shape().nvls_heads, gpus);
    const int64_t part = 8 * 16384, s = gpus * part;
    const auto traffic = [&](int function, int64_t count) {
      return NvlsTrafficOf(Expanded(
          comm, KernelWork(comm, {function, HACKNCCL_NVLS, HACKNCCL_SIMPLE}, 1, count, 16384, 2)));
    };
    for (const NvlsTraffic& each : traffic(HACKNCCL_ALL_REDUCE, s)) {
      EXPECT_EQ(each.out, s + part);
      EXPECT_EQ(each.in, s + part);
    }
    for (const NvlsTraffic& each : traffic(HACKNCCL_ALL_GATHER, part)) {
      EXPECT_EQ(each.out, part);
      EXPECT_EQ(each.in, s);
    }
    for (const NvlsTraffic& each : traffic(HACKNCCL_REDUCE_SCATTER, part)) {
      EXPECT_EQ(each.out, s);
      EXPECT_EQ(each.in, part);
    }
  }
}

bool BetweenHosts(const Connection& connection) {
  return connection.link != LinkKind::kNvls && connection.link != LinkKind::kPeerWrite &&
         connection.link != LinkKind::kPeerRead;
}

// NVLSTree, if S divides into whole loops: each of a host's h heads sends its share S/h to the same
// head of the host above it and of those below, as the channel's tree says.
TEST(WireBytesTest, NvlsTreesSendAShareToEachNeighbor) {
  for (const int hosts : {2, 3, 8}) {
    const NcclCommunicator comm = Open(SameGpusOnHosts(kH100, hosts, kAll));
    const int64_t heads = comm.shape().nvls_heads, share = 5 * 4096, s = heads * share;
    const hacknccl_collective work = KernelWork(
        comm, {HACKNCCL_ALL_REDUCE, HACKNCCL_NVLS_TREE, HACKNCCL_SIMPLE}, 2, s / 2, 4096, 1);
    const std::vector<TrafficBytes> sent =
        TrafficOf(Expanded(comm, work), End::kSends, BetweenHosts);
    const std::vector<hacknccl_nvls> tree = comm.Nvls(0);
    for (size_t rank = 0; rank < tree.size(); ++rank) {
      int neighbors = 0;
      for (const int peer :
           {tree[rank].tree_up, tree[rank].tree_down[0], tree[rank].tree_down[1]}) {
        neighbors += peer != -1 ? 1 : 0;
      }
      EXPECT_EQ(sent[rank].payload, neighbors * share) << hosts << " hosts, rank " << rank;
    }
    EXPECT_EQ(PayloadOf(sent), 2 * (hosts - 1) * s);
  }
}

// CollNet: a host sends the switches its sum once and receives theirs once, S in each direction,
// through its joined ranks. Inside a host, a chain of m ranks passes the buffer m-1 times up and
// m-1 times down; in a star, ranks send all shares except their own to the heads, and receive them
// back.
TEST(WireBytesTest, CollNetSendsEachHostsBufferOnce) {
  for (const TestHost host : {kH100Sharp, kA100Sharp, kA100FourNicsSharp}) {
    const GroupShape shape = SameGpusOnHosts(host, 4, kAll);
    const NcclCommunicator comm = Open(shape);
    const int64_t s = 3 * 54321, m = 8;
    for (const int algorithm : {HACKNCCL_COLLNET_CHAIN, HACKNCCL_COLLNET_DIRECT}) {
      const KernelChoice choice = {HACKNCCL_ALL_REDUCE, algorithm, HACKNCCL_SIMPLE};
      const Plan plan = Expanded(comm, KernelWork(comm, choice, 1, s, 512, 2));
      const auto on = [&](LinkKind link) {
        return [link](const Connection& connection) { return connection.link == link; };
      };
      const std::vector<TrafficBytes> up = TrafficOf(plan, End::kSends, on(LinkKind::kToSwitch));
      const std::vector<TrafficBytes> down =
          TrafficOf(plan, End::kReceives, on(LinkKind::kFromSwitch));
      const std::vector<TrafficBytes> inside =
          TrafficOf(plan, End::kSends, std::not_fn(BetweenHosts));
      for (int h = 0; h < 4; ++h) {
        const auto of_host = [&](const std::vector<TrafficBytes>& bytes) {
          return PayloadOf({bytes.begin() + h * m, bytes.begin() + (h + 1) * m});
        };
        EXPECT_EQ(of_host(up), s) << shape.ToString() << ", " << algorithm;
        EXPECT_EQ(of_host(down), s) << shape.ToString() << ", " << algorithm;
        // Each of m ranks with h heads sends S without its own share to heads, which send as much
        // back.
        EXPECT_EQ(of_host(inside), 2 * (m - 1) * s) << shape.ToString() << ", " << algorithm;
      }
    }
  }
}

// All-gather through the switches: a head sends its part, S/n, once, and receives the parts of its
// rail, one per host: S / heads. Reduce-scatter: the reverse.
TEST(WireBytesTest, CollNetGathersAndScattersARail) {
  const auto on = [](LinkKind link) {
    return [link](const Connection& connection) { return connection.link == link; };
  };
  for (const TestHost host : {kH100Sharp, kA100Sharp}) {
    const NcclCommunicator comm = Open(SameGpusOnHosts(host, 4, kAll));
    const int64_t part = 54321;
    for (const int algorithm : {HACKNCCL_COLLNET_DIRECT, HACKNCCL_NVLS}) {
      for (const int function : {HACKNCCL_ALL_GATHER, HACKNCCL_REDUCE_SCATTER}) {
        const KernelChoice choice = {function, algorithm, HACKNCCL_SIMPLE};
        if (!Offers(comm, choice)) continue;
        const Plan plan = Expanded(comm, KernelWork(comm, choice, 1, part, 512, 2));
        const auto up = TrafficOf(plan, End::kSends, on(LinkKind::kToSwitch));
        const auto down = TrafficOf(plan, End::kReceives, on(LinkKind::kFromSwitch));
        const bool gathers = function == HACKNCCL_ALL_GATHER;
        for (size_t rank = 0; rank < up.size(); ++rank) {
          EXPECT_EQ(up[rank].payload, gathers ? part : 4 * part) << algorithm;
          EXPECT_EQ(down[rank].payload, gathers ? 4 * part : part) << algorithm;
        }
      }
    }
  }
}

}  // namespace
}  // namespace drydock
