#include "report/output/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/output/summary_json.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using testing::HasSubstr;
using testing::Not;

// The same run, with a forward pass on ranks 0 and 1 that is 60 us longer.
Inputs SlowerRun() {
  Inputs inputs = FakeRun();
  inputs.timeline.iteration += Time::Us(60);
  for (TimeAccount& account : inputs.timeline.accounts) account.compute += Time::Us(60);
  for (const size_t rank : {0, 1}) inputs.timeline.ranks[rank].end[4] += Time::Us(60);
  return inputs;
}

Comparison Compared() { return Compare(Summarize(FakeRun()), Summarize(SlowerRun()), "runs/b"); }

TEST(Compare, SaysWhatDiffers) {
  const Comparison comparison = Compared();
  EXPECT_EQ(comparison.parts[0].name, "compute");
  EXPECT_EQ(comparison.parts[0].here, Time::Us(205));
  EXPECT_EQ(comparison.parts[0].there, Time::Us(265));
  EXPECT_EQ(*comparison.path[0].there - *comparison.path[0].here, Time::Us(60));
  EXPECT_EQ(Change(600, 660), "+10.00 %");
  // The base, the other run, takes 660 us: this run is faster.
  EXPECT_NEAR(*ComparedTime({"iteration", Time::Us(600), Time::Us(660)}).Change(), -60.0 / 660,
              1e-12);
}

// The other run lacks the largest call, and has a call that this run lacks.
Comparison WithOtherCalls() {
  Summary here = Summarize(FakeRun()), there = Summarize(FakeRun());
  there.collectives.erase(there.collectives.begin());
  here.collectives.pop_back();
  return Compare(here, there, "b");
}

TEST(Compare, ACallThatOneRunLacksHasNoTimeThere) {
  const Comparison comparison = WithOtherCalls();
  ASSERT_EQ(comparison.calls.size(), 3u);
  EXPECT_EQ(comparison.calls[0].here, Time::Us(40));
  EXPECT_EQ(comparison.calls[0].there, std::nullopt);
  EXPECT_EQ(comparison.calls[2].here, std::nullopt);
  EXPECT_NE(comparison.calls[2].there, std::nullopt);
}

TEST(Compare, ATimeThatOneRunLacksIsNoneAndHasNoChange) {
  const Comparison comparison = WithOtherCalls();
  EXPECT_THAT(ComparisonText(comparison), HasSubstr("         40 us          none            \n"));
  const auto json = nlohmann::json::parse(SummaryJson(Summarize(FakeRun()), &comparison));
  EXPECT_EQ(json["comparison"]["collectives"][0]["here_s"], 40e-6);
  EXPECT_TRUE(json["comparison"]["collectives"][0]["there_s"].is_null());
  EXPECT_TRUE(json["comparison"]["collectives"][0]["change_share"].is_null());
}

TEST(Compare, TextHasOnlyTheFirstCalls) {
  Comparison comparison = Compared();
  comparison.calls.clear();
  for (int i = 0; i < 14; ++i) {
    comparison.calls.push_back({"call " + std::to_string(i), Time::Us(1), Time::Us(1)});
  }
  EXPECT_THAT(ComparisonText(comparison), Not(HasSubstr("call 12")));
  EXPECT_THAT(ComparisonText(comparison), HasSubstr("\n  and 2 calls more in summary.json\n"));
}

TEST(Compare, IsInTheTextAndTheJson) {
  const Comparison comparison = Compared();
  EXPECT_THAT(
      ComparisonText(comparison),
      HasSubstr("\n  iteration                                         600 us        660 us "
                "    -9.09 %\n"));
  const auto json = nlohmann::json::parse(SummaryJson(Summarize(FakeRun()), &comparison));
  EXPECT_EQ(json["comparison"]["run"], "runs/b");
  EXPECT_EQ(json["comparison"]["iteration_time_s"]["there"], 660e-6);
  EXPECT_NEAR(json["comparison"]["iteration_time_s"]["change_share"].get<double>(), -60.0 / 660,
              1e-12);
}

}  // namespace
}  // namespace drydock
