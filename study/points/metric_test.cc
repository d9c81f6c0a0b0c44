#include "study/points/metric.h"

#include <gtest/gtest.h>

#include <set>

namespace drydock {
namespace {

Summary Example() {
  Summary summary;
  summary.rates.iteration = Time::Us(2'000'000);
  summary.rates.tokens_per_second = 4096;
  summary.cluster.ranks = 16;
  summary.cluster.hosts = 2;
  summary.memory = MemoryFacts{{0, Bytes(40'000'000'000), Bytes(80'000'000'000)}, {}, {}};
  summary.cost.emplace().token = 2.5e-7;
  summary.cost->iteration = 0.25;
  const auto part = [&](const std::string& name) -> PartSummary& {
    for (int i = 0; i < kPartCount; ++i) {
      if (PartName(i) == name) return summary.parts[static_cast<size_t>(i)];
    }
    ADD_FAILURE() << name;
    return summary.parts[0];
  };
  part("compute").mean = Time::Us(1'000'000);
  part("exposed tensor").mean = Time::Us(200'000);
  part("exposed data").mean = Time::Us(200'000);
  part("exposed memory").mean = Time::Us(100'000);
  part("host").mean = Time::Us(300'000);
  part("bubble").mean = Time::Us(500'000);
  return summary;
}

TEST(Metric, TakesFiguresOfTheSummary) {
  const MetricValues values = ValuesOf(Example());
  EXPECT_EQ(ValueOf(values, "iteration_s"), 2);
  EXPECT_EQ(ValueOf(values, "tokens_per_s"), 4096);
  EXPECT_EQ(ValueOf(values, "memory_gb"), 40);
  EXPECT_EQ(ValueOf(values, "memory_share"), 0.5);
  EXPECT_EQ(ValueOf(values, "compute_share"), 0.5);
  EXPECT_EQ(ValueOf(values, "exposed_communication_share"), 0.2);
  EXPECT_EQ(ValueOf(values, "host_share"), 0.15);
  EXPECT_EQ(ValueOf(values, "bubble_share"), 0.25);
  EXPECT_EQ(ValueOf(values, "gpus"), 16);
  EXPECT_EQ(ValueOf(values, "mfu"), std::nullopt);
  EXPECT_EQ(ValueOf(values, "cost_per_token"), 2.5e-7);
  EXPECT_EQ(ValueOf(values, "cost_per_iteration"), 0.25);
  EXPECT_EQ(ValueOf(values, "energy_per_token_j"), std::nullopt);
}

TEST(Metric, ShowsFourDigits) {
  EXPECT_EQ(FigureText(594'830.2), "594800");
  EXPECT_EQ(FigureText(1234.56), "1235");
  EXPECT_EQ(FigureText(0.48371), "0.4837");
  EXPECT_EQ(FigureText(-99'995), "-100000");
  EXPECT_EQ(FigureText(0), "0");
}

TEST(Metric, HasDistinctNames) {
  std::set<std::string> names;
  for (const Metric& metric : Metrics()) EXPECT_TRUE(names.insert(metric.name).second);
}

TEST(Metric, SuggestsTheNearestName) {
  EXPECT_TRUE(FindMetric("mfu").ok());
  const std::string message = FindMetric("tokens_per_sec").error().message();
  EXPECT_EQ(message.substr(0, message.find("; metrics")),
            "there is no metric 'tokens_per_sec'; did you mean 'tokens_per_s'?");
}

}  // namespace
}  // namespace drydock
