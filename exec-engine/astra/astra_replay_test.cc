// "Does a whole workload of ASTRA-sim take as long as its parts and their order say?"
#include "exec-engine/astra/astra_replay.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using Kind = AstraNode::Kind;
using testing::ErrorText;

// Four NPUs in a ring of 50 GiB/s, as in ASTRA-sim's examples.
const DimensionNetwork& Ring() {
  static const DimensionNetwork network(
      {{DimensionShape::kRing, 4, Bandwidth::FromBytesPerSecond(50.0 * (1 << 30)), Time::Ns(500)}});
  return network;
}

const CollectiveSystem& System() {
  static const CollectiveSystem system = [] {
    CollectiveSystem made;
    made.all_reduce = made.all_gather = made.reduce_scatter = made.all_to_all = {{}};
    made.splits = 4;
    made.endpoint_delay = Time::Ns(10);
    made.memory = Bandwidth::FromBytesPerSecond(1600e9);
    return made;
  }();
  return system;
}

constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kAllReduce = 43'000;  // ASTRA-sim's published answer, ns

class Builder {
 public:
  Builder() {
    workload.groups = {{0, 1, 2, 3}};
    workload.of_npu.resize(4);
  }
  uint32_t Add(size_t npu, AstraNode node, const std::vector<uint32_t>& after = {}) {
    std::vector<AstraNode>& nodes = workload.of_npu[npu];
    const auto index = static_cast<uint32_t>(nodes.size());
    node.id = index;
    node.name = fmt::format("n{}", index);
    node.waits = static_cast<uint32_t>(after.size());
    for (const uint32_t before : after) nodes[before].next.push_back(index);
    nodes.push_back(node);
    return index;
  }
  uint32_t Compute(size_t npu, int64_t ns, const std::vector<uint32_t>& after = {}) {
    AstraNode node;
    node.kind = Kind::kCompute;
    node.time = Time::Ns(ns);
    return Add(npu, node, after);
  }
  uint32_t AllReduce(size_t npu, const std::vector<uint32_t>& after = {}, int group = 0) {
    AstraNode node;
    node.kind = Kind::kCollective;
    node.bytes = kMegabyte;
    node.group = group;
    return Add(npu, node, after);
  }
  uint32_t Message(size_t npu, Kind kind, int peer, const std::vector<uint32_t>& after = {}) {
    AstraNode node;
    node.kind = kind;
    node.peer = peer;
    node.bytes = kMegabyte;
    return Add(npu, node, after);
  }
  // Ends of the NPUs in ns.
  std::vector<int64_t> Ends() const {
    const auto times = ReplayAstra(workload, Ring(), System());
    EXPECT_TRUE(times.ok()) << times.error().ToString();
    std::vector<int64_t> out;
    for (const AstraNpuTimes& t : *times) out.push_back(t.end.ps() / 1000);
    return out;
  }
  AstraWorkload workload;
};

TEST(AstraReplayTest, ACallBeginsWithItsLastMember) {
  Builder b;
  for (size_t n = 0; n < 4; ++n) {
    const uint32_t before = b.Compute(n, n == 2 ? 5000 : 1000);
    b.Compute(n, 700, {b.AllReduce(n, {before})});
  }
  // The last one ends as if all had begun with it. Messages do not queue, so a delay of less than
  // three hops dies out on the way to the others.
  const std::vector<int64_t> ends = b.Ends();
  EXPECT_EQ(ends[2], 5000 + kAllReduce + 700);
  EXPECT_EQ(*std::max_element(ends.begin(), ends.end()), ends[2]);
  EXPECT_GE(*std::min_element(ends.begin(), ends.end()), 1000 + kAllReduce + 700);
}

TEST(AstraReplayTest, ComputeAndCommunicationOverlapAndEachRunsOneAtATime) {
  Builder b;
  for (size_t n = 0; n < 4; ++n) {
    b.Compute(n, 20'000);
    b.Compute(n, 20'000);
    b.AllReduce(n);
    b.AllReduce(n);
  }
  EXPECT_EQ(b.Ends(), std::vector<int64_t>(4, 2 * kAllReduce));
  const auto times = ReplayAstra(b.workload, Ring(), System());
  EXPECT_EQ(times->front().compute, Time::Ns(40'000));
  EXPECT_EQ(times->front().exposed, Time::Ns(2 * kAllReduce - 40'000));
}

TEST(AstraReplayTest, OneNpuStandsForAllThatAreAlike) {
  Builder b;
  for (size_t n = 0; n < 4; ++n) b.Compute(n, 700, {b.AllReduce(n)});
  const std::vector<int64_t> ends = b.Ends();
  b.workload.of_npu.resize(1);
  b.workload.alike = true;
  EXPECT_EQ(b.Ends(), std::vector<int64_t>{ends[0]});
}

// A message of 1 MiB over one hop: 500 ns and 19,531 ns at 50 GiB/s.
TEST(AstraReplayTest, AReceiveEndsWithItsMessage) {
  Builder b;
  b.Message(0, Kind::kSend, 1, {b.Compute(0, 1000)});
  b.Compute(1, 300, {b.Message(1, Kind::kReceive, 0)});
  // The message is there before NPU 3 asks for it.
  b.Message(2, Kind::kSend, 3);
  b.Message(3, Kind::kReceive, 2, {b.Compute(3, 50'000)});
  EXPECT_EQ(b.Ends(), (std::vector<int64_t>{21'031, 21'331, 20'031, 50'000}));
}

TEST(AstraReplayTest, GroupsHaveTheirOwnCalls) {
  Builder b;
  b.workload.groups.push_back({0, 1});
  b.workload.groups.push_back({2, 3});
  for (size_t n = 0; n < 4; ++n) b.AllReduce(n, {b.Compute(n, n < 2 ? 100 : 200)}, n < 2 ? 1 : 2);
  const std::vector<int64_t> ends = b.Ends();
  EXPECT_EQ(ends[0] + 100, ends[2]);
  EXPECT_EQ(ends[0], ends[1]);
}

TEST(AstraReplayTest, NamesWhatNeverEnds) {
  Builder b;
  for (size_t n = 0; n < 3; ++n) b.AllReduce(n);
  b.Compute(3, 1);
  EXPECT_EQ(ErrorText(ReplayAstra(b.workload, Ring(), System())),
            "error: NPU 0 never ends: the other members of the group do not make the call of its "
            "node 0 'n0'");
  Builder c;
  c.Message(1, Kind::kReceive, 0);
  EXPECT_EQ(ErrorText(ReplayAstra(c.workload, Ring(), System())),
            "error: NPU 1 never ends: NPU 0 does not send what its node 0 'n0' receives");
}

}  // namespace
}  // namespace drydock
