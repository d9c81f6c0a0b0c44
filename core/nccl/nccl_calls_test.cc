// What NCCL 2.29.7 would launch for calls and groups of calls of every kind, and why.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "core/nccl/nccl_library.h"
#include "core/nccl/testing/hosts_testing.h"

namespace drydock {
namespace {

hacknccl_call AllReduce(uint64_t count, int op = HACKNCCL_SUM, int type = HACKNCCL_BFLOAT16) {
  return {HACKNCCL_ALL_REDUCE, type, op, 0, count, 0};
}

// Checks that every work is once on each channel that it uses, and on no other.
void ExpectBatchesCover(const NcclCommunicator& comm, const NcclPlan& plan) {
  std::map<std::pair<bool, uint32_t>, std::set<int>> channels;
  for (const hacknccl_batch& batch : plan.batches) {
    EXPECT_LT(batch.kernel, plan.kernels);
    EXPECT_GT(batch.count, 0u);
    for (uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
      const uint32_t work = plan.batch_works.at(i);
      std::set<int>& used = channels[std::pair(batch.works == HACKNCCL_EXCHANGES, work)];
      EXPECT_TRUE(used.insert(batch.channel).second);
    }
  }
  EXPECT_EQ(channels.size(), plan.collectives.size() + plan.exchanges.size());
  for (size_t i = 0; i < plan.collectives.size(); ++i) {
    const hacknccl_collective& work = plan.collectives[i];
    const std::set<int>& used = channels[{false, static_cast<uint32_t>(i)}];
    EXPECT_EQ(*used.begin(), work.channel_lo);
    EXPECT_EQ(*used.rbegin(), work.channel_hi);
    EXPECT_EQ(used.size(), static_cast<size_t>(work.channel_hi - work.channel_lo + 1));
  }
  for (size_t i = 0; i < plan.exchanges.size(); ++i) {
    const hacknccl_exchange& work = plan.exchanges[i];
    const int parts = std::max(work.send_channels, work.recv_channels);
    std::set<int> expected;
    for (int p = 0; p < parts; ++p) {
      expected.insert((work.channel_base + p) % comm.shape().p2p_channels);
    }
    EXPECT_EQ((channels[{true, static_cast<uint32_t>(i)}]), expected);
  }
}

TEST(NcclCallsTest, DecisionsHaveTheEstimatesOfTheTuner) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight)).value();
  const NcclPlan plan = comm.Collective(AllReduce(8 << 20)).value();
  ASSERT_EQ(plan.decisions.size(), 1u);
  const hacknccl_decision& decision = plan.decisions[0];
  EXPECT_EQ(decision.function, HACKNCCL_ALL_REDUCE);
  EXPECT_EQ(decision.bytes, 16u << 20);
  EXPECT_EQ(decision.algorithm, HACKNCCL_NVLS);
  EXPECT_EQ(decision.protocol, HACKNCCL_SIMPLE);
  EXPECT_EQ(decision.channels_at_most, 16);
  const auto& estimates = decision.estimates;
  const hacknccl_estimate& taken = estimates[HACKNCCL_NVLS][HACKNCCL_SIMPLE];
  EXPECT_STREQ(taken.why_not, "");
  EXPECT_NEAR(taken.time_us, taken.latency_us + (16 << 20) / (1e3 * taken.bandwidth_gbps), 0.01);
  EXPECT_LT(taken.time_us, estimates[HACKNCCL_RING][HACKNCCL_SIMPLE].time_us);
  EXPECT_STREQ(estimates[HACKNCCL_NVLS_TREE][HACKNCCL_SIMPLE].why_not, "needs several hosts");
  EXPECT_STREQ(estimates[HACKNCCL_COLLNET_CHAIN][HACKNCCL_SIMPLE].why_not,
               "no in-network reduction");
  EXPECT_STREQ(estimates[HACKNCCL_NVLS][HACKNCCL_LL].why_not, "no such kernel");
  EXPECT_LT(estimates[HACKNCCL_PAT][HACKNCCL_SIMPLE].time_us, 0);
}

TEST(NcclCallsTest, SaysWhyNvlsIsExcluded) {
  const NcclWorld h100 = TestWorld({DgxH100()}, 90);
  const auto two = h100.CreateCommunicator(Places(2, kAllEight)).value();
  const NcclPlan on_two = two.Collective(AllReduce(1 << 20)).value();
  EXPECT_STREQ(on_two.decisions.at(0).estimates[HACKNCCL_NVLS][HACKNCCL_SIMPLE].why_not,
               "over several hosts it needs in-network reduction");
  const NcclPlan bytes = two.Collective(AllReduce(1 << 20, HACKNCCL_SUM, HACKNCCL_INT8)).value();
  EXPECT_STREQ(bytes.decisions.at(0).estimates[HACKNCCL_NVLS_TREE][HACKNCCL_SIMPLE].why_not,
               "not for this operation and data type");
  const NcclWorld a100 = TestWorld({DgxA100()}, 80);
  const auto one = a100.CreateCommunicator(Places(1, kAllEight)).value();
  const NcclPlan plan = one.Collective(AllReduce(1 << 20)).value();
  EXPECT_STREQ(plan.decisions.at(0).estimates[HACKNCCL_NVLS][HACKNCCL_SIMPLE].why_not,
               "no NVLink SHARP among these GPUs");
}

// PAT's reduce-scatter cannot scale: averages and premultiplied sums take a ring.
TEST(NcclCallsTest, TheOperationDecidesTheAlgorithm) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(16, {0})).value();
  const auto algorithm = [&comm](int op) {
    const hacknccl_call call = {HACKNCCL_REDUCE_SCATTER, HACKNCCL_FLOAT32, op, 0, 4096, 0};
    return comm.Collective(call).value().collectives.at(0).algorithm;
  };
  EXPECT_EQ(algorithm(HACKNCCL_SUM), HACKNCCL_PAT);
  EXPECT_EQ(algorithm(HACKNCCL_PROD), HACKNCCL_PAT);
  EXPECT_EQ(algorithm(HACKNCCL_AVG), HACKNCCL_RING);
  EXPECT_EQ(algorithm(HACKNCCL_PREMUL_SUM), HACKNCCL_RING);
}

TEST(NcclCallsTest, GathersAndScattersAreMessages) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight)).value();
  constexpr int kRoot = 3;
  const auto launch = [&comm](int rank, int function, int in_place) {
    const hacknccl_call call = {function, HACKNCCL_FLOAT32, HACKNCCL_SUM, kRoot, 1 << 18, in_place};
    NcclPlan plan = comm.Launch(rank, {call}).value();
    ExpectBatchesCover(comm, plan);
    return plan;
  };
  const NcclPlan gather = launch(kRoot, HACKNCCL_GATHER, 0);
  EXPECT_EQ(gather.exchanges.size(), 8u);  // a round per peer, its own copy included
  std::set<int> from;
  for (const hacknccl_exchange& exchange : gather.exchanges) {
    from.insert(exchange.recv_peer);
    EXPECT_EQ(exchange.recv_bytes, 1u << 20);
    EXPECT_EQ(exchange.send_peer, exchange.recv_peer == kRoot ? kRoot : -1);
  }
  EXPECT_EQ(from.size(), 8u);
  // In place, the root's own part does not move.
  EXPECT_EQ(launch(kRoot, HACKNCCL_GATHER, 1).exchanges.size(), 7u);
  EXPECT_EQ(launch(kRoot, HACKNCCL_SCATTER, 1).exchanges.size(), 7u);
  const NcclPlan other = launch(0, HACKNCCL_SCATTER, 0);
  ASSERT_EQ(other.exchanges.size(), 1u);
  EXPECT_EQ(other.exchanges[0].recv_peer, kRoot);
  EXPECT_EQ(launch(5, HACKNCCL_ALL_TO_ALL, 0).exchanges.size(), 8u);
}

hacknccl_call WithBuffers(int function, uint64_t count, int buffers) {
  return {function, HACKNCCL_BFLOAT16, HACKNCCL_SUM, 0, count, 0, buffers};
}

// register/coll_reg.cc: multicast saturates the links with four channels, peers need no more
// than 16.
TEST(NcclCallsTest, RegisteredBuffersTakeFewerChannels) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight)).value();
  const auto work = [&comm](int function, uint64_t count, int buffers) {
    return comm.Collective(WithBuffers(function, count, buffers)).value().collectives.at(0);
  };
  const auto channels = [](const hacknccl_collective& of) {
    return of.channel_hi - of.channel_lo + 1;
  };
  constexpr int kPlain = HACKNCCL_BUFFERS_PLAIN, kRegistered = HACKNCCL_BUFFERS_REGISTERED;
  const auto plain = work(HACKNCCL_ALL_REDUCE, 128 << 20, kPlain);
  const auto registered = work(HACKNCCL_ALL_REDUCE, 128 << 20, kRegistered);
  EXPECT_EQ(plain.algorithm, HACKNCCL_NVLS);
  EXPECT_EQ(registered.algorithm, HACKNCCL_NVLS);
  EXPECT_EQ(channels(plain), 16);
  EXPECT_EQ(channels(registered), 4);
  EXPECT_EQ(plain.direct, 0);
  EXPECT_EQ(registered.direct, HACKNCCL_DIRECT_NVLS);
  const auto gather = work(HACKNCCL_ALL_GATHER, 16 << 20, kRegistered);
  EXPECT_EQ(gather.algorithm, HACKNCCL_RING);
  EXPECT_EQ(gather.direct, HACKNCCL_DIRECT_PEER);
  EXPECT_EQ(channels(work(HACKNCCL_ALL_GATHER, 16 << 20, kPlain)), 24);
  EXPECT_EQ(channels(gather), 16);
  // Buffers registered for one call are not registered for the next.
  EXPECT_EQ(channels(work(HACKNCCL_ALL_REDUCE, 128 << 20, kPlain)), 16);
}

TEST(NcclCallsTest, RegisteredBuffersCrossTheNetworkInOneChunk) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(4, {0})).value();
  constexpr int kRegistered = HACKNCCL_BUFFERS_REGISTERED;
  const auto gather =
      comm.Collective(WithBuffers(HACKNCCL_ALL_GATHER, 16 << 20, kRegistered)).value();
  EXPECT_EQ(gather.collectives.at(0).direct, HACKNCCL_DIRECT_NET);
  EXPECT_EQ(gather.collectives.at(0).channel_hi, 0);
  EXPECT_EQ(gather.collectives.at(0).chunk_lo, 1u << 30);
  const auto send = comm.Launch(0, {SendTo(1, 64 << 20, kRegistered)}).value();
  EXPECT_EQ(send.exchanges.at(0).send_direct, HACKNCCL_DIRECT_NET);
  EXPECT_EQ(send.exchanges.at(0).send_chunk, 1 << 30);
  EXPECT_EQ(comm.Launch(0, {SendTo(1, 64 << 20)}).value().exchanges.at(0).send_direct, 0);
}

TEST(NcclCallsTest, SymmetricBuffersUseSymmetricKernels) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto plan = [&world](int hosts, int function) {
    const auto comm = world.CreateCommunicator(Places(hosts, kAllEight)).value();
    return comm.Collective(WithBuffers(function, 16 << 20, HACKNCCL_BUFFERS_SYMMETRIC)).value();
  };
  EXPECT_EQ(plan(1, HACKNCCL_ALL_REDUCE).kind, HACKNCCL_PLAN_SYMMETRIC);
  EXPECT_EQ(plan(1, HACKNCCL_ALL_REDUCE).symmetric_kernel, "AllReduce_RSxLDMC_AGxSTMC");
  EXPECT_EQ(plan(1, HACKNCCL_ALL_GATHER).symmetric_kernel, "AllGather_STMC");
  EXPECT_EQ(plan(2, HACKNCCL_ALL_REDUCE).kind, HACKNCCL_PLAN_KERNEL);
  EXPECT_EQ(plan(2, HACKNCCL_ALL_REDUCE).symmetric_kernel, "");
}

// The library matches works with calls by their buffers, whatever the sizes of the calls.
TEST(NcclCallsTest, GroupsMayMixRegisteredCallsWithOthers) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight)).value();
  const auto plan = comm.Launch(0, {WithBuffers(HACKNCCL_ALL_GATHER, 32 << 20, 1),
                                    WithBuffers(HACKNCCL_BROADCAST, 64 << 20, 0),
                                    WithBuffers(HACKNCCL_ALL_GATHER, 8 << 20, 1)})
                        .value();
  std::map<int, int> direct;  // by call
  for (const hacknccl_collective& work : plan.collectives) direct[work.call] = work.direct;
  EXPECT_EQ(direct, (std::map<int, int>{{0, HACKNCCL_DIRECT_PEER}, {1, 0}, {2, 1}}));
}

TEST(NcclCallsTest, GroupsMixCallsOfAllKinds) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(2, kAllEight)).value();
  const hacknccl_call gather = {HACKNCCL_ALL_GATHER, HACKNCCL_FLOAT16, HACKNCCL_SUM, 0, 4096, 1};
  const std::vector<hacknccl_call> calls = {AllReduce(1 << 10), SendTo(1, 1 << 20), gather,
                                            AllReduce(2 << 10), ReceiveFrom(15, 1 << 20)};
  const NcclPlan plan = comm.Launch(0, calls).value();
  ASSERT_EQ(plan.collectives.size(), 3u);
  EXPECT_EQ(plan.exchanges.size(), 2u);
  ExpectBatchesCover(comm, plan);
  // Two all-reduces of similar size are one decision and run one after another on a channel.
  ASSERT_EQ(plan.decisions.size(), 2u);
  std::map<int, uint64_t> bytes;
  for (const hacknccl_decision& decision : plan.decisions) {
    bytes[decision.function] = decision.bytes;
  }
  EXPECT_EQ(bytes[HACKNCCL_ALL_REDUCE], 3u << 11);
  EXPECT_EQ(bytes[HACKNCCL_ALL_GATHER], 16u * 4096 * 2);
}

// Broadcasts with different roots share a kernel; the first kernel has each root's first broadcast.
TEST(NcclCallsTest, BroadcastsOfSeveralRootsAreOneKernel) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight)).value();
  const auto broadcast = [](int root, uint64_t count) {
    return hacknccl_call{HACKNCCL_BROADCAST, HACKNCCL_FLOAT16, HACKNCCL_SUM, root, count, 0};
  };
  const std::vector<hacknccl_call> calls = {broadcast(5, 1 << 20), broadcast(2, 300),
                                            broadcast(5, 1 << 10), broadcast(7, 1 << 20)};
  const NcclPlan plan = comm.Launch(0, calls).value();
  EXPECT_TRUE(plan.collectives.empty());
  EXPECT_EQ(plan.kernels, 2);
  std::map<int, uint64_t> bytes;  // by call
  for (const hacknccl_broadcast& work : plan.broadcasts) {
    const hacknccl_call& call = calls.at(static_cast<size_t>(work.call));
    EXPECT_EQ(work.root, call.root);
    EXPECT_LE(work.offset + work.bytes, 2 * call.count);
    bytes[work.call] += work.bytes;
  }
  EXPECT_EQ(bytes, (std::map<int, uint64_t>{{0, 2 << 20}, {1, 600}, {2, 2 << 10}, {3, 2 << 20}}));
  for (const hacknccl_batch& batch : plan.batches) {
    EXPECT_EQ(batch.works, HACKNCCL_BROADCASTS);
    for (uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
      const hacknccl_broadcast& work = plan.broadcasts[plan.batch_works[i]];
      EXPECT_EQ(work.channel, batch.channel);
      EXPECT_EQ(batch.kernel, work.call == 2 ? 1 : 0);
    }
  }
  // A broadcast from a single root is an ordinary broadcast.
  const NcclPlan same = comm.Launch(0, {calls[0], calls[2]}).value();
  EXPECT_EQ(same.collectives.size(), 2u);
  EXPECT_TRUE(same.broadcasts.empty());
}

// Two ranks exchange more messages than a batch may hold: the messages follow one another.
TEST(NcclCallsTest, MessagesOnOneConnectionDoNotShareABatch) {
  const NcclWorld world = TestWorld({DgxH100()}, 90);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight)).value();
  const NcclPlan plan = comm.Launch(0, {SendTo(1, 4096), SendTo(1, 8192), SendTo(2, 4096)}).value();
  ExpectBatchesCover(comm, plan);
  for (const hacknccl_batch& batch : plan.batches) {
    std::set<int> peers;
    for (uint32_t i = batch.first; i < batch.first + batch.count; ++i) {
      EXPECT_TRUE(peers.insert(plan.exchanges[plan.batch_works[i]].send_peer).second);
    }
  }
}

TEST(NcclCallsTest, ErrorsSayWhatIsWrongWithACall) {
  const NcclWorld world = TestWorld({DgxA100()}, 80);
  const auto comm = world.CreateCommunicator(Places(1, kAllEight)).value();
  const auto error = [&comm](const hacknccl_call& call) {
    const auto plan = comm.Launch(0, {call});
    return plan.ok() ? "no error" : plan.error().message();
  };
  EXPECT_EQ(error({5, HACKNCCL_FLOAT16, HACKNCCL_SUM, 0, 1, 0}), "there is no function 5");
  EXPECT_EQ(error(AllReduce(1, 6)), "there is no reduction 6");
  EXPECT_EQ(error(AllReduce(1, HACKNCCL_SUM, 12)), "there is no data type 12");
  EXPECT_EQ(error({HACKNCCL_ALL_TO_ALL, HACKNCCL_FLOAT16, 0, 0, 1, 1}),
            "NCCL has no all-to-all in place");
  EXPECT_EQ(error(AllReduce(uint64_t{1} << 62)),
            "4611686018427387904 elements of 2 B over 8 ranks are more than the 2^48 B a GPU can "
            "address");
  EXPECT_EQ(error(AllReduce(1, HACKNCCL_SUM, HACKNCCL_FLOAT8_E4M3)),
            "NCCL refused the call: FP8 reduction support begins with sm90 capable devices.");
  EXPECT_EQ(error(SendTo(8, 1)),
            "NCCL refused the call: Send : invalid root 8 (root should be in the 0..8 range)");
  EXPECT_EQ(error(SendTo(0, 1)),
            "NCCL refused the call: Trying to send to self without a matching recv");
  // The communicator still works after these errors.
  EXPECT_EQ(comm.Collective(AllReduce(1 << 20)).value().collectives.size(), 1u);
}

}  // namespace
}  // namespace drydock
