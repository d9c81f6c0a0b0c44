// Plans in userbuffers: what they compute, on symbolic data, and how many bytes they move.
#include "simccl/userbuffers/userbuffers_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/calls/grouped_call.h"
#include "core/model/calls/step_cursor.h"
#include "simccl/testing/proof_testing.h"

namespace drydock {
namespace {

using ::testing::HasSubstr;

std::vector<Placement::Slot> OneHost(int members) {
  std::vector<Placement::Slot> slots;
  for (int gpu = 0; gpu < members; ++gpu) slots.push_back({0, gpu});
  return slots;
}

CommCall CallOf(CollectiveType type, int members, int64_t count) {
  CommCall call;
  call.collective = type;
  call.group_size = members;
  call.count = count;
  call.buffers = BufferKind::kUserBuffers;
  return call;
}

// Each member sends to the next.
CommCall RingStep(int members, int64_t count) {
  std::vector<CommCall> messages;
  for (int m = 0; m < members; ++m) {
    CommCall message = CallOf(CollectiveType::kSendRecv, members, count);
    message.root = m, message.peer = (m + 1) % members;
    messages.push_back(message);
  }
  return MakeGrouped(std::move(messages));
}

Plan Proven(const CommCall& call) {
  return ProvenPlan(PlanUserBuffers(call, OneHost(call.group_size)), call);
}

// Bytes that the member's programs send.
int64_t BytesSent(const Plan& plan, int member) {
  int64_t bytes = 0;
  for (const ChannelProgram& program : plan.members[static_cast<size_t>(member)]) {
    StepCursor at(plan.patterns[program.pattern], program.position);
    for (; !at.done(); at.Next()) bytes += at.bytes() * at.step().send.count;
  }
  return bytes;
}

TEST(UserBuffersTest, EveryKernelComputesWhatItsCallDefines) {
  for (const int members : {2, 3, 8}) {
    for (const int64_t part : {1, 100, 8192, 131072, 1000003}) {
      const int64_t count = part * members;
      const Plan gather = Proven(CallOf(CollectiveType::kAllGather, members, count));
      const Plan scatter = Proven(CallOf(CollectiveType::kReduceScatter, members, count));
      const Plan step = Proven(RingStep(members, part));
      for (int m = 0; m < members; ++m) {
        EXPECT_EQ(BytesSent(gather, m), 2 * part * (members - 1));
        EXPECT_EQ(BytesSent(scatter, m), 2 * part * (members - 1));
        EXPECT_EQ(BytesSent(step, m), 2 * part);
      }
      EXPECT_EQ(step.works[0].algorithm, Algorithm::kCopyEngine);
      EXPECT_EQ(step.works[0].channels, 1);
      EXPECT_EQ(gather.works[0].algorithm, Algorithm::kUserBuffers);
      EXPECT_LE(gather.works[0].channels, kUserBufferSms);
    }
  }
  EXPECT_EQ(Proven(CallOf(CollectiveType::kAllGather, 8, 1 << 24)).works[0].channels,
            kUserBufferSms);
}

TEST(UserBuffersTest, DataMovesDirectlyBetweenTheUsersBuffers) {
  for (const CommCall& call : {CallOf(CollectiveType::kReduceScatter, 4, 1 << 20),
                               CallOf(CollectiveType::kAllGather, 4, 1 << 20), RingStep(4, 1000)}) {
    for (const Connection& connection : Proven(call).connections) EXPECT_TRUE(connection.direct);
  }
}

TEST(UserBuffersTest, RefusesACallWithoutAKernel) {
  const auto error = [](const CommCall& call, std::vector<Placement::Slot> slots) {
    const Result<Plan> plan = PlanUserBuffers(call, slots);
    return plan.ok() ? "" : plan.error().message();
  };
  EXPECT_THAT(error(CallOf(CollectiveType::kAllReduce, 4, 64), OneHost(4)),
              HasSubstr("has kernels for an all-gather"));
  CommCall most = CallOf(CollectiveType::kReduceScatter, 4, 64);
  most.op = ReduceOp::kMax;
  EXPECT_THAT(error(most, OneHost(4)), HasSubstr("a reduce-scatter that sums"));
  CommCall twice = RingStep(2, 64);
  twice.parts.push_back(twice.parts[0]);
  EXPECT_THAT(error(MakeGrouped(twice.parts), OneHost(2)), HasSubstr("at most one from a member"));
  CommCall mixed = RingStep(2, 64);
  mixed.parts[1].buffers = BufferKind::kPlain;
  EXPECT_TRUE(UsesUserBuffers(mixed));
  EXPECT_THAT(error(mixed, OneHost(2)), HasSubstr("has kernels for"));
  EXPECT_EQ(error(CallOf(CollectiveType::kAllGather, 2, 64), {{0, 0}, {1, 0}}),
            "userbuffers: all members must be GPUs of one host, whose memory they map");
}

}  // namespace
}  // namespace drydock
