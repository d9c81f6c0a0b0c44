#include "study/goodput/goodput_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace drydock {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

class GoodputOutput : public testing::Test {
 protected:
  GoodputOutput() {
    run_.run = "runs/toy";
    run_.step = 2;
    run_.network = "fluid";
    run_.workload.totals.tokens = 4000;
    run_.workload.totals.model_name = "toy";
    run_.workload.topology.name = "box";
    run_.workload.topology.host_kinds.resize(1);
    run_.workload.topology.host_kinds[0].gpus = 8;
    run_.workload.topology.hosts = {0, 0};
    model_.name = "rates";
    model_.rates[0].per_year = {0.5, "list"};
    model_.recovery.start = {60, "log"};
    result_.run = &run_;
    result_.model = &model_;
    result_.question.days = 10;
    MonthPlan& plan = result_.posed.plan;
    plan.horizon = 864000;
    plan.full = {2, 2, 300, 12, 0};
    plan.hosts = 2;
    plan.start = 60;
    plan.hazards = {{FailingPart::kGpu, 1, 16, 1e-5}, {FailingPart::kSwitch, 2, 1, 0}};
    result_.posed.size.written = 5.7e12;
    result_.posed.times = {12, 30, 1};
    result_.goodput = Simulate(plan, result_.sampling);
  }

  RunFacts run_;
  FailureModel model_;
  GoodputResult result_;
};

TEST_F(GoodputOutput, TextHasWhatFailsAndWhatIsLeft) {
  const std::string text = GoodputText(result_);
  EXPECT_THAT(text, HasSubstr("toy on box: 16 GPUs in 2 hosts, 2 s an iteration\n"
                              "10 days with the failures of rates: wait for the repair of lost "
                              "hosts; 200 samples\n"));
  EXPECT_THAT(text,
              HasSubstr("  gpu                    16          0.5           8.6   its host\n"));
  EXPECT_THAT(text,
              HasSubstr("  switch                  1      unknown       unknown   2 hosts\n"));
  EXPECT_THAT(text, HasSubstr("  one failure every 27.8 h on average\n"));
  EXPECT_THAT(text, HasSubstr("checkpoint       5.7 TB: synchronous, 12 s to write\n"
                              "  every          10 min, 300 steps; Young 25.8 min, Daly "));
  EXPECT_THAT(text, HasSubstr("\n  goodput   "));
  EXPECT_THAT(text, HasSubstr("\n  WASTED_PROGRESS_FROM_DISRUPTION   "));
  EXPECT_THAT(text, Not(HasSubstr("CUSTOM_BADPUT_EVENTS")));
  EXPECT_THAT(text, Not(HasSubstr("at most")));
  EXPECT_THAT(text, Not(HasSubstr("cost")));
}

TEST_F(GoodputOutput, WhatIsUnknownMakesItABound) {
  result_.posed.unknown = {"failures.switch", "recovery.start"};
  const std::string text = GoodputText(result_);
  EXPECT_THAT(text, HasSubstr("unknown, counted as 0: failures.switch, recovery.start\n"));
  EXPECT_THAT(text, HasSubstr("  goodput, at most "));
  EXPECT_THAT(text, HasSubstr("start unknown,"));
  EXPECT_THAT(text, HasSubstr("tokens           at most "));
  const Json json = Json::parse(GoodputJson(result_));
  EXPECT_EQ(json["upper_bound"], true);
  EXPECT_EQ(json["unknown"][0], "failures.switch");
}

TEST_F(GoodputOutput, JsonHasTheVocabulary) {
  const Json json = Json::parse(GoodputJson(result_));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["policy"], "restart");
  EXPECT_EQ(json["upper_bound"], false);
  EXPECT_EQ(json["hazards"][0]["per_year"], 0.5);
  EXPECT_TRUE(json["hazards"][1]["per_year"].is_null());
  EXPECT_EQ(json["recovery"]["start"]["time_s"], 60);
  EXPECT_TRUE(json["recovery"]["repair"]["time_s"].is_null());
  EXPECT_EQ(json["checkpoint"]["interval_s"], 600);
  double sum = json["goodput"]["mean"];
  for (const auto& [type, badput] : json["badput"].items()) {
    if (type != "CUSTOM_BADPUT_EVENTS") sum += badput["mean"].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_TRUE(json["badput"]["CUSTOM_BADPUT_EVENTS"].contains("shrunk"));
  EXPECT_NEAR(json["tokens"]["median"].get<double>(),
              json["goodput"]["median"].get<double>() * 864000 * 2000, 1);
}

// Spare hosts cost as much as the others.
TEST_F(GoodputOutput, CostIsThatOfTheWholeTime) {
  result_.cost.emplace();
  result_.cost->currency = "USD";
  result_.cost->per_hour = 50;
  EXPECT_DOUBLE_EQ(*result_.AmountOf(), 50 * 240);
  EXPECT_THAT(GoodputText(result_), HasSubstr("cost             12000 USD, "));
  EXPECT_EQ(Json::parse(GoodputJson(result_))["cost"]["amount"], 12000.0);
  result_.posed.plan.spares = 1;
  EXPECT_DOUBLE_EQ(*result_.AmountOf(), 50 * 240 * 1.5);
}

}  // namespace
}  // namespace drydock
