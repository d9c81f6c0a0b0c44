// Plans that switches have a part in, on symbolic data (interpreter.h).
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/model/step_cursor.h"
#include "core/nccl/test_hosts.h"
#include "simccl/expand.h"
#include "simccl/interpreter.h"
#include "simccl/plan_builder.h"

namespace drydock {
namespace {

// Class 0: DGX H100, class 1: DGX A100, class 2: the same with a NIC for two GPUs; all on SHARP.
const NcclWorld& World() {
  static const NcclWorld* const world = [] {
    std::vector<NcclHost> hosts = {DescribeHost(DgxH100(), TestGpu(90)).value(),
                                   DescribeHost(DgxA100(), TestGpu(80)).value(),
                                   DescribeHost(DgxA100(4), TestGpu(80)).value()};
    for (NcclHost& host : hosts) host.collnet = true;
    return new NcclWorld(
        NcclWorld::Create(NcclLibrary::Load().value(), hosts, {{"NCCL_COLLNET_ENABLE", "1"}})
            .value());
  }();
  return *world;
}

struct Shape {
  int host_class, hosts, gpus;
};

NcclCommunicator Communicator(const Shape& shape) {
  std::vector<int> gpus;
  for (int gpu = 0; gpu < shape.gpus; ++gpu) gpus.push_back(gpu);
  return World().CreateCommunicator(Places(shape.hosts, gpus, shape.host_class)).value();
}

// An all-reduce of bfloat16 as NCCL would hand it to the kernel, over few channels and small
// chunks.
hacknccl_collective Work(int algorithm, int64_t elements, int64_t chunk_bytes, int channels) {
  hacknccl_collective work = {};
  work.function = HACKNCCL_ALL_REDUCE;
  work.algorithm = algorithm;
  work.protocol = HACKNCCL_SIMPLE;
  work.element_bytes = 2;
  work.channel_hi = channels - 1;
  work.warps = 16;
  work.even = 1;
  work.count = work.count_lo = static_cast<uint64_t>(elements);
  work.chunk_lo = static_cast<uint64_t>(chunk_bytes);
  work.chunk_steps = work.slice_steps = 1;
  return work;
}

Plan Expanded(const NcclCommunicator& comm, const hacknccl_collective& work) {
  PlanBuilder builder(comm);
  const Status expanded = ExpandCollective(work, &builder);
  EXPECT_TRUE(expanded.ok()) << expanded.error().ToString();
  return builder.Finish().value();
}

CommCall CallOf(const NcclCommunicator& comm, int64_t elements) {
  CommCall call;
  call.collective = CollectiveType::kAllReduce;
  call.type = DataType::kBf16;
  call.group_size = comm.shape().ranks;
  call.count = elements;
  return call;
}

void ExpectRight(int algorithm, const Shape& shape) {
  const NcclCommunicator comm = Communicator(shape);
  for (const int64_t elements : {1, 1000, 4096, 50001}) {
    const int channels = elements < 1000 ? 1 : 3;
    const Plan plan = Expanded(comm, Work(algorithm, elements, 512, channels));
    EXPECT_EQ(CheckPlan(plan, CallOf(comm, elements)), "")
        << shape.hosts << " hosts of " << shape.gpus << ", " << elements << " elements";
  }
}

TEST(ExpandCollNetTest, ChainsSumEverywhere) {
  for (const Shape& shape : {Shape{0, 2, 1}, Shape{0, 16, 1}, Shape{0, 3, 2}, Shape{1, 4, 8},
                             Shape{2, 5, 8}, Shape{1, 9, 3}}) {
    ExpectRight(HACKNCCL_COLLNET_CHAIN, shape);
  }
}

TEST(ExpandCollNetTest, DirectSumsEverywhere) {
  for (const Shape& shape : {Shape{0, 2, 1}, Shape{1, 2, 8}, Shape{1, 16, 2}, Shape{2, 4, 8},
                             Shape{2, 3, 4}, Shape{0, 5, 5}}) {
    ExpectRight(HACKNCCL_COLLNET_DIRECT, shape);
  }
}

TEST(ExpandCollNetTest, NvlsSumsEverywhere) {
  for (const Shape& shape : {Shape{0, 2, 8}, Shape{0, 4, 4}, Shape{0, 7, 8}, Shape{0, 16, 2}}) {
    ExpectRight(HACKNCCL_NVLS, shape);
  }
}

TEST(ExpandCollNetTest, HostsOfDifferentSizeSum) {
  std::vector<hacknccl_place> places = Places(2, kAllEight, 1);
  for (const int gpu : {2, 3, 6, 7}) places.push_back({2, 1, gpu});
  const NcclCommunicator comm = World().CreateCommunicator(places).value();
  for (const int algorithm : {HACKNCCL_COLLNET_DIRECT, HACKNCCL_COLLNET_CHAIN}) {
    const Plan plan = Expanded(comm, Work(algorithm, 50001, 512, 3));
    EXPECT_EQ(CheckPlan(plan, CallOf(comm, 50001)), "") << algorithm;
  }
}

// Bytes that a member hands to the switches, all channels together.
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

// What NCCL itself decides: every host's data goes up once, in equal shares over its NICs.
TEST(ExpandCollNetTest, EveryNicCarriesItsShareOnce) {
  for (const Shape& shape : {Shape{0, 4, 8}, Shape{1, 4, 8}, Shape{2, 4, 8}}) {
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

TEST(ExpandCollNetTest, AHostThatSaysNothingIsNoticed) {
  const NcclCommunicator comm = Communicator({1, 4, 1});
  Plan plan = Expanded(comm, Work(HACKNCCL_COLLNET_CHAIN, 1000, 512, 1));
  std::erase_if(plan.members[2], [&plan](const ChannelProgram& program) {
    return plan.patterns[program.pattern].steps[0].send.count > 0;
  });
  EXPECT_EQ(CheckPlan(plan, CallOf(comm, 1000)), "deadlock: member 0 waits at step 0 of channel 0");
}

}  // namespace
}  // namespace drydock
