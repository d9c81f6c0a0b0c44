#include "study/goodput/checkpoint.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

constexpr int64_t kParameters = 1000;

// Four ranks on two hosts, of one class.
Workload Holding(int64_t parameters, int64_t states) {
  Workload workload;
  workload.topology.host_kinds.resize(1);
  workload.topology.host_kinds[0].gpus = 2;
  workload.topology.hosts = {0, 0};
  workload.topology.gpus.resize(1);
  workload.topology.gpus[0].compute_capability = 80;
  workload.topology.gpus[0].pcie = Bandwidth::FromBytesPerSecond(100);
  workload.topology.storage =
      Storage{Bandwidth::FromBytesPerSecond(1000), Bandwidth::FromBytesPerSecond(500), {}, "s"};
  workload.class_of_rank = {0, 0, 0, 0};
  workload.class_count = 1;
  workload.totals.parameters = kParameters;
  workload.memory = {{{"parameters", Bytes(parameters)},
                      {"gradients", Bytes(99)},
                      {"optimizer states", Bytes(states)}}};
  return workload;
}

// Megatron over four replicas: parameters in 16 bits on each, 12 B of states once.
TEST(Checkpoint, HasReplicatedParametersOnce) {
  const CheckpointSize size = *SizeOfCheckpoint(Holding(2000, 3000), {});
  EXPECT_DOUBLE_EQ(size.written, 14000);
  EXPECT_DOUBLE_EQ(size.read, 20000);
  EXPECT_DOUBLE_EQ(size.host_read, 10000);
}

TEST(Checkpoint, HasReplicatedStatesOnce) {
  EXPECT_DOUBLE_EQ(SizeOfCheckpoint(Holding(2000, 12000), {})->written, 14000);
}

// Megatron over four tensor ranks.
TEST(Checkpoint, HasAllThatIsHeldOnce) {
  EXPECT_DOUBLE_EQ(SizeOfCheckpoint(Holding(500, 3000), {})->written, 14000);
  EXPECT_DOUBLE_EQ(SizeOfCheckpoint(Holding(500, 2000), {})->written, 10000);  // Muon
}

TEST(Checkpoint, KnowsShardsInFp32) {
  EXPECT_DOUBLE_EQ(SizeOfCheckpoint(Holding(1000, 2000), {})->written, 12000);  // FSDP
  EXPECT_DOUBLE_EQ(SizeOfCheckpoint(Holding(2000, 4000), {})->written, 12000);  // twice
}

TEST(Checkpoint, IsUnknownWithoutMemory) {
  Workload workload = Holding(500, 3000);
  workload.memory.clear();
  EXPECT_FALSE(SizeOfCheckpoint(workload, {}));
  const CheckpointSize stated = *SizeOfCheckpoint(workload, Bytes(800));
  EXPECT_DOUBLE_EQ(stated.written, 800);
  EXPECT_DOUBLE_EQ(stated.host_read, 400);
}

TEST(Checkpoint, TakesAsLongAsStorageOrTheHosts) {
  const Workload workload = Holding(500, 3000);
  const CheckpointSize size = *SizeOfCheckpoint(workload, {});
  Topology topology = workload.topology;
  CheckpointTimes times = *TimesOf(size, topology);
  EXPECT_DOUBLE_EQ(times.write, 28);
  EXPECT_DOUBLE_EQ(times.read, 14);
  // A quarter of the bytes, at the share of PCIe's rate that a copy reaches.
  EXPECT_NEAR(times.snapshot, 35 / 0.85, 1e-6);
  topology.storage->host = Bandwidth::FromBytesPerSecond(100);
  times = *TimesOf(size, topology);
  EXPECT_DOUBLE_EQ(times.write, 70);
  EXPECT_DOUBLE_EQ(times.read, 70);
}

}  // namespace
}  // namespace drydock
