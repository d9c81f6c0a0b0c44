#include "core/schema/site/cost_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

const PricedParts kCluster = {true, true, 700, "the GPU's file"};
const PricedParts kOneHost = {false, false, 0, ""};

std::string ErrorOf(const std::string& yaml, const PricedParts& parts = kCluster) {
  Cost cost;
  std::vector<std::string> notes;
  Diagnostics diagnostics;
  ReadCost(ParseYaml(yaml, "f").value(), parts, &cost, &notes, &diagnostics);
  return testing::FirstLine(ErrorText(diagnostics.ToStatus()));
}

Cost Read(const std::string& yaml, const PricedParts& parts = kCluster,
          std::vector<std::string>* notes = nullptr) {
  Cost cost;
  std::vector<std::string> own;
  Diagnostics diagnostics;
  ReadCost(ParseYaml(yaml, "f").value(), parts, &cost, notes == nullptr ? &own : notes,
           &diagnostics);
  EXPECT_EQ(ErrorText(diagnostics.ToStatus()), "ok");
  EXPECT_TRUE(IsCost(cost, parts));
  return cost;
}

constexpr const char* kPower =
    "power: {host: {value: 900 W, source: a}, switch: {value: 800 W, source: b}, optics: {value: "
    "12.5W, source: c}, pue: {value: 1.25, source: d}}\n";

TEST(CostFile, ReadsRentAndPower) {
  const Cost cost = Read(std::string("rent: {gpu: {value: 2.5 USD/h, source: list}}\n") + kPower +
                         "electricity: {value: 0.08 USD/kWh, source: bill}\n");
  EXPECT_EQ(cost.currency, "USD");
  EXPECT_EQ(cost.gpu_hour, (StatedValue{2.5, "list"}));
  EXPECT_EQ(cost.electricity, (StatedValue{0.08, "bill"}));
  EXPECT_EQ(cost.power->gpu, (StatedValue{700, "the GPU's file"}));
  EXPECT_EQ(cost.power->optics, (StatedValue{12.5, "c"}));
  EXPECT_EQ(cost.power->pue, (StatedValue{1.25, "d"}));
  EXPECT_FALSE(cost.capital);
}

TEST(CostFile, ReadsCapital) {
  const Cost cost = Read(
      "capital: {host: {value: 300000 EUR, source: a}, switch: {value: 40000 EUR, source: b}, "
      "optics: {value: 0 EUR, source: in the price of the host}, years: {value: 4, source: c}}\n");
  EXPECT_EQ(cost.currency, "EUR");
  EXPECT_EQ(cost.capital->host.value, 300000);
  EXPECT_EQ(cost.capital->optics->value, 0);
  EXPECT_EQ(cost.capital->years.value, 4);
}

TEST(CostFile, NamesPricesOfPartsThatAreNotThere) {
  std::vector<std::string> notes;
  const Cost cost = Read(
      "capital: {host: {value: 9 USD, source: a}, switch: {value: 8 USD, source: b}, years: "
      "{value: 4, source: c}}\n",
      kOneHost, &notes);
  EXPECT_FALSE(cost.capital->fabric_switch);
  EXPECT_THAT(notes,
              ::testing::ElementsAre("cost.capital.switch has no effect: the fabric has none"));
}

TEST(CostFile, EveryValueHasASource) {
  EXPECT_EQ(ErrorOf("rent: {gpu: 2.5 USD/h}"),
            "f:1:13: error: 'gpu' has a value and says where it comes from: write 'gpu: {value: …, "
            "source: …}'");
  EXPECT_EQ(ErrorOf("rent: {gpu: {value: 2.5 USD/h}}"),
            "f:1:13: error: 'gpu' lacks the key 'source'");
  EXPECT_EQ(ErrorOf("rent: {gpu: {value: 2.5 USD/h, source: ''}}"),
            "f:1:40: error: 'source' is empty; say where the value comes from");
}

TEST(CostFile, ValuesHaveTheirUnits) {
  EXPECT_EQ(ErrorOf("rent: {gpu: {value: 2.5, source: a}}"),
            "f:1:21: error: expected an amount like '2.5 USD/h', found '2.5'");
  EXPECT_EQ(ErrorOf("rent: {gpu: {value: 2.5 usd/h, source: a}}"),
            "f:1:21: error: expected an amount like '2.5 USD/h', found '2.5 usd/h'");
  EXPECT_EQ(ErrorOf("rent: {gpu: {value: -1 USD/h, source: a}}"),
            "f:1:21: error: '-1 USD/h' is not from 0 to 1e9");
  EXPECT_EQ(ErrorOf("power: {gpu: {value: 700, source: a}}"),
            "f:1:22: error: expected a power like '700 W', up to 1 MW, found '700'");
  EXPECT_EQ(ErrorOf("power: {pue: {value: 0.9, source: a}}", kOneHost).substr(0, 12),
            "f:1:8: error");
}

TEST(CostFile, OneCurrency) {
  EXPECT_EQ(ErrorOf(std::string("rent: {gpu: {value: 2.5 USD/h, source: a}}\n") + kPower +
                    "electricity: {value: 0.08 EUR/kWh, source: b}"),
            "f:3:22: error: '0.08 EUR/kWh' is in EUR, and an amount above in USD; state all "
            "amounts in one currency");
}

TEST(CostFile, WhatBelongsTogether) {
  EXPECT_EQ(ErrorOf("{}"),
            "f:1:1: error: 'cost' states nothing; it has 'rent' or 'capital', 'power' and "
            "'electricity'");
  EXPECT_EQ(ErrorOf("rent: {}"),
            "f:1:7: error: 'rent' is the price of a 'gpu' or of a 'host', one of them");
  EXPECT_EQ(ErrorOf("electricity: {value: 1 USD/kWh, source: a}"),
            "f:1:14: error: 'electricity' needs 'power', what the parts draw");
  EXPECT_EQ(ErrorOf("rent: {host: {value: 1 USD/h, source: a}}\ncapital: {host: {value: 1 USD, "
                    "source: a}, years: {value: 4, source: b}}",
                    kOneHost),
            "f:2:10: error: a cluster is rented or bought: leave out 'rent' or 'capital'");
}

TEST(CostFile, WhatTheClusterHasIsStated) {
  EXPECT_EQ(ErrorOf("power: {host: {value: 900 W, source: a}, optics: {value: 9 W, source: a}, "
                    "pue: {value: 1, source: a}}"),
            "f:1:8: error: 'power' lacks the key 'switch'");
  EXPECT_EQ(
      ErrorOf("power: {host: {value: 900 W, source: a}, pue: {value: 1, source: a}}", kOneHost),
      "f:1:8: error: 'power' lacks the key 'gpu'");
}

}  // namespace
}  // namespace drydock
