#include "report/facts/transfers.h"

#include <gtest/gtest.h>

#include "report/facts/summary.h"
#include "report/output/summary_json.h"
#include "report/output/summary_text.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

// Each rank loads 1 MB after 10 us of latency: in 90 us on rank 0, in 10 us more on each next rank.
Inputs RunWithLoads() {
  Inputs inputs = FakeRun();
  Workload& w = inputs.workload;
  w.transfers = {{"weights", MemoryTier::kHost, Bytes(1'000'000)}};
  for (Program& program : w.programs) {
    Op op;
    op.kind = OpKind::kLoad;
    program.ops.push_back(op);
    program.dependency_begin.push_back(program.dependency_begin.back());
  }
  for (size_t rank = 0; rank < inputs.timeline.ranks.size(); ++rank) {
    RankTimeline& times = inputs.timeline.ranks[rank];
    times.start.push_back(Time());
    times.ready.push_back(Time::Us(10));
    times.end.push_back(Time::Us(100 + 10 * static_cast<int64_t>(rank)));
  }
  return inputs;
}

TEST(TransfersTest, CountsEachKindWithItsMedian) {
  const std::vector<TransferRow> rows = SummarizeTransfers(RunWithLoads());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].Name(), "load weights 1 MB from host");
  EXPECT_EQ(rows[0].uses, 4);
  EXPECT_EQ(rows[0].median, Time::Us(100));
  EXPECT_EQ(rows[0].max, Time::Us(120));
  EXPECT_EQ(rows[0].total, Time::Us(90 + 100 + 110 + 120));
  EXPECT_DOUBLE_EQ(rows[0].bandwidth(), 1e10);
}

TEST(TransfersTest, AreInTheSummaryIfThereAreAny) {
  const Summary with = Summarize(RunWithLoads()), without = Summarize(FakeRun());
  EXPECT_NE(SummaryText(with).find("load weights 1 MB from host"), std::string::npos);
  EXPECT_NE(SummaryJson(with).find("\"transfers\""), std::string::npos);
  EXPECT_EQ(SummaryText(without).find("loads, stores"), std::string::npos);
  EXPECT_EQ(SummaryJson(without).find("\"transfers\""), std::string::npos);
}

}  // namespace
}  // namespace drydock
