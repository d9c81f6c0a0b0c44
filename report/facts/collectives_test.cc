#include "report/facts/collectives.h"

#include <gtest/gtest.h>

#include "core/model/calls/grouped_call.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

TEST(BusFactor, MatchesNcclTests) {
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveType::kAllReduce, 8), 2.0 * 7 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveType::kAllGather, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveType::kReduceScatter, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveType::kAllToAll, 8), 7.0 / 8);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveType::kBroadcast, 8), 1);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveType::kReduce, 8), 1);
  EXPECT_DOUBLE_EQ(BusFactor(CollectiveType::kSendRecv, 2), 1);
}

TEST(Collectives, AllGatherOfOneGigabyteInTenMillisecondsOver4Is75GigabytesPerSecondOnTheBus) {
  CollectiveRow row;
  row.call = {CollectiveType::kAllGather, DataType::kFp16, ReduceOp::kSum, 500000000, 0, 0, 4};
  row.median = Time::FromSeconds(0.01);
  EXPECT_DOUBLE_EQ(row.algorithm_bandwidth(), 1e11);
  EXPECT_DOUBLE_EQ(row.bus_bandwidth(), 0.75e11);
}

TEST(Collectives, CallOfNoTimeHasNoBandwidth) {
  CollectiveRow row;
  row.call.count = 1;
  row.call.group_size = 1;
  EXPECT_EQ(row.algorithm_bandwidth(), 0);
}

TEST(Collectives, RowsAreDistinctCallsCostliestFirst) {
  const std::vector<CollectiveRow> rows = SummarizeCollectives(FakeRun());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].Name(), "tp all-reduce fp16 2 MB over 2");
  EXPECT_EQ(rows[0].PlanName(), "ring LL128");
  EXPECT_EQ(rows[1].Name(), "pp-prev send-recv fp16 1 MB");
  EXPECT_EQ(rows[2].Name(), "pp-next send-recv fp16 1 MB");
}

// Both groups reduce once. Rank 0 begins 10 us before rank 1; this wait is not part of the
// duration.
TEST(Collectives, WaitingForALateNeighborIsNotDuration) {
  const CollectiveRow row = SummarizeCollectives(FakeRun())[0];
  EXPECT_EQ(row.uses, 2);
  EXPECT_EQ(row.median, Time::Us(40));
  EXPECT_EQ(row.max, Time::Us(40));
  EXPECT_DOUBLE_EQ(row.bus_bandwidth(), 2e6 / 40e-6);
}

TEST(Collectives, MedianAndMaximumOfUnequalDurations) {
  Inputs inputs = FakeRun();
  inputs.timeline.ranks[3].end[2] += Time::Us(8);
  inputs.timeline.ranks[2].end[2] -= Time::Us(8);
  const CollectiveRow row = SummarizeCollectives(inputs)[0];
  EXPECT_EQ(row.median, Time::Us(40));
  EXPECT_EQ(row.max, Time::Us(48));
  EXPECT_EQ(row.total, Time::Us(160));
}

TEST(Collectives, MessagesCountAtTheirReceiver) {
  const CollectiveRow activations = SummarizeCollectives(FakeRun())[1];
  EXPECT_EQ(activations.uses, 2);
  EXPECT_EQ(activations.median, Time::Us(55));  // the sender is done after 50
}

// Pairs have different plans for their NICs but share a row.
TEST(Collectives, PlansThatDifferOnlyInTheirConnectionsAreOneRow) {
  Inputs inputs = FakeRun();
  inputs.flows.plans.push_back(inputs.flows.plans[1]);
  inputs.flows.assignments[3].plan = 2;
  const std::vector<CollectiveRow> rows = SummarizeCollectives(inputs);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].uses, 2);
}

TEST(Collectives, OneCallWithTwoAlgorithmsIsTwoRows) {
  Inputs inputs = FakeRun();
  inputs.flows.plans.push_back(inputs.flows.plans[0]);
  inputs.flows.plans.back().works[0].algorithm = Algorithm::kTree;
  inputs.flows.assignments[1].plan = 2;
  const std::vector<CollectiveRow> rows = SummarizeCollectives(inputs);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2].PlanName(), "ring LL128");
  EXPECT_EQ(rows[3].PlanName(), "tree LL128");
  EXPECT_EQ(rows[3].uses, 1);
}

TEST(Collectives, GroupedCallIsOneRowThatNamesItsWorks) {
  Inputs inputs = FakeRun();
  const CommCall all_reduce = inputs.workload.calls[0];
  CommCall message = all_reduce;
  message.collective = CollectiveType::kSendRecv;
  message.peer = 1;
  inputs.workload.calls[0] = MakeGrouped({all_reduce, all_reduce, message});
  const Work ring = inputs.flows.plans[0].works[0];
  inputs.flows.plans[0].works = {ring, ring, {Algorithm::kSendRecv, Protocol::kSimple, 2}};
  const CollectiveRow row = SummarizeCollectives(inputs)[0];
  EXPECT_EQ(row.Name(), row.role + " all-reduce x2, send-recv 6 MB over 2");
  EXPECT_EQ(row.PlanName(), "ring LL128 x2, send-recv Simple");
  EXPECT_EQ(row.uses, 2);
  EXPECT_DOUBLE_EQ(row.algorithm_bandwidth(), 6e6 / 40e-6);
}

TEST(BusFactor, GroupedCallUsesTheMeanOfItsPartsByBytes) {
  CommCall all_reduce;
  all_reduce.count = 100;
  all_reduce.type = DataType::kUint8;
  all_reduce.group_size = 8;
  CommCall all_gather = all_reduce;
  all_gather.collective = CollectiveType::kAllGather;
  all_gather.count = 300;
  EXPECT_DOUBLE_EQ(BusFactor(MakeGrouped({all_reduce, all_gather})),
                   (100 * 2.0 * 7 / 8 + 300 * 7.0 / 8) / 400);
}

}  // namespace
}  // namespace drydock
