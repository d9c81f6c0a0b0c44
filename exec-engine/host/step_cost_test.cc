#include "exec-engine/host/step_cost.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

constexpr int64_t kBytes = 1000000;

Bandwidth GigabytesPerSecond(int64_t rate) { return Bandwidth::BitsPerSecond(rate * 8000000000); }

GpuSpec Gpu() {
  GpuSpec gpu;
  gpu.memory_bandwidth = GigabytesPerSecond(2000);
  gpu.collectives.simple = {.send = GigabytesPerSecond(10),
                            .copy_send = GigabytesPerSecond(20),
                            .reduce_send = GigabytesPerSecond(40),
                            .receive = GigabytesPerSecond(50)};
  gpu.collectives.nvls = gpu.collectives.simple;
  gpu.collectives.nvls_registered = gpu.collectives.simple;
  return gpu;
}

// Operands: the receiving connections come first.
constexpr Slots kFirst = {0, 1}, kSecond = {1, 1};

// Nanoseconds for a megabyte.
int64_t Cost(const Step& step, std::string_view handling, Algorithm algorithm = Algorithm::kRing) {
  Work work;
  work.algorithm = algorithm;
  return CostOf(step, work, Gpu(), handling).For(kBytes).ps() / 1000;
}

TEST(StepCostTest, BufferedDataIsMoved) {
  EXPECT_EQ(Cost({.send = kFirst}, ""), 100000);
  EXPECT_EQ(Cost({.receive = kFirst, .send = kSecond, .store = true}, ""), 50000);
  EXPECT_EQ(Cost({.receive = kFirst, .send = kSecond, .reduce = true}, ""), 25000);
  EXPECT_EQ(Cost({.receive = kFirst, .store = true}, ""), 20000);
  EXPECT_EQ(Cost({.store = true}, ""), 1000);
}

TEST(StepCostTest, DirectDataNeedsNoCopy) {
  EXPECT_EQ(Cost({.receive = kFirst, .store = true}, "d"), 0);
  EXPECT_EQ(Cost({.receive = kFirst, .send = kSecond, .store = true}, "dd"), 50000);
  EXPECT_EQ(Cost({.send = kFirst}, "d"), 100000);  // the store into the peer
  EXPECT_EQ(Cost({.receive = kFirst, .send = kSecond, .reduce = true}, "dd"), 25000);
}

TEST(StepCostTest, NicsMoveOffloadedData) {
  EXPECT_EQ(Cost({.send = kFirst}, "o"), 0);
  EXPECT_EQ(Cost({.send = kFirst, .store = true}, "o"), 20000);
  EXPECT_EQ(Cost({.receive = kFirst, .send = kSecond, .store = true}, "oo"), 0);
  EXPECT_EQ(Cost({.receive = kFirst, .send = kSecond, .store = true}, "bo"), 20000);
  EXPECT_EQ(Cost({.receive = kFirst, .send = kSecond, .store = true}, "ob"), 50000);
}

TEST(StepCostTest, HeadsOfNvlsWorkOnRegisteredBuffers) {
  const auto cost = [](const Step& step) { return Cost(step, "ooo", Algorithm::kNvls); };
  EXPECT_EQ(cost({.send = kFirst}), 0);  // of a member
  EXPECT_EQ(cost({.receive = kFirst, .store = true}), 0);
  EXPECT_EQ(cost({.receive = {0, 2}, .send = {2, 1}, .reduce = true}), 25000);
  EXPECT_EQ(cost({.send = {0, 3}}), 100000);
}

TEST(StepCostTest, HandlingFollowsTheLink) {
  Connection connection;
  connection.link = LinkKind::kNet;
  EXPECT_EQ(HandlingOf(connection, Algorithm::kRing), Handling::kBuffered);
  connection.direct = true;
  EXPECT_EQ(HandlingOf(connection, Algorithm::kRing), Handling::kOffloaded);
  connection.link = LinkKind::kPeerRead;
  EXPECT_EQ(HandlingOf(connection, Algorithm::kRing), Handling::kDirect);
  EXPECT_EQ(HandlingOf(connection, Algorithm::kSendRecv), Handling::kFetched);
  connection.link = LinkKind::kPeerWrite;
  EXPECT_EQ(HandlingOf(connection, Algorithm::kSendRecv), Handling::kDirect);
}

// A custom algorithm copies within a member's memory: one step names the source, the next moves.
TEST(StepCostTest, ACopyWithinAMemberCountsOnce) {
  Connection own;
  own.direct = true;
  EXPECT_EQ(HandlingOf(own, Algorithm::kCustom), Handling::kOwn);
  EXPECT_EQ(Cost({.send = kFirst}, "m", Algorithm::kCustom), 0);
  EXPECT_EQ(Cost({.receive = kFirst, .store = true}, "m", Algorithm::kCustom), 20000);
}

TEST(StepCostTest, CopyEnginesAndUserBuffersHaveTheirOwnCosts) {
  CollectiveCosts costs;
  costs.copy_engine.send = GigabytesPerSecond(1);
  costs.userbuffers.send = GigabytesPerSecond(2);
  Work work;
  work.algorithm = Algorithm::kCopyEngine;
  EXPECT_EQ(&CostsOf(work, costs), &costs.copy_engine);
  work.algorithm = Algorithm::kUserBuffers;
  EXPECT_EQ(&CostsOf(work, costs), &costs.userbuffers);
  Connection loaded;
  loaded.direct = true;
  loaded.link = LinkKind::kPeerRead;
  EXPECT_EQ(HandlingOf(loaded, Algorithm::kUserBuffers), Handling::kFetched);
}

TEST(StepCostTest, TheReceiverOfAMessageFetchesIt) {
  EXPECT_EQ(Cost({.send = kFirst}, "f"), 0);
  EXPECT_EQ(Cost({.receive = kFirst, .store = true}, "f"), 20000);
}

}  // namespace
}  // namespace drydock
