#include "study/table/sweep_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock {
namespace {

using testing::ElementsAre;

SweepRow Row(const std::string& id, const std::string& value, double seconds, double memory) {
  SweepRow row{id, {value}, {}};
  row.record.metrics = {{"iteration_s", seconds}, {"memory_gb", memory}};
  return row;
}

SweepTable Table() {
  SweepTable table;
  table.axes = {"training.recompute"};
  table.metrics = {"iteration_s", "memory_gb"};
  table.rows = {Row("a", "none", 2, 90), Row("b", "full", 3, 40), Row("c", "=1+1", 3.5, 50),
                Row("d", "x,\"y\"", 0, 0), Row("e", "z", 1.0 / 3, 95)};
  table.rows[3].record = {{}, PointState::kRefused, "no such value", {}};
  table.rows[4].record.state = PointState::kUnfit;
  return table;
}

std::vector<std::string> IdsOf(const std::vector<const SweepRow*>& rows) {
  std::vector<std::string> ids;
  for (const SweepRow* row : rows) ids.push_back(row->id);
  return ids;
}

TEST(SweepTable, WritesCsv) {
  EXPECT_EQ(CsvOf(Table()),
            "point,training.recompute,state,reason,iteration_s,iteration_low_s,iteration_high_s,"
            "tokens_per_s,tokens_per_s_per_gpu,model_tflops_per_s_per_gpu,mfu,memory_gb,"
            "memory_share,compute_share,exposed_communication_share,host_share,bubble_share,"
            "cost_per_token,cost_per_iteration,energy_per_token_j,gpus,hosts\n"
            "a,none,done,,2,,,,,,,90,,,,,,,,,,\n"
            "b,full,done,,3,,,,,,,40,,,,,,,,,,\n"
            "c,'=1+1,done,,3.5,,,,,,,50,,,,,,,,,,\n"
            "d,\"x,\"\"y\"\"\",refused,no such value,,,,,,,,,,,,,,,,,,\n"
            "e,z,does not fit,,0.3333333,,,,,,,95,,,,,,,,,,\n");
}

TEST(SweepTable, RanksByTheFirstMetric) {
  EXPECT_THAT(IdsOf(Ranked(Table())), ElementsAre("a", "b", "c"));
  SweepTable table = Table();
  table.metrics = {"memory_gb"};
  EXPECT_THAT(IdsOf(Ranked(table)), ElementsAre("b", "c", "a"));
}

TEST(SweepTable, KeepsWhatNoOtherPointBeats) {
  EXPECT_THAT(IdsOf(ParetoFront(Table(), "iteration_s", "memory_gb")), ElementsAre("a", "b"));
}

TEST(SweepTable, SaysWhatMetricsNeed) {
  SweepTable table = Table();
  table.metrics = {"memory_gb", "mfu", "cost_per_token"};
  EXPECT_THAT(MissingMetrics(table),
              ElementsAre("no point has cost_per_token: it needs 'cost' with a price in the "
                          "cluster file"));
  table.rows[1].record.metrics.emplace_back("cost_per_token", 1e-7);
  EXPECT_TRUE(MissingMetrics(table).empty());
  table.rows.erase(table.rows.begin(), table.rows.begin() + 3);  // none is done
  EXPECT_TRUE(MissingMetrics(table).empty());
}

TEST(SweepTable, ShowsTheBestPoints) {
  EXPECT_EQ(TextOf(Table(), 2),
            "training.recompute  iteration_s  memory_gb\n"
            "              none            2         90\n"
            "              full            3         40\n"
            "... 1 more\n"
            "5 points: 3 done, 1 do not fit, 1 refused\n");
}

}  // namespace
}  // namespace drydock
