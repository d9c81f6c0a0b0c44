// Runs plans with reductions in switches on symbolic data (interpreter.h).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/model/calls/step_cursor.h"
#include "core/nccl/testing/hosts_testing.h"
#include "simccl/expand/expand.h"
#include "simccl/expand/plan_builder.h"
#include "simccl/proof/interpreter.h"
#include "simccl/testing/expand_testing.h"

namespace drydock {
namespace {

struct Shape {
  TestHost host;
  int hosts, gpus;
};

NcclCommunicator Communicator(const Shape& shape) {
  const auto end = kAllEight.begin() + shape.gpus;
  return Open(SameGpusOnHosts(shape.host, shape.hosts, {kAllEight.begin(), end}));
}

// An all-reduce of bfloat16 as NCCL passes it to the kernel, with few channels and small chunks.
hacknccl_collective Work(const NcclCommunicator& comm, int algorithm, int64_t elements,
                         int channels) {
  return KernelWork(comm, {HACKNCCL_ALL_REDUCE, algorithm, HACKNCCL_SIMPLE}, 2, elements, 512,
                    channels);
}

Plan Expanded(const NcclCommunicator& comm, const hacknccl_collective& work) {
  PlanBuilder builder(comm);
  const Status expanded = ExpandCollective(work, &builder);
  EXPECT_TRUE(expanded.ok()) << expanded.error().ToString();
  return builder.Finish().value();
}

void ExpectRight(int algorithm, const Shape& shape) {
  const NcclCommunicator comm = Communicator(shape);
  for (const int64_t elements : {1, 1000, 4096, 50001}) {
    const int channels = elements < 1000 ? 1 : 3;
    const hacknccl_collective work = Work(comm, algorithm, elements, channels);
    EXPECT_EQ(CheckPlan(Expanded(comm, work), CallOf(comm, work)), "")
        << shape.hosts << " hosts of " << shape.gpus << ", " << elements << " elements";
  }
}

TEST(ExpandCollNetTest, ChainsSumEverywhere) {
  for (const Shape& shape :
       {Shape{kH100Sharp, 2, 1}, Shape{kH100Sharp, 16, 1}, Shape{kH100Sharp, 3, 2},
        Shape{kA100Sharp, 4, 8}, Shape{kA100FourNicsSharp, 5, 8}, Shape{kA100Sharp, 9, 3}}) {
    ExpectRight(HACKNCCL_COLLNET_CHAIN, shape);
  }
}

TEST(ExpandCollNetTest, DirectSumsEverywhere) {
  for (const Shape& shape : {Shape{kH100Sharp, 2, 1}, Shape{kA100Sharp, 2, 8},
                             Shape{kA100Sharp, 16, 2}, Shape{kA100FourNicsSharp, 4, 8},
                             Shape{kA100FourNicsSharp, 3, 4}, Shape{kH100Sharp, 5, 5}}) {
    ExpectRight(HACKNCCL_COLLNET_DIRECT, shape);
  }
}

TEST(ExpandCollNetTest, NvlsSumsEverywhere) {
  for (const Shape& shape : {Shape{kH100Sharp, 2, 8}, Shape{kH100Sharp, 4, 4},
                             Shape{kH100Sharp, 7, 8}, Shape{kH100Sharp, 16, 2}}) {
    ExpectRight(HACKNCCL_NVLS, shape);
  }
}

TEST(ExpandCollNetTest, HostsOfDifferentSizeSum) {
  const NcclCommunicator comm = Open({kA100Sharp, {kAllEight, kAllEight, {2, 3, 6, 7}}});
  for (const int algorithm : {HACKNCCL_COLLNET_DIRECT, HACKNCCL_COLLNET_CHAIN}) {
    const hacknccl_collective work = Work(comm, algorithm, 50001, 3);
    EXPECT_EQ(CheckPlan(Expanded(comm, work), CallOf(comm, work)), "") << algorithm;
  }
}

// Returns the bytes that each member sends to the switches on all channels.
std::map<int, int64_t> BytesToSwitches(const Plan& plan) {
  std::map<int, int64_t> bytes;
  for (const std::vector<ChannelProgram>& programs : plan.members) {
    for (const ChannelProgram& program : programs) {
      const Pattern& pattern = plan.patterns[program.pattern];
      ForEachSize(pattern, program.position, [&](const Step& step, int64_t size, int64_t times) {
        for (uint32_t i = 0; i < step.send.count; ++i) {
          const uint32_t c = plan.operands[program.operand_begin + step.send.begin + i];
          if (plan.connections[c].link != LinkKind::kToSwitch) continue;
          bytes[plan.connections[c].from] += size * times;
        }
      });
    }
  }
  return bytes;
}

// With NCCL's own decision every host's data goes to the switches once, in equal shares over its
// NICs.
TEST(ExpandCollNetTest, EveryNicCarriesItsShareOnce) {
  for (const Shape& shape :
       {Shape{kH100Sharp, 4, 8}, Shape{kA100Sharp, 4, 8}, Shape{kA100FourNicsSharp, 4, 8}}) {
    const NcclCommunicator comm = Communicator(shape);
    constexpr int64_t kElements = 64 << 20;
    const hacknccl_call call = {
        HACKNCCL_ALL_REDUCE, HACKNCCL_BFLOAT16, HACKNCCL_SUM, 0, kElements, 0};
    const hacknccl_collective work = comm.Collective(call).value().collectives.at(0);
    ASSERT_TRUE(work.even);
    const std::map<int, int64_t> bytes = BytesToSwitches(Expanded(comm, work));
    const int heads = comm.shape().collnet_heads;
    EXPECT_EQ(bytes.size(), static_cast<size_t>(4 * heads));
    for (const auto& [member, sent] : bytes) EXPECT_EQ(sent, 2 * kElements / heads) << member;
  }
}

// If a host sends nothing, the sum lacks its data.
TEST(ExpandCollNetTest, NoticesAHostThatSendsNothing) {
  const NcclCommunicator comm = Communicator({kA100Sharp, 4, 1});
  const hacknccl_collective work = Work(comm, HACKNCCL_COLLNET_CHAIN, 1000, 1);
  Plan plan = Expanded(comm, work);
  std::erase_if(plan.members[2], [&plan](const ChannelProgram& program) {
    return plan.patterns[program.pattern].steps[0].send.count > 0;
  });
  EXPECT_EQ(CheckPlan(plan, CallOf(comm, work)), "member 0 ends with the wrong element 0");
}

}  // namespace
}  // namespace drydock
