#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/fake_run.h"

namespace drydock {
namespace {

using testing::HasSubstr;

// The same run but for a forward pass on ranks 0 and 1 that ends the iteration 60 us later.
Inputs SlowerRun() {
  Inputs inputs = FakeRun();
  inputs.timeline.iteration += Time::Us(60);
  for (TimeAccount& account : inputs.timeline.accounts) account.compute += Time::Us(60);
  for (const size_t rank : {0, 1}) inputs.timeline.ranks[rank].end[4] += Time::Us(60);
  return inputs;
}

Comparison Compared() { return Compare(Summarise(FakeRun()), Summarise(SlowerRun()), "runs/b"); }

TEST(Compare, SaysWhatDiffers) {
  const Comparison comparison = Compared();
  EXPECT_EQ(comparison.parts[0].name, "compute");
  EXPECT_EQ(comparison.parts[0].here, Time::Us(205));
  EXPECT_EQ(comparison.parts[0].there, Time::Us(265));
  EXPECT_EQ(comparison.path[0].there - comparison.path[0].here, Time::Us(60));
  EXPECT_EQ(Change(comparison.here.iteration, comparison.there.iteration), "+10.00 %");
}

TEST(Compare, ACallThatOneRunLacksHasNoTimeThere) {
  Summary other = Summarise(FakeRun());
  other.collectives.erase(other.collectives.begin());
  const Comparison comparison = Compare(Summarise(FakeRun()), other, "b");
  ASSERT_EQ(comparison.calls.size(), 3u);
  EXPECT_EQ(comparison.calls[0].here, Time::Us(40));
  EXPECT_EQ(comparison.calls[0].there, Time());
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
  const auto json = nlohmann::json::parse(SummaryJson(Summarise(FakeRun()), &comparison));
  EXPECT_EQ(json["comparison"]["run"], "runs/b");
  EXPECT_EQ(json["comparison"]["iteration_time_s"]["there"], 660e-6);
}

}  // namespace
}  // namespace drydock
