// Compares the bytes that each rank sends on its links with closed forms. n is the number of ranks,
// S the size of the larger buffer, and S/n the size of a part.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "simccl/expand/expand.h"
#include "simccl/testing/traffic_testing.h"

namespace drydock {
namespace {

std::vector<GroupShape> Shapes() {
  std::vector<GroupShape> shapes = {
      SameGpusOnHosts(kH100, 1, {0, 1}), SameGpusOnHosts(kH100, 1, kAll),
      SameGpusOnHosts(kH100, 3, {0}),    SameGpusOnHosts(kH100, 2, kAll),
      SameGpusOnHosts(kA100, 8, kAll),   SameGpusOnHosts(kH100, 64, {5})};
  shapes.push_back({kH100, {kAll, {0, 1, 2, 3, 4}, {2, 7}}, true});
  return shapes;
}

// All-reduce over a ring: 2 (n-1)/n S, in each direction, if S divides into the chunks of whole
// loops.
TEST(WireBytesTest, RingAllReduceSendsAlmostTwiceTheBuffer) {
  for (const GroupShape& shape : Shapes()) {
    const NcclCommunicator comm = Open(shape);
    const int64_t n = comm.shape().ranks, chunk = 1920, loops = 3;
    const int64_t s = loops * chunk * n;
    for (const int protocol : {HACKNCCL_LL, HACKNCCL_LL128, HACKNCCL_SIMPLE}) {
      const Plan plan = Expanded(
          comm,
          KernelWork(comm, {HACKNCCL_ALL_REDUCE, HACKNCCL_RING, protocol}, 2, s / 2, chunk, 1));
      const int64_t payload = 2 * (n - 1) * (s / n);
      const int64_t wire = protocol == HACKNCCL_LL      ? 2 * payload
                           : protocol == HACKNCCL_LL128 ? payload / 120 * 128
                                                        : payload;
      for (const auto& bytes : {Sent(plan), Received(plan)}) {
        for (const TrafficBytes& each : bytes) {
          EXPECT_EQ(each.payload, payload) << shape.ToString();
          EXPECT_EQ(each.wire, wire) << shape.ToString();
        }
      }
    }
  }
}

// For any size: the last loop of a channel, with R remaining bytes, has chunks of R/n rounded up to
// whole elements and then to 16 B; the last chunks are short or empty. In each loop a rank sends
// its own chunk and the next rank's chunk once, and every other chunk twice.
TEST(WireBytesTest, RingAllReduceOfAnySizeSavesTwoChunksPerLoop) {
  for (const GroupShape& shape : Shapes()) {
    const NcclCommunicator comm = Open(shape);
    const int64_t n = comm.shape().ranks, chunk = 512, s = 2 * (5 * chunk * n / 2 + 333);
    const Plan plan = Expanded(
        comm,
        KernelWork(comm, {HACKNCCL_ALL_REDUCE, HACKNCCL_RING, HACKNCCL_LL}, 2, s / 2, chunk, 1));
    const std::vector<TrafficBytes> sent = Sent(plan);
    const std::vector<int> ring = comm.Ring(0);
    const int64_t whole = s / (chunk * n), rest = s % (chunk * n);
    const int64_t last = ((rest / 2 + n - 1) / n * 2 + 15) / 16 * 16;
    const auto in_last = [&](int64_t i) { return std::clamp<int64_t>(rest - i * last, 0, last); };
    for (int64_t i = 0; i < n; ++i) {
      const int64_t left_out = 2 * whole * chunk + in_last(i) + in_last((i + 1) % n);
      const auto member = static_cast<size_t>(ring[static_cast<size_t>(i)]);
      EXPECT_EQ(sent[member].payload, 2 * s - left_out) << shape.ToString() << ", place " << i;
    }
    EXPECT_EQ(PayloadOf(sent), 2 * (n - 1) * s);
  }
}

// All-gather and reduce-scatter over rings and PAT: every rank sends n-1 parts and receives n-1
// parts, in any chunks: (n-1)/n S.
TEST(WireBytesTest, GathersAndScattersMoveEveryPartButOne) {
  for (const GroupShape& shape : Shapes()) {
    const NcclCommunicator comm = Open(shape);
    for (const KernelChoice& choice : KernelChoices()) {
      const bool parts =
          choice.function == HACKNCCL_ALL_GATHER || choice.function == HACKNCCL_REDUCE_SCATTER;
      const bool direct = choice.algorithm == HACKNCCL_RING || choice.algorithm == HACKNCCL_PAT;
      if (!parts || !direct || !Offers(comm, choice)) continue;
      const int64_t part = 4 * 1237;
      const int element = choice.function == HACKNCCL_ALL_GATHER ? 1 : 4;
      const Plan plan = Expanded(comm, KernelWork(comm, choice, element, part / element, 512, 2));
      const int64_t payload = (comm.shape().ranks - 1) * part;
      for (const auto& bytes : {Sent(plan), Received(plan)}) {
        for (const TrafficBytes& each : bytes) {
          EXPECT_EQ(each.payload, payload) << shape.ToString() << ", " << choice.algorithm;
        }
      }
    }
  }
}

// Rounding by protocols: a chunk of LL takes two bytes per byte of payload rounded up to 8 B; a
// chunk of LL128 takes 2048 B per 1920 B or part of them.
TEST(WireBytesTest, LlDoublesAndLl128TakesOneFlagInSixteen) {
  const NcclCommunicator comm = Open(SameGpusOnHosts(kH100, 1, kAll));
  constexpr int64_t kPart = 5 * 4000 + 13, kChunk = 4000;  // 5 whole chunks and 13 B
  const auto sent = [&](int protocol) {
    const hacknccl_collective work =
        KernelWork(comm, {HACKNCCL_ALL_GATHER, HACKNCCL_RING, protocol}, 1, kPart, kChunk, 1);
    return Sent(Expanded(comm, work)).front().wire;
  };
  EXPECT_EQ(sent(HACKNCCL_SIMPLE), 7 * kPart);
  EXPECT_EQ(sent(HACKNCCL_LL), 7 * (5 * 2 * kChunk + 2 * 16));
  EXPECT_EQ(sent(HACKNCCL_LL128), 7 * (5 * 3 * 2048 + 2048));  // 4000 B are three times 1920 B
}

// Broadcast: every rank except the root receives S. Reduce: every rank except the root sends S.
// Both move (n-1) S in total.
TEST(WireBytesTest, BroadcastAndReducePassTheBufferOnce) {
  for (const GroupShape& shape : Shapes()) {
    const NcclCommunicator comm = Open(shape);
    const int64_t s = 12345;
    for (const int function : {HACKNCCL_BROADCAST, HACKNCCL_REDUCE}) {
      hacknccl_collective work =
          KernelWork(comm, {function, HACKNCCL_RING, HACKNCCL_SIMPLE}, 1, s, 512, 2);
      work.root = comm.shape().ranks - 1;
      const Plan plan = Expanded(comm, work);
      const std::vector<TrafficBytes> from = Sent(plan), to = Received(plan);
      for (int m = 0; m < comm.shape().ranks; ++m) {
        const auto& bytes = function == HACKNCCL_BROADCAST ? to : from;
        EXPECT_EQ(bytes[static_cast<size_t>(m)].payload, m == work.root ? 0 : s);
      }
      EXPECT_EQ(PayloadOf(from), (comm.shape().ranks - 1) * s);
      EXPECT_EQ(PayloadOf(to), (comm.shape().ranks - 1) * s);
    }
  }
}

// Trees: a rank sends one copy of each channel's share to its parent and one to each child.
TEST(WireBytesTest, TreesSendTheirShareOnceToEachNeighbor) {
  for (const GroupShape& shape : Shapes()) {
    const NcclCommunicator comm = Open(shape);
    const hacknccl_collective work =
        KernelWork(comm, {HACKNCCL_ALL_REDUCE, HACKNCCL_TREE, HACKNCCL_LL128}, 2, 10007, 1024, 2);
    std::vector<int64_t> expected(static_cast<size_t>(comm.shape().ranks));
    for (int c = 0; c < 2; ++c) {
      const std::vector<hacknccl_tree> tree = comm.Tree(c);
      for (size_t rank = 0; rank < tree.size(); ++rank) {
        int neighbors = tree[rank].up != -1 ? 1 : 0;
        for (const int child : tree[rank].down) neighbors += child != -1 ? 1 : 0;
        expected[rank] += 2 * ShareOf(work, c).count * neighbors;
      }
    }
    const Plan plan = Expanded(comm, work);
    const std::vector<TrafficBytes> sent = Sent(plan), received = Received(plan);
    for (size_t rank = 0; rank < expected.size(); ++rank) {
      EXPECT_EQ(sent[rank].payload, expected[rank]) << shape.ToString() << ", rank " << rank;
      EXPECT_EQ(received[rank].payload, expected[rank]) << shape.ToString() << ", rank " << rank;
    }
    EXPECT_EQ(PayloadOf(sent), 2 * (comm.shape().ranks - 1) * 2 * 10007);
  }
}

CommCall MessageCall(CollectiveType type, int ranks, int64_t count) {
  CommCall call;
  call.collective = type;
  call.type = DataType::kBf16;
  call.group_size = ranks;
  call.count = count;
  return call;
}

// All-to-all: every rank sends all parts except its own, (n-1)/n S. All-to-all-v: its row without
// its own entry.
TEST(WireBytesTest, AllToAllSendsAllPartsButTheSenders) {
  for (const GroupShape& shape : Shapes()) {
    const NcclCommunicator comm = Open(shape);
    const int n = comm.shape().ranks;
    const int64_t part = 2 * 70001;
    const Plan plan = Expanded(comm, MessageCall(CollectiveType::kAllToAll, n, n * part / 2));
    for (const auto& bytes : {Sent(plan), Received(plan)}) {
      for (const TrafficBytes& each : bytes)
        EXPECT_EQ(each.payload, (n - 1) * part) << shape.ToString();
    }
    CommCall uneven = MessageCall(CollectiveType::kAllToAllV, n, 0);
    std::vector<int64_t> row(static_cast<size_t>(n)), column(static_cast<size_t>(n));
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) {
        const int64_t count = (from * 5 + to * 3) % 7 * 1001;
        uneven.pair_counts.push_back(count);
        row[static_cast<size_t>(from)] += from == to ? 0 : 2 * count;
        column[static_cast<size_t>(to)] += from == to ? 0 : 2 * count;
        uneven.count += count;  // more than any buffer
      }
    }
    const Plan uneven_plan = Expanded(comm, uneven);
    const std::vector<TrafficBytes> sent = Sent(uneven_plan), received = Received(uneven_plan);
    for (size_t m = 0; m < row.size(); ++m) {
      EXPECT_EQ(sent[m].payload, row[m]) << shape.ToString();
      EXPECT_EQ(received[m].payload, column[m]) << shape.ToString();
    }
  }
}

// Gather: the root receives a part from each other rank, (n-1)/n S; scatter is the reverse. A
// message moves S once.
TEST(WireBytesTest, RootsAndPairsMoveTheirParts) {
  for (const GroupShape& shape : Shapes()) {
    const NcclCommunicator comm = Open(shape);
    const int n = comm.shape().ranks;
    const int64_t part = 2 * 1001;
    for (const auto type : {CollectiveType::kGather, CollectiveType::kScatter}) {
      CommCall call = MessageCall(type, n, n * part / 2);
      call.root = n / 2;
      const Plan plan = Expanded(comm, call);
      const bool gather = type == CollectiveType::kGather;
      const std::vector<TrafficBytes> at_root = gather ? Received(plan) : Sent(plan);
      const std::vector<TrafficBytes> at_others = gather ? Sent(plan) : Received(plan);
      for (int m = 0; m < n; ++m) {
        const auto at = static_cast<size_t>(m);
        EXPECT_EQ(at_root[at].payload, m == call.root ? (n - 1) * part : 0) << shape.ToString();
        EXPECT_EQ(at_others[at].payload, m == call.root ? 0 : part) << shape.ToString();
      }
    }
    CommCall message = MessageCall(CollectiveType::kSendRecv, n, 3'000'001);
    message.peer = n - 1;
    const Plan plan = Expanded(comm, message);
    EXPECT_EQ(Sent(plan)[0].payload, 2 * message.count);
    EXPECT_EQ(Received(plan)[static_cast<size_t>(n) - 1].payload, 2 * message.count);
    EXPECT_EQ(PayloadOf(Sent(plan)), 2 * message.count);
  }
}

}  // namespace
}  // namespace drydock
