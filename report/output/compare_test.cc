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
  EXPECT_THAT(ComparisonSection(comparison),
              HasSubstr("<td class=\"n\">40 us</td><td class=\"n\">none</td>"
                        "<td class=\"n\"></td>"));
  const auto json = nlohmann::json::parse(SummaryJson(Summarize(FakeRun()), &comparison));
  EXPECT_EQ(json["comparison"]["collectives"][0]["here_s"], 40e-6);
  EXPECT_TRUE(json["comparison"]["collectives"][0]["there_s"].is_null());
}

TEST(Compare, PageHasAllCallsAndTextOnlyTheFirst) {
  Comparison comparison = Compared();
  comparison.calls.clear();
  for (int i = 0; i < 14; ++i) {
    comparison.calls.push_back({"call " + std::to_string(i), Time::Us(1), Time::Us(1)});
  }
  EXPECT_THAT(ComparisonSection(comparison), HasSubstr("<td>call 13</td>"));
  EXPECT_THAT(ComparisonText(comparison), Not(HasSubstr("call 12")));
  EXPECT_THAT(ComparisonText(comparison), HasSubstr("\n  and 2 calls more in summary.json\n"));
}

TEST(Compare, IsInTheTextThePageAndTheJson) {
  const Comparison comparison = Compared();
  EXPECT_THAT(
      ComparisonText(comparison),
      HasSubstr("\n  iteration                                         600 us        660 us "
                "   +10.00 %\n"));
  EXPECT_THAT(ComparisonSection(comparison),
              HasSubstr("<td>iteration time</td><td class=\"n\">600 us</td>"
                        "<td class=\"n\">660 us</td><td class=\"n\">+10.00 %</td>"));
  const auto json = nlohmann::json::parse(SummaryJson(Summarize(FakeRun()), &comparison));
  EXPECT_EQ(json["comparison"]["run"], "runs/b");
  EXPECT_EQ(json["comparison"]["iteration_time_s"]["there"], 660e-6);
}

}  // namespace
}  // namespace drydock
