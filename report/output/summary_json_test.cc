#include "report/output/summary_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/output/summary_text.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using Json = nlohmann::json;

TEST(SummaryJson, CongestionControlIsNullWithoutAPacketNetwork) {
  Inputs inputs = FakeRun();
  inputs.workload.topology.transport.congestion_control = CongestionControl::kDcqcn;
  const auto written = [&inputs] {
    return Json::parse(SummaryJson(Summarize(inputs)))["assumptions"]["congestion_control"];
  };
  EXPECT_EQ(written(), "dcqcn");
  inputs.timeline.network = "analytical";
  EXPECT_TRUE(written().is_null());
}

TEST(SummaryJson, HoldsTheNumbersUnderTheirDocumentedKeys) {
  const Json json = Json::parse(SummaryJson(Summarize(FakeRun())));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["iteration_time_s"], 0.0006);
  EXPECT_EQ(json["iteration_time_ps"], 600000000);
  EXPECT_EQ(json["gpus"], 4);
  EXPECT_EQ(json["time"]["exposed_tensor"]["mean_s"], 42.5e-6);
  EXPECT_EQ(json["time"]["bubble"]["max_rank"], 0);
  EXPECT_EQ(json["classes"][1]["layers"], "1");
  EXPECT_EQ(json["classes"][1]["mean"]["idle_s"], 0.0002);
  EXPECT_EQ(json["collectives"][0]["bus_bandwidth_gb_per_s"], 50.0);
  EXPECT_EQ(json["collectives"][1]["median_us"], 55.0);
  EXPECT_EQ(json["kernels"]["by_source"]["scaled"]["kernels"], 1);
  EXPECT_EQ(json["network_counters"]["packets"], 1000);
  EXPECT_EQ(json["busiest_links"][0]["from"], "host 0/nic0");
  EXPECT_EQ(json["busiest_links"][0]["utilisation"], 0.25);
  EXPECT_EQ(json["busiest_links"][0]["paused_us"], 12.5);
  EXPECT_EQ(json["busiest_links"][0]["repeated"], 2);
  EXPECT_EQ(json["message_slowdowns"][1]["bytes_up_to"], 1 << 20);
  EXPECT_EQ(json["message_slowdowns"][0]["p95"], 1.25);
  EXPECT_EQ(json["assumptions"]["gpus"][0]["source"], "made up for a test");
}

TEST(SummaryJson, HasTheMemoryOfTheFullestRanks) {
  Inputs run = FakeRun();
  const auto unknown = nlohmann::json::parse(SummaryJson(Summarize(run)));
  EXPECT_TRUE(unknown["memory"].is_null());
  EXPECT_EQ(unknown["memory_unknown"], "the workload does not state it");
  EXPECT_EQ(SummaryText(Summarize(run)).find("memory  "), std::string::npos);
  for (GpuSpec& gpu : run.workload.topology.gpus) gpu.memory = Bytes(80000000000);
  run.workload.memory = {{{"parameters", Bytes(50000000000)}, {"cuda context", Bytes(600000000)}},
                         {{"parameters", Bytes(90000000000)}, {"cuda context", Bytes(600000000)}}};
  const Summary summary = Summarize(run);
  EXPECT_FALSE(nlohmann::json::parse(SummaryJson(summary)).contains("memory_unknown"));
  const auto json = nlohmann::json::parse(SummaryJson(summary))["memory"];
  EXPECT_EQ(json["fits"], false);
  EXPECT_EQ(json["class"], 1);
  EXPECT_EQ(json["needed_bytes"], 90600000000);
  EXPECT_EQ(json["gpu_bytes"], 80000000000);
  EXPECT_EQ(json["parts"]["cuda_context_bytes"], 600000000);
  EXPECT_NE(SummaryText(summary).find(
                "memory           90.6 GB of 80.0 GB: does NOT fit on the fullest ranks\n"),
            std::string::npos);
}

// Four GPUs at 1800 USD an hour; 600 us and 4096 tokens an iteration.
TEST(SummaryJson, HasTheCostThatTheClusterStates) {
  Inputs run = FakeRun();
  EXPECT_FALSE(Json::parse(SummaryJson(Summarize(run))).contains("cost"));
  EXPECT_EQ(SummaryText(Summarize(run)).find("cost  "), std::string::npos);
  Cost& cost = run.workload.topology.cost.emplace();
  cost.currency = "USD";
  cost.gpu_hour = {1800, "list"};
  const Summary rented = Summarize(run);
  const Json json = Json::parse(SummaryJson(rented))["cost"];
  EXPECT_EQ(json["currency"], "USD");
  EXPECT_EQ(json["per_hour"], 7200.0);
  EXPECT_EQ(json["parts_per_hour"]["rent"], 7200.0);
  EXPECT_DOUBLE_EQ(json["per_iteration"], 0.0012);
  EXPECT_DOUBLE_EQ(json["per_token"], 0.0012 / 4096);
  EXPECT_FALSE(json.contains("power_w"));
  EXPECT_NE(SummaryText(rented).find(
                "cost             7200 USD an hour\n"
                "  of training    0.0012 USD an iteration, 0.293 a million tokens\n"),
            std::string::npos)
      << SummaryText(rented);
  EXPECT_NE(SummaryText(rented).find("1800 USD an hour [list]"), std::string::npos);

  cost.power = {{700, "a"}, {1200, "b"}, {}, {}, {1.25, "c"}};
  cost.electricity = {0.1, "d"};
  const Summary both = Summarize(run);
  const Json energy = Json::parse(SummaryJson(both))["cost"];
  EXPECT_EQ(energy["parts_w"]["GPUs"], 2800.0);
  EXPECT_EQ(energy["power_w"], 5000.0);
  EXPECT_DOUBLE_EQ(energy["energy_per_iteration_j"], 3.0);
  EXPECT_EQ(energy["parts_per_hour"]["electricity"], 0.5);
  EXPECT_NE(
      SummaryText(both).find("cost             7200 USD an hour (rent 7200, electricity 0.5)\n"),
      std::string::npos)
      << SummaryText(both);
  EXPECT_NE(
      SummaryText(both).find("power            5 kW at the meter\n"
                             "  energy         8.333e-07 kWh an iteration, 0.0007324 J a token\n"),
      std::string::npos)
      << SummaryText(both);
}

TEST(SummaryJson, KeysAreInOrder) {
  const auto json = nlohmann::ordered_json::parse(SummaryJson(Summarize(FakeRun())));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"format",
                                            "model",
                                            "layout",
                                            "precision",
                                            "parameters",
                                            "cluster",
                                            "hosts",
                                            "gpus",
                                            "network",
                                            "iteration_time_s",
                                            "iteration_time_ps",
                                            "tokens_per_iteration",
                                            "tokens_per_s",
                                            "tokens_per_s_per_gpu",
                                            "model_flops_per_iteration",
                                            "hardware_flops_per_iteration",
                                            "model_tflops_per_s_per_gpu",
                                            "hardware_tflops_per_s_per_gpu",
                                            "peak_tflops_per_s_per_gpu",
                                            "mfu",
                                            "hfu",
                                            "memory",
                                            "memory_unknown",
                                            "time",
                                            "host",
                                            "classes",
                                            "critical_path",
                                            "collectives",
                                            "kernels",
                                            "network_counters",
                                            "busiest_links",
                                            "message_slowdowns",
                                            "assumptions"}));
}

}  // namespace
}  // namespace drydock
