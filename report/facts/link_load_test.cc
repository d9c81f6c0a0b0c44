#include "report/facts/link_load.h"

#include <gtest/gtest.h>

#include "report/facts/traffic.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

// Returns a run with an all-reduce of two ranks: each sends 1.92 MB to the other.
Inputs RunWithTraffic() {
  Inputs inputs = FakeRun();
  Plan& plan = inputs.flows.plans[0];
  plan.connections.resize(2);
  plan.connections[0].to = 1;
  plan.connections[1].from = 1;
  plan.operands = {0, 1, 1, 0};
  plan.patterns.resize(1);
  Pattern& pattern = plan.patterns[0];
  pattern.operands = 2;
  pattern.loops = {{1000, 0, 1}};
  pattern.steps.resize(1);
  pattern.steps[0].send = {0, 1};
  pattern.steps[0].receive = {1, 1};
  pattern.steps[0].bytes = 1920;
  plan.members.assign(2, {ChannelProgram()});
  plan.members[1][0].operand_begin = 2;
  return inputs;
}

// LL128 puts 2048 B on the wire for 1920 B of payload.
TEST(Traffic, CountsWhatTheStepsSendAndReceive) {
  const Inputs inputs = RunWithTraffic();
  const PlanLinks links(inputs.workload);
  const Traffic traffic = TrafficOf(links, inputs.workload, inputs.flows.plans[0], 0, 1);
  EXPECT_EQ(traffic.scale_up_out, 2048000);
  EXPECT_EQ(traffic.scale_up_in, 2048000);
  EXPECT_EQ(traffic.sent, 0);
}

// Rank 0's data moves from 110 to 150 us: 2.048 MB in 40 us are 51.2 GB/s of 300.
TEST(LinkLoad, SpreadsACallOverTheTimeInWhichItsDataMoves) {
  const LinkLoad load = MeasureLinkLoad(RunWithTraffic(), {0}, 60);
  ASSERT_EQ(load.scale_up.size(), 2u);
  EXPECT_EQ(load.scale_up[0].name, "rank 0, out of its GPU");
  EXPECT_EQ(load.scale_up[1].name, "rank 0, into its GPU");
  const LoadRow& row = load.scale_up[0];
  ASSERT_EQ(row.columns.size(), 60u);
  for (size_t column = 0; column < 60; ++column) {
    const double share = column >= 11 && column < 15 ? 51.2 / 300 : 0;
    EXPECT_NEAR(row.columns[column].mean, share, 1e-9) << column;
    EXPECT_NEAR(row.columns[column].peak, share, 1e-9) << column;
    EXPECT_NEAR(row.columns[column].p99, share, 1e-9) << column;
  }
  EXPECT_EQ(row.rank, 0);
  EXPECT_NEAR(row.whole.mean, 2.048e6 / (600e-6 * 300e9), 1e-12);
  EXPECT_TRUE(load.nics.empty());
  EXPECT_TRUE(load.cables.empty());
}

// The log of a cable: 2 of 4 us at full rate, 2 us at half of it; the iteration takes 600 us.
TEST(LinkLoad, TheNetworksOwnLogStandsBesideIt) {
  Inputs inputs = RunWithTraffic();
  Fabric& fabric = inputs.workload.topology.fabric;
  fabric.switches = {{"leaf0", 0, Time::Ns(100), Bytes(1'000'000)}};
  const double rate = 25e9;
  fabric.links = {{{false, 0, 0}, {true, 0, 0}, Bandwidth::FromBytesPerSecond(rate), Time::Ns(1)}};
  const PlanLinks links(inputs.workload);
  const std::string name = links.CableName(0);
  const size_t middle = name.find(" to ");
  LoggedLink cable = {name.substr(0, middle), name.substr(middle + 4), {}};
  const auto bytes = static_cast<int64_t>(rate * 2e-6);
  cable.intervals = {{Time::Us(10), Time::Us(12), bytes}, {Time::Us(12), Time::Us(14), bytes / 2}};
  inputs.link_log = LinkLog{cable, {"a switch that sums", "no cable", cable.intervals}};
  const LinkLoad load = MeasureLinkLoad(inputs, {0}, 60);
  ASSERT_EQ(load.logged.size(), 1u);
  const LoadRow& row = load.logged[0];
  EXPECT_EQ(row.name, name);
  EXPECT_NEAR(row.columns[1].mean, 0.3, 1e-6);  // of 10 us
  EXPECT_NEAR(row.columns[1].peak, 1, 1e-6);
  EXPECT_NEAR(row.whole.peak, 1, 1e-6);
  EXPECT_NEAR(row.whole.mean, 3e-6 / 600e-6, 1e-6);
  inputs.timeline.iterations = {Time::Us(600), Time::Us(600)};
  EXPECT_TRUE(MeasureLinkLoad(inputs, {0}, 60).logged.empty()) << "the log has both iterations";
}

// The same call in one column of 600 us: the mean is a fifteenth of the burst, which lasts for 40
// us.
TEST(LinkLoad, PeakAnd99thPercentileShowABurstThatTheMeanHides) {
  const LoadRow row = MeasureLinkLoad(RunWithTraffic(), {0}, 1).scale_up[0];
  EXPECT_NEAR(row.columns[0].mean, 51.2 / 300 / 15, 1e-9);
  EXPECT_NEAR(row.columns[0].p99, 51.2 / 300, 1e-9);
  EXPECT_NEAR(row.columns[0].peak, 51.2 / 300, 1e-9);
}

// A burst of 4 us is the peak of 600 us, but shorter than a hundredth of them.
TEST(LinkLoad, The99thPercentileLeavesOutAHundredthOfTheTime) {
  Inputs inputs = RunWithTraffic();
  for (const size_t rank : {0, 1}) {
    RankTimeline& times = inputs.timeline.ranks[rank];
    for (size_t i = 0; i < times.end.size(); ++i) {
      if (times.ready[i] == Time::Us(110)) times.end[i] = Time::Us(114);
    }
  }
  const Load load = MeasureLinkLoad(inputs, {0}, 1).scale_up[0].whole;
  EXPECT_NEAR(load.peak, 512.0 / 300, 1e-9);
  EXPECT_EQ(load.p99, 0);
}

TEST(LinkLoad, CallsThatMoveNothingHaveNoRows) {
  EXPECT_TRUE(MeasureLinkLoad(FakeRun(), {0, 1}, 10).scale_up.empty());
}

}  // namespace
}  // namespace drydock
