#include "report/page/page_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using nlohmann::json;

json DataOf(const Inputs& inputs, const std::vector<int>& ranks) {
  return json::parse(PageData(inputs, Summarize(inputs), ranks));
}

const json& LaneOf(const json& data, int rank, const std::string& stream) {
  for (const json& lane : data["lanes"]) {
    if (lane["rank"] == rank && lane["stream"] == stream) return lane;
  }
  ADD_FAILURE() << "no lane of rank " << rank << ", " << stream;
  return data;
}

// Rank 0 computes forward from 0 to 100 us and backward from 450 to 600 us.
TEST(PageData, ALaneHasTheOpsOfAStream) {
  const json data = DataOf(FakeRun(), {0, 2});
  const json& bars = LaneOf(data, 0, "compute")["bars"];
  ASSERT_EQ(bars.size(), 14u);
  EXPECT_EQ(bars[0], 0);
  EXPECT_EQ(bars[2], 100'000);
  EXPECT_EQ(bars[7], 350'000);  // after the end of the forward pass
  EXPECT_EQ(bars[9], 150'000);
  EXPECT_EQ(data["names"][bars[3].get<size_t>()][1], "forward");
  EXPECT_EQ(data["names"][bars[10].get<size_t>()][1], "backward");
  EXPECT_EQ(data["grain"], 0);
}

TEST(PageData, EqualLanesAreWrittenOnce) {
  const json data = DataOf(FakeRun(), {2, 3});
  EXPECT_TRUE(LaneOf(data, 2, "compute")["bars"].is_array());
  EXPECT_TRUE(LaneOf(data, 3, "compute")["bars"].is_number());
}

TEST(PageData, MessagesLeadFromSendToReceive) {
  const json data = DataOf(FakeRun(), {0, 2});
  EXPECT_EQ(data["messages"]["all"], 2);
  const json& first = data["messages"]["list"][0];
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(first[3], 2);
  EXPECT_EQ(first[5], 205'000);
}

TEST(PageData, ThePathTakesTheIteration) {
  const json data = DataOf(FakeRun(), {0});
  int64_t sum = 0;
  for (const json& step : data["path"]) sum += step[0].get<int64_t>();
  EXPECT_EQ(sum, data["iteration"]);
  EXPECT_EQ(sum, 600'000);
}

TEST(PageData, ManyRanksAreEvenlyChosenFromFirstToLast) {
  EXPECT_EQ(EvenlyChosen(3, 32), (std::vector<size_t>{0, 1, 2}));
  const std::vector<size_t> rows = EvenlyChosen(100, 32);
  EXPECT_EQ(rows.size(), 32u);
  EXPECT_EQ(rows.front(), 0u);
  EXPECT_EQ(rows.back(), 99u);
}

TEST(PageData, MemoryIsThatOfTheRankThatTheWorkloadKnows) {
  Inputs inputs = FakeRun();
  EXPECT_TRUE(DataOf(inputs, {0})["memory"].is_null());
  inputs.workload.memory = {{{"parameters", Bytes(1000)}}, {{"parameters", Bytes(2000)}}};
  MemoryCurve& curve = inputs.memory_curve.emplace();
  curve.class_index = 1;
  for (size_t i = 0; i < inputs.program_of(2).ops.size(); ++i) {
    curve.allocated.emplace_back(1000 + static_cast<int64_t>(i));
  }
  const json memory = DataOf(inputs, {0})["memory"];
  EXPECT_EQ(memory["rank"], 2);
  EXPECT_EQ(memory["needed"], 2000);
  EXPECT_GE(memory["curve"].size(), 2u);
}

}  // namespace
}  // namespace drydock
