// Runs groups of calls as NCCL launches them on symbolic data (interpreter.h): every part must
// deliver its data in every mix of calls.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "core/model/calls/grouped_call.h"
#include "simccl/expand/expand.h"
#include "simccl/nccl/nccl_calls.h"
#include "simccl/testing/expand_testing.h"
#include "simccl/testing/proof_testing.h"

namespace drydock {
namespace {

CommCall CallOf(CollectiveType type, int members, int64_t count, DataType element) {
  CommCall call;
  call.collective = type;
  call.type = element;
  call.group_size = members;
  call.count = count;
  return call;
}

CommCall Message(int members, int from, int to, int64_t count) {
  CommCall call = CallOf(CollectiveType::kSendRecv, members, count, DataType::kBf16);
  call.root = from, call.peer = to;
  return call;
}

Result<Plan> Expanded(const NcclCommunicator& comm, const CommCall& call) {
  PlanBuilder builder(comm);
  RETURN_IF_ERROR(ExpandCalls(CallsOf(call), &builder));
  return builder.Finish(NameOf(call));
}

// Returns the plan after checking it.
Plan Proven(const NcclCommunicator& comm, const CommCall& call) {
  return ProvenPlan(Expanded(comm, call), call);
}

CommCall Registered(CommCall call) {
  call.buffers = BufferKind::kRegistered;
  return call;
}

// Numbers of direct and other connections of a kind.
std::pair<int, int> DirectOf(const Plan& plan, LinkKind link) {
  std::pair<int, int> count;
  for (const Connection& connection : plan.connections) {
    if (connection.link == link) ++(connection.direct ? count.first : count.second);
  }
  return count;
}

TEST(RegisteredTest, ConnectionsAreDirectWhereNcclUsesTheBuffers) {
  const std::vector<int> eight = {0, 1, 2, 3, 4, 5, 6, 7};
  const NcclCommunicator host = Open(SameGpusOnHosts(kH100, 1, eight));
  const CommCall gather = CallOf(CollectiveType::kAllGather, 8, 64 << 20, DataType::kBf16);
  const Plan plain = Proven(host, gather), direct = Proven(host, Registered(gather));
  EXPECT_EQ(DirectOf(plain, LinkKind::kPeerWrite).first, 0);
  EXPECT_EQ(DirectOf(direct, LinkKind::kPeerWrite), std::pair(16 * 8, 0));
  const Plan nvls =
      Proven(host, Registered(CallOf(CollectiveType::kAllReduce, 8, 64 << 20, DataType::kBf16)));
  EXPECT_TRUE(nvls.works[0].registered);
  EXPECT_EQ(DirectOf(nvls, LinkKind::kNvls).second, 0);
}

// Only ranks next to NICs, or ranks with peers, know how NCCL uses the buffers.
TEST(RegisteredTest, FactsOfOneRankHoldForAll) {
  const NcclCommunicator alone = Open({kH100, {{0}, {0, 1, 2, 3, 4, 5, 6, 7}}});
  const CommCall gather = CallOf(CollectiveType::kAllGather, 9, 9 << 20, DataType::kBf16);
  EXPECT_EQ(DirectOf(Proven(alone, Registered(gather)), LinkKind::kPeerWrite).second, 0);
  const NcclCommunicator two = Open(SameGpusOnHosts(kH100, 2, {0, 1, 2, 3, 4, 5, 6, 7}));
  const CommCall of_two =
      Registered(CallOf(CollectiveType::kAllGather, 16, 64 << 20, DataType::kBf16));
  const auto [offloaded, not_offloaded] = DirectOf(Proven(two, of_two), LinkKind::kNet);
  EXPECT_GT(offloaded, 0);
  EXPECT_EQ(not_offloaded, 0);
  const Plan grouped = Proven(two, MakeGrouped({of_two, Message(16, 3, 12, 1 << 20)}));
  EXPECT_EQ(DirectOf(grouped, LinkKind::kNet).first, offloaded);
}

// One GPU per host: the kernel copies the rank's own part while the NICs gather.
TEST(RegisteredTest, NicsGatherWholeParts) {
  const NcclCommunicator comm = Open(SameGpusOnHosts(kH100, 4, {0}));
  const CommCall gather = CallOf(CollectiveType::kAllGather, 4, 64 << 20, DataType::kBf16);
  const Plan plan = Proven(comm, Registered(gather));
  EXPECT_EQ(DirectOf(plan, LinkKind::kNet), std::pair(4, 0));
  EXPECT_EQ(plan.members[0].size(), 2u);
  const Plan reduce = Proven(
      comm, Registered(CallOf(CollectiveType::kReduceScatter, 4, 64 << 20, DataType::kBf16)));
  EXPECT_EQ(DirectOf(reduce, LinkKind::kNet).first, 0);
}

TEST(RegisteredTest, OtherCallsOfAGroupAreNotDirect) {
  const NcclCommunicator comm = Open(SameGpusOnHosts(kH100, 1, {0, 1, 2, 3, 4, 5, 6, 7}));
  CommCall first = CallOf(CollectiveType::kBroadcast, 8, 16 << 20, DataType::kBf16), second = first;
  second.root = 3;
  const CommCall gather = CallOf(CollectiveType::kAllGather, 8, 64 << 20, DataType::kBf16);
  const int alone = DirectOf(Proven(comm, Registered(gather)), LinkKind::kPeerWrite).first;
  const Plan plan = Proven(comm, MakeGrouped({Registered(gather), first, second}));
  const auto [direct, buffered] = DirectOf(plan, LinkKind::kPeerWrite);
  EXPECT_GT(direct, 0);
  EXPECT_LE(direct, alone);
  EXPECT_GT(buffered, 0);
}

// NCCL would launch both kernels; a plan without the symmetric kernel would be wrong.
TEST(RegisteredTest, NamesASymmetricKernelInAGroup) {
  const NcclCommunicator comm = Open(SameGpusOnHosts(kH100, 1, {0, 1, 2, 3, 4, 5, 6, 7}));
  CommCall symmetric = CallOf(CollectiveType::kAllReduce, 8, 16 << 20, DataType::kBf16);
  symmetric.buffers = BufferKind::kSymmetric;
  const CommCall broadcast = CallOf(CollectiveType::kBroadcast, 8, 16 << 20, DataType::kBf16);
  const auto plan = Expanded(comm, MakeGrouped({symmetric, broadcast}));
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message().find("symmetric-memory kernel AllReduce_"), std::string::npos)
      << plan.error().message();
}

class RandomGroups {
 public:
  RandomGroups(int members, uint32_t seed) : members_(members), random_(seed) {}

  CommCall Next() {
    std::vector<CommCall> parts(static_cast<size_t>(Below(6) + 1));
    for (CommCall& part : parts) part = Part();
    return MakeGrouped(std::move(parts));
  }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }

  int64_t Count() {
    constexpr int64_t kCounts[] = {1, 24, 700, 5001, 20000};
    return kCounts[Below(5)];
  }

  CommCall Part() {
    constexpr DataType kTypes[] = {DataType::kBf16, DataType::kFp32, DataType::kUint8};
    const auto type =
        static_cast<CollectiveType>(Below(static_cast<int>(CollectiveType::kGrouped)));
    CommCall call = CallOf(type, members_, Count(), kTypes[Below(3)]);
    if (HasParts(type)) call.count = (call.count % 5001 + 1) * members_;
    if (HasRoot(type)) call.root = Below(members_);
    if (type == CollectiveType::kSendRecv) {
      call.root = Below(members_);
      call.peer = (call.root + 1 + Below(members_ - 1)) % members_;
    }
    if (type == CollectiveType::kAllToAllV) FillPairs(&call);
    return call;
  }

  void FillPairs(CommCall* call) {
    call->count = 1;
    std::vector<int64_t> sent(static_cast<size_t>(members_)), received(sent);
    for (size_t pair = 0; pair < sent.size() * sent.size(); ++pair) {
      const int64_t count = Below(3) == 0 ? 0 : Below(3000);
      call->pair_counts.push_back(count);
      sent[pair / sent.size()] += count;
      received[pair % sent.size()] += count;
      call->count = std::max({call->count, sent[pair / sent.size()], received[pair % sent.size()]});
    }
  }

  int members_;
  std::mt19937 random_;
};

TEST(ExpandGroupTest, EveryPartOfAMixedGroupDelivers) {
  for (const auto& [hosts, gpus] :
       {std::pair(1, 2), std::pair(1, 8), std::pair(2, 3), std::pair(2, 8), std::pair(5, 1)}) {
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    RandomGroups groups(hosts * gpus, static_cast<uint32_t>(hosts * 100 + gpus));
    for (int i = 0; i < 24; ++i) EXPECT_FALSE(Proven(comm, groups.Next()).works.empty());
  }
}

// NCCL sorts by size and gives channels by traffic: one all-reduce need not begin at channel 0.
TEST(ExpandGroupTest, CollectivesKeepNcclsOrderAndChannels) {
  const NcclCommunicator comm = OpenH100s(2, 8);
  const CommCall small = CallOf(CollectiveType::kAllReduce, 16, 20000, DataType::kBf16);
  const CommCall large = CallOf(CollectiveType::kAllReduce, 16, 60000, DataType::kBf16);
  const CommCall call = MakeGrouped({small, large, small});
  const Plan plan = Proven(comm, call);
  const NcclPlan nccl = comm.Launch(0, CallsOf(call).members.front().calls).value();
  ASSERT_EQ(plan.works.size(), 3u);
  std::map<int, std::pair<int, int>> channels;  // by work
  for (const ChannelProgram& program : plan.members[3]) {
    auto& [low, high] = channels.try_emplace(program.work, program.channel, 0).first->second;
    low = std::min<int>(low, program.channel);
    high = std::max<int>(high, program.channel);
  }
  bool shifted = false;
  for (int w = 0; w < 3; ++w) {
    const hacknccl_collective& work = nccl.collectives[static_cast<size_t>(w)];
    EXPECT_EQ(channels[w], std::pair(work.channel_lo, work.channel_hi));
    EXPECT_EQ(plan.works[static_cast<size_t>(w)].launch, 0);
    shifted |= work.channel_lo > 0;
  }
  EXPECT_TRUE(shifted);
  EXPECT_EQ(nccl.collectives[0].count + nccl.collectives[1].count, 40000u);  // ascending
}

// More work than a kernel's arguments hold.
TEST(ExpandGroupTest, LargeGroupTakesSeveralKernels) {
  const NcclCommunicator comm = OpenH100s(1, 2);
  std::vector<CommCall> parts(5000, CallOf(CollectiveType::kAllReduce, 2, 8, DataType::kBf16));
  parts.push_back(Message(2, 0, 1, 3000));
  const Plan plan = Proven(comm, MakeGrouped(std::move(parts)));
  ASSERT_FALSE(plan.works.empty());
  EXPECT_EQ(plan.works.front().launch, 0);
  EXPECT_GT(plan.works.back().launch, 0);
  EXPECT_EQ(plan.works.back().algorithm, Algorithm::kSendRecv);
}

// The second message from a member to a peer uses the same connections, in a separate work.
TEST(ExpandGroupTest, LaterMessagesOfAPairFollowTheFirst) {
  const NcclCommunicator comm = OpenH100s(1, 4);
  const Plan plan = Proven(comm, MakeGrouped({Message(4, 0, 1, 100), Message(4, 0, 1, 90000),
                                              Message(4, 2, 1, 7), Message(4, 0, 1, 5)}));
  EXPECT_EQ(plan.works.size(), 3u);
  EXPECT_TRUE(plan.members[3].empty());
}

TEST(ExpandGroupTest, BroadcastsWithSeveralRootsAreOneKernel) {
  for (const auto& [hosts, gpus] :
       {std::pair(1, 2), std::pair(1, 5), std::pair(2, 8), std::pair(6, 1)}) {
    const int n = hosts * gpus;
    const NcclCommunicator comm = OpenH100s(hosts, gpus);
    for (const int64_t size : {3, 40000, 1500000}) {
      std::vector<CommCall> parts;
      for (int root = 0; root < n; root += size == 3 ? 1 : 3) {
        parts.push_back(
            CallOf(CollectiveType::kBroadcast, n, size * (1 + root % 3) / 2, DataType::kUint8));
        parts.back().root = root;
      }
      if (parts.size() < 2) continue;
      const size_t kernel_parts = parts.size();
      const Plan plan = Proven(comm, MakeGrouped(std::move(parts)));
      ASSERT_EQ(plan.works.size(), 1u) << kernel_parts;
      EXPECT_EQ(plan.works[0].algorithm, Algorithm::kRing);
      EXPECT_EQ(plan.works[0].slots, 8);
    }
  }
}

// A kernel has one broadcast of each root. Later works share the last kernel.
TEST(ExpandGroupTest, NextBroadcastOfARootIsInTheNextKernel) {
  const NcclCommunicator comm = OpenH100s(1, 8);
  std::vector<CommCall> parts;
  for (int i = 0; i < 4; ++i) {
    parts.push_back(CallOf(CollectiveType::kBroadcast, 8, 1000 + i, DataType::kFp32));
    parts.back().root = i % 2 + 3;
  }
  parts.push_back(CallOf(CollectiveType::kAllReduce, 8, 5000, DataType::kFp32));
  parts.push_back(Message(8, 7, 1, 100));
  const Plan plan = Proven(comm, MakeGrouped(std::move(parts)));
  std::vector<int> launches;
  for (const Work& work : plan.works) launches.push_back(work.launch);
  EXPECT_EQ(launches, (std::vector<int>{0, 1, 2, 2}));
}

}  // namespace
}  // namespace drydock
