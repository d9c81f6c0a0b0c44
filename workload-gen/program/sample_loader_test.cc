// The data loader reads beside the training, and late data delays forward passes.
#include "workload-gen/program/sample_loader.h"

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "workload-gen/testing/job_testing.h"
#include "workload-gen/testing/sharded_testing.h"

namespace drydock {
namespace {

// Eight micro-batches of two samples each.
Workload Late(Overrides more) {
  Overrides overrides = {"parallel.pipeline=4", "training.micro_batch=2",
                         "training.global_batch=16", "training.sample_time=3 ms"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return TestWorkload(overrides);
}

std::vector<uint32_t> Reads(const Program& program) {
  std::vector<uint32_t> reads;
  for (uint32_t op = 0; op < program.ops.size(); ++op) {
    if (program.ops[op].stream == kDataLoaderStream) reads.push_back(op);
  }
  return reads;
}

// The micro-batches whose forward pass waits for a read, and the micro-batch of that read, each
// once.
std::vector<std::pair<int, int>> Waiting(const Program& program) {
  std::vector<std::pair<int, int>> waiting;
  for (uint32_t op = 0; op < program.ops.size(); ++op) {
    if (program.ops[op].stream == kDataLoaderStream) continue;
    for (const uint32_t before : program.dependencies(op)) {
      if (program.ops[before].stream != kDataLoaderStream) continue;
      EXPECT_EQ(program.ops[op].phase, Phase::kForward);
      const std::pair<int, int> pair(program.ops[op].microbatch, program.ops[before].microbatch);
      if (waiting.empty() || waiting.back() != pair) waiting.push_back(pair);
    }
  }
  return waiting;
}

TEST(SampleLoader, FirstAndLastStageReadFourMicrobatchesAhead) {
  const Workload w = Late({});
  ASSERT_EQ(w.programs.size(), 4u);
  for (const size_t stage : {size_t{0}, size_t{3}}) {
    const Program& program = w.programs[stage];
    const std::vector<uint32_t> reads = Reads(program);
    ASSERT_EQ(reads.size(), 8u);
    EXPECT_EQ(reads.front(), 0u) << "reads start with the iteration";
    for (const uint32_t read : reads) {
      const MemoryTransfer& transfer = w.transfers[program.ops[read].work];
      EXPECT_EQ(transfer.name, "data.samples");
      EXPECT_EQ(transfer.time, Time::Us(6000)) << "two samples";
      EXPECT_TRUE(program.dependencies(read).empty());
    }
    EXPECT_THAT(Waiting(program), testing::ElementsAre(testing::Pair(4, 0), testing::Pair(5, 1),
                                                       testing::Pair(6, 2), testing::Pair(7, 3)));
  }
  EXPECT_TRUE(Reads(w.programs[1]).empty());
  EXPECT_TRUE(Reads(w.programs[2]).empty());
}

TEST(SampleLoader, NothingIsReadWithoutATime) {
  EXPECT_TRUE(Late({"training.sample_time=0 s"}).transfers.empty());
}

// Synchronizing the device after a message does not wait for the loader.
TEST(SampleLoader, NoOpOfTheDeviceWaitsForAllReads) {
  const Workload w = Late({"training.batch_p2p_sync=true"});
  EXPECT_EQ(Waiting(w.programs[0]).size(), 4u);
}

TEST(SampleLoader, FsdpReadsToo) {
  const Workload w = ShardedWorkload({"training.sample_time=1 ms", "training.global_batch=96"});
  EXPECT_EQ(Reads(w.programs[0]).size(), 6u);
  EXPECT_EQ(Waiting(w.programs[0]).size(), 2u);
}

}  // namespace
}  // namespace drydock
