// Runs every plan on symbolic data (interpreter.h): the expanded programs must compute what NCCL's
// kernels compute, on any number of ranks, for sizes that do and do not divide evenly.
#include "simccl/expand/expand.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"
#include "core/nccl/testing/hosts_testing.h"
#include "simccl/expand/plan_builder.h"
#include "simccl/nccl/nccl_calls.h"
#include "simccl/proof/interpreter.h"
#include "simccl/testing/expand_testing.h"

namespace drydock {
namespace {

CommCall CallOf(CollectiveType type, const NcclCommunicator& comm, int64_t count) {
  CommCall call;
  call.collective = type;
  call.type = DataType::kBf16;
  call.group_size = comm.shape().ranks;
  call.count = count;
  return call;
}

// A collective as NCCL passes it to the kernel, with any algorithm, few uneven channels and small
// chunks, so that a few thousand elements make many loops.
hacknccl_collective Work(int function, int algorithm, int protocol, int64_t elements,
                         int64_t chunk_bytes, int channels, int element_bytes) {
  hacknccl_collective work = {};
  work.function = function;
  work.algorithm = algorithm;
  work.protocol = protocol;
  work.element_bytes = element_bytes;
  work.channel_lo = 0;
  work.channel_hi = channels - 1;
  work.warps = 16;
  work.count = static_cast<uint64_t>(elements);
  const bool ring_simple = algorithm == HACKNCCL_RING && protocol == HACKNCCL_SIMPLE;
  work.chunk_steps = ring_simple ? 4 : 1;
  work.slice_steps = ring_simple ? 2 : 1;
  work.chunk_lo = work.chunk_mid = work.chunk_hi = static_cast<uint64_t>(chunk_bytes);
  const int64_t share = (elements + channels - 1) / channels / 16 * 16;
  work.count_lo = static_cast<uint64_t>(share);
  work.count_mid = static_cast<uint64_t>(channels > 2 ? share : 0);
  work.count_hi = channels == 1 ? 0 : static_cast<uint64_t>(elements - share * (channels - 1));
  if (channels == 1) work.count_lo = static_cast<uint64_t>(elements);
  return work;
}

void ExpectRight(const NcclCommunicator& comm, const hacknccl_collective& work,
                 const CommCall& call) {
  PlanBuilder builder(comm);
  const Status expanded = ExpandCollective(work, &builder);
  ASSERT_TRUE(expanded.ok()) << expanded.error().ToString();
  const auto plan = builder.Finish();
  ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  EXPECT_EQ(CheckPlan(*plan, call), "")
      << call.group_size << " ranks, " << call.count << " elements, algorithm " << work.algorithm;
}

const std::pair<int, int> kShapes[] = {{1, 2}, {1, 3}, {1, 4},  {1, 5}, {1, 8}, {2, 1}, {3, 1},
                                       {4, 1}, {7, 1}, {16, 1}, {2, 8}, {3, 4}, {4, 2}, {5, 3}};
const int64_t kSizes[] = {1, 7, 64, 1000, 4096, 50001};

TEST(ExpandTest, RingAllReduceSumsEverywhere) {
  for (const auto& [hosts, gpus] : kShapes) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const int64_t size : kSizes) {
      for (const int protocol : {HACKNCCL_LL, HACKNCCL_LL128, HACKNCCL_SIMPLE}) {
        const int channels = size < 1000 ? 1 : 3;
        ExpectRight(comm,
                    Work(HACKNCCL_ALL_REDUCE, HACKNCCL_RING, protocol, size, 512, channels, 2),
                    CallOf(CollectiveType::kAllReduce, comm, size));
      }
    }
  }
}

TEST(ExpandTest, TreeAllReduceSumsEverywhere) {
  for (const auto& [hosts, gpus] : kShapes) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const int64_t size : kSizes) {
      const int channels = size < 1000 ? 1 : 4;
      ExpectRight(comm,
                  Work(HACKNCCL_ALL_REDUCE, HACKNCCL_TREE, HACKNCCL_LL128, size, 1024, channels, 2),
                  CallOf(CollectiveType::kAllReduce, comm, size));
    }
  }
}

TEST(ExpandTest, NvlsAllReduceSumsEverywhere) {
  for (int gpus = 2; gpus <= 8; ++gpus) {
    const NcclCommunicator comm = OpenH100s(1, gpus);
    for (const int64_t size : {1, 1000, 50001, 300000}) {
      const int channels = size < 1000 ? 1 : 3;
      ExpectRight(
          comm, Work(HACKNCCL_ALL_REDUCE, HACKNCCL_NVLS, HACKNCCL_SIMPLE, size, 16384, channels, 2),
          CallOf(CollectiveType::kAllReduce, comm, size));
    }
  }
}

TEST(ExpandTest, NvlsTreeAllReduceSumsEverywhere) {
  const std::pair<int, int> shapes[] = {{2, 2}, {2, 8}, {3, 4}, {4, 4}, {5, 2}, {8, 2}};
  for (const auto& [hosts, gpus] : shapes) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    ASSERT_GT(comm.shape().nvls_channels, 0);
    for (const int64_t size : {1, 1000, 50001}) {
      const int channels = size < 1000 ? 1 : 2;
      ExpectRight(
          comm,
          Work(HACKNCCL_ALL_REDUCE, HACKNCCL_NVLS_TREE, HACKNCCL_SIMPLE, size, 2048, channels, 2),
          CallOf(CollectiveType::kAllReduce, comm, size));
    }
  }
}

TEST(ExpandTest, RingGathersAndScatters) {
  for (const auto& [hosts, gpus] : kShapes) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const int64_t part : {1, 64, 1000}) {
      const int64_t all = part * comm.shape().ranks;
      const int channels = part < 1000 ? 1 : 3;
      // NCCL gathers bytes.
      ExpectRight(
          comm,
          Work(HACKNCCL_ALL_GATHER, HACKNCCL_RING, HACKNCCL_SIMPLE, part * 2, 512, channels, 1),
          CallOf(CollectiveType::kAllGather, comm, all));
      ExpectRight(comm,
                  Work(HACKNCCL_REDUCE_SCATTER, HACKNCCL_RING, HACKNCCL_LL, part, 512, channels, 2),
                  CallOf(CollectiveType::kReduceScatter, comm, all));
    }
  }
}

// One GPU per host, where NCCL uses PAT: any number of ranks, one loop and several.
TEST(ExpandTest, PatGathersAndScatters) {
  for (int ranks = 2; ranks <= 17; ++ranks) {
    const NcclCommunicator comm = OpenH100s(ranks, 1);
    for (const int64_t part : {8, 64, 1000}) {
      for (const int64_t chunk : {512, 4096, 65536}) {
        const int channels = part < 1000 ? 1 : 2;
        ExpectRight(
            comm,
            Work(HACKNCCL_ALL_GATHER, HACKNCCL_PAT, HACKNCCL_SIMPLE, part * 2, chunk, channels, 1),
            CallOf(CollectiveType::kAllGather, comm, part * ranks));
        ExpectRight(
            comm,
            Work(HACKNCCL_REDUCE_SCATTER, HACKNCCL_PAT, HACKNCCL_SIMPLE, part, chunk, channels, 2),
            CallOf(CollectiveType::kReduceScatter, comm, part * ranks));
      }
    }
  }
}

TEST(ExpandTest, NvlsGathersAndScatters) {
  for (int gpus = 2; gpus <= 8; ++gpus) {
    const NcclCommunicator comm = OpenH100s(1, gpus);
    const int64_t all = 1000 * gpus;
    ExpectRight(comm, Work(HACKNCCL_ALL_GATHER, HACKNCCL_NVLS, HACKNCCL_SIMPLE, 2000, 512, 3, 1),
                CallOf(CollectiveType::kAllGather, comm, all));
    ExpectRight(comm,
                Work(HACKNCCL_REDUCE_SCATTER, HACKNCCL_NVLS, HACKNCCL_SIMPLE, 1000, 512, 3, 2),
                CallOf(CollectiveType::kReduceScatter, comm, all));
  }
}

TEST(ExpandTest, RingBroadcastsAndReducesFromAnyRoot) {
  for (const auto& [hosts, gpus] : kShapes) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (int root = 0; root < comm.shape().ranks; ++root) {
      hacknccl_collective work =
          Work(HACKNCCL_BROADCAST, HACKNCCL_RING, HACKNCCL_SIMPLE, 4000, 512, 3, 1);
      work.root = root;
      CommCall call = CallOf(CollectiveType::kBroadcast, comm, 2000);
      call.root = root;
      ExpectRight(comm, work, call);
      work = Work(HACKNCCL_REDUCE, HACKNCCL_RING, HACKNCCL_LL, 2000, 512, 3, 2);
      work.root = root;
      call.collective = CollectiveType::kReduce;
      ExpectRight(comm, work, call);
    }
  }
}

TEST(ExpandTest, MessagesArriveWhole) {
  for (const auto& [hosts, gpus] : {std::pair(1, 8), std::pair(2, 1), std::pair(2, 8)}) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const int64_t count : {1, 4097, 200000, 3000001}) {
      CommCall call = CallOf(CollectiveType::kSendRecv, comm, count);
      call.root = comm.shape().ranks - 1;
      call.peer = 0;
      PlanBuilder builder(comm);
      ASSERT_TRUE(ExpandCalls(CallsOf(call), &builder).ok());
      const auto plan = builder.Finish();
      ASSERT_TRUE(plan.ok());
      EXPECT_EQ(CheckPlan(*plan, call), "") << count << " elements";
      EXPECT_EQ(plan->works[0].algorithm, Algorithm::kSendRecv);
    }
  }
}

TEST(ExpandTest, AllToAllExchangesEveryPart) {
  for (const auto& [hosts, gpus] :
       {std::pair(1, 2), std::pair(1, 8), std::pair(3, 1), std::pair(2, 8), std::pair(12, 1)}) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const int64_t part : {1, 5000, 100000}) {
      const CommCall call = CallOf(CollectiveType::kAllToAll, comm, part * comm.shape().ranks);
      PlanBuilder builder(comm);
      ASSERT_TRUE(ExpandCalls(CallsOf(call), &builder).ok());
      const auto plan = builder.Finish();
      ASSERT_TRUE(plan.ok());
      EXPECT_EQ(CheckPlan(*plan, call), "") << call.group_size << " ranks, " << part << " a part";
    }
  }
}

TEST(ExpandTest, GathersAndScattersReachEveryMember) {
  for (const auto& [hosts, gpus] : {std::pair(1, 3), std::pair(2, 8), std::pair(12, 1)}) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const auto type : {CollectiveType::kGather, CollectiveType::kScatter}) {
      for (const bool in_place : {false, true}) {
        CommCall call = CallOf(type, comm, 70001 * comm.shape().ranks);
        call.root = comm.shape().ranks - 1;
        call.in_place = in_place;
        PlanBuilder builder(comm);
        ASSERT_TRUE(ExpandCalls(CallsOf(call), &builder).ok());
        const auto plan = builder.Finish();
        ASSERT_TRUE(plan.ok());
        EXPECT_EQ(CheckPlan(*plan, call), "") << call.group_size << " ranks";
      }
    }
  }
}

TEST(ExpandTest, AllToAllVMovesTheSizeOfEachPair) {
  for (const auto& [hosts, gpus] : {std::pair(1, 5), std::pair(2, 8)}) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    const int n = comm.shape().ranks;
    CommCall call = CallOf(CollectiveType::kAllToAllV, comm, 0);
    for (int from = 0; from < n; ++from) {
      int64_t sent = 0, received = 0;
      for (int to = 0; to < n; ++to) {
        call.pair_counts.push_back((from * 7 + to * 3) % 5 * 40001);
        sent += call.pair_counts.back();
        received += (to * 7 + from * 3) % 5 * 40001;
      }
      call.count = std::max({call.count, sent, received});
    }
    PlanBuilder builder(comm);
    ASSERT_TRUE(ExpandCalls(CallsOf(call), &builder).ok());
    const auto plan = builder.Finish();
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(CheckPlan(*plan, call), "") << n << " ranks";
  }
}

// NCCL's own choices, with its own channels and chunks.
TEST(ExpandTest, NcclsOwnChoicesDeliver) {
  for (const auto& [hosts, gpus] : {std::pair(1, 8), std::pair(2, 8), std::pair(4, 1)}) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const int64_t count : {512, 40000, 600001, 2500000}) {
      const auto chosen = comm.Collective(
          {HACKNCCL_ALL_REDUCE, HACKNCCL_BFLOAT16, HACKNCCL_SUM, 0, static_cast<uint64_t>(count)});
      ASSERT_TRUE(chosen.ok());
      ExpectRight(comm, chosen->collectives.at(0), CallOf(CollectiveType::kAllReduce, comm, count));
    }
  }
}

TEST(ExpandTest, SimpleRingsMoveChunksInTwoSlicesThroughFourSlots) {
  const NcclCommunicator comm = OpenH100s(1, 8);
  PlanBuilder builder(comm);
  const auto work =
      Work(HACKNCCL_ALL_GATHER, HACKNCCL_RING, HACKNCCL_SIMPLE, (8 << 20) - 300000, 2 << 20, 1, 1);
  ASSERT_TRUE(ExpandCollective(work, &builder).ok());
  const auto plan = builder.Finish();
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(SliceBytes(plan->works[0], 2 << 20), 1 << 20);
  // The last loop's chunk too, in multiples of 16 elements.
  EXPECT_EQ(SliceBytes(plan->works[0], (2 << 20) - 300000), 898576);
  EXPECT_EQ(plan->works[0].slots, 4);
  // Each member: 4 loops of 8 steps: send, 6 times receive and send, receive.
  EXPECT_EQ(CountPrimitives(*plan), 8 * 32);
  EXPECT_EQ(plan->patterns.size(), 1u);
}

TEST(ExpandTest, OtherAlgorithmsMoveWholeChunksThroughEightSlots) {
  const NcclCommunicator comm = OpenH100s(1, 8);
  for (const int protocol : {HACKNCCL_LL, HACKNCCL_LL128}) {
    PlanBuilder builder(comm);
    const auto work = Work(HACKNCCL_ALL_REDUCE, HACKNCCL_RING, protocol, 50001, 4096, 1, 2);
    ASSERT_TRUE(ExpandCollective(work, &builder).ok());
    const auto plan = builder.Finish();
    EXPECT_EQ(SliceBytes(plan->works[0], 4096), 4096);
    EXPECT_EQ(plan->works[0].slots, 8);
  }
}

TEST(ExpandTest, RingsBetweenHostsNameTheirNics) {
  const NcclCommunicator comm = OpenH100s(2, 8);
  PlanBuilder builder(comm);
  const auto work =
      Work(HACKNCCL_ALL_REDUCE, HACKNCCL_RING, HACKNCCL_SIMPLE, 1 << 20, 1 << 16, 4, 2);
  ASSERT_TRUE(ExpandCollective(work, &builder).ok());
  const auto plan = builder.Finish();
  ASSERT_TRUE(plan.ok());
  int crossings = 0;
  for (const Connection& connection : plan->connections) {
    const bool crosses = connection.from / 8 != connection.to / 8;
    EXPECT_EQ(connection.link == LinkKind::kNet, crosses);
    EXPECT_EQ(connection.send_nic >= 0, crosses);
    crosses ? ++crossings : 0;
  }
  EXPECT_EQ(crossings, 2 * 4);
}

// Three GPUs in a row: NCCL connects the first and the last through the middle one.
TEST(ExpandTest, PathThroughAnotherGpuNamesThatGpu) {
  HostKind kind;
  kind.name = "row";
  kind.gpus = 3;
  kind.scale_up = {ScaleUpKind::kNvLinkMesh, 0, GigabitsPerSecond(400), Time::Ns(600), false,
                   {{0, 1, 1}, {1, 2, 1}}};
  const NcclHost host = DescribeHost(kind, TestGpu(80)).value();
  const NcclWorld world =
      NcclWorld::Create(NcclLibrary::Load().value(), {host}, ExpansionSettings()).value();
  const auto comm = world.CreateCommunicator(Places(1, {0, 1, 2}));
  ASSERT_TRUE(comm.ok()) << comm.error().ToString();
  PlanBuilder builder(*comm);
  builder.Connect(HACKNCCL_GRAPH_P2P, 0, 0, 1);
  builder.Connect(HACKNCCL_GRAPH_P2P, 0, 0, 2);
  const auto plan = builder.Finish();
  ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  EXPECT_EQ(plan->connections[0].proxy, -1);
  EXPECT_EQ(plan->connections[1].proxy, 1);
  EXPECT_EQ(plan->connections[1].link, LinkKind::kPeerWrite);
}

TEST(ExpandTest, ErrorNamesTheAlgorithmWithoutExpansion) {
  const NcclCommunicator comm = OpenH100s(4, 1);
  PlanBuilder builder(comm);
  auto work = Work(HACKNCCL_ALL_GATHER, HACKNCCL_COLLNET_DIRECT, HACKNCCL_SIMPLE, 64, 512, 1, 1);
  const Status expanded = ExpandCollective(work, &builder);
  ASSERT_FALSE(expanded.ok());
  EXPECT_EQ(expanded.error().message(),
            "NCCL chose CollNet direct for this all-gather; Drydock has no expansion of it");
}

}  // namespace
}  // namespace drydock
