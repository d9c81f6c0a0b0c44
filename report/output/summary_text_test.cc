#include "report/output/summary_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/output/summary_json.h"
#include "report/testing/run_testing.h"

namespace drydock {
namespace {

using Json = nlohmann::json;

TEST(SummaryText, WithoutAPeakThereIsNoUtilisation) {
  Inputs inputs = FakeRun();
  inputs.workload.totals.precision = DataType::kBf16;
  const Summary summary = Summarize(inputs);
  EXPECT_FALSE(summary.rates.mfu.has_value());
  EXPECT_TRUE(Json::parse(SummaryJson(summary))["mfu"].is_null());
  EXPECT_THAT(SummaryText(summary), testing::HasSubstr("MFU unknown: some GPU has no bf16 rate"));
}

TEST(SummaryText, TheBandNamesItsLargestErrors) {
  BandErrors errors;
  errors.coverage = 0.8;
  errors.dense = 0.03;
  errors.kernels[static_cast<size_t>(TimeSource::kScaled)] = 0.2;
  errors.inside_hosts = 0.05;
  // 1.2816 sqrt(pi / 2) sqrt(0.03^2 + (0.342 x 0.2)^2 + (0.308 x 0.05)^2) = 0.1224
  EXPECT_THAT(SummaryText(Summarize(FakeRun(), errors)),
              testing::HasSubstr("iteration time   600 us\n"
                                 "80 % band        530.9 us to 678.1 us\n"
                                 "  errors         whole run 3.0 %, gemm (scaled) 6.8 %, "
                                 "communication inside hosts 1.5 %\n"));
  EXPECT_EQ(SummaryText(Summarize(FakeRun())).find("band "), std::string::npos);
}

TEST(SummaryText, TheBandNamesWhatNobodyMeasured) {
  Inputs inputs = FakeRun();
  for (CommCall& call : inputs.workload.calls) call.buffers = BufferKind::kHybridEp;
  BandErrors errors;
  errors.coverage = 0.8;
  TokenCosts& costs = errors.tokens["hybridep"][inputs.workload.topology.gpus[0].name];
  costs.error = 0.3;
  costs.measured = false;
  const Summary summary = Summarize(inputs, errors);
  EXPECT_THAT(
      SummaryText(summary),
      testing::HasSubstr("  errors         whole run 0.0 %, hybridep inside hosts (assumed) "
                         "9.2 %\n"
                         "  not measured   hybridep inside hosts decides 30.8 % of the "
                         "time; nobody measured its rates, ± 30.0 %\n"));
  for (const auto& model : Json::parse(SummaryJson(summary))["band"]["models"]) {
    const bool exchange = model["name"] == "hybridep inside hosts (assumed)";
    EXPECT_EQ(model.contains("assumed"), exchange) << model;
  }
}

TEST(SummaryText, CompleteText) {
  EXPECT_EQ(SummaryText(Summarize(FakeRun())),
            R"(fake-1b on quad: 4 × test-gpu in 1 host, network packet
TP2 PP2 DP1, 1 micro-batch

iteration time   600 us
tokens           6826667 /s, 1706667 /s per GPU
model FLOPs      40.0 TFLOP/s per GPU, MFU 40.0 % of 100 TFLOPS dense fp16
with recompute   50.0 TFLOP/s per GPU, HFU 50.0 %

where the time goes                 mean     share         largest
  compute                         205 us    34.2 %          260 us  rank 1
  exposed tensor                 42.5 us     7.1 %           50 us  rank 0
  exposed pipeline               77.5 us    12.9 %          100 us  rank 0
  bubble                          175 us    29.2 %          200 us  rank 0
  idle                            100 us    16.7 %          200 us  rank 2

critical path: 69.2 % compute, 13.3 % tensor communication, 17.5 % pipeline communication
  8 steps, 3 from rank to rank, 3 ranks visited

communication (bandwidths in GB/s)       plan              ch  uses   median      max    alg     bus
  tp all-reduce fp16 2 MB over 2         ring LL128         4     2    40 us    40 us   50.0    50.0
  pp-prev send-recv fp16 1 MB            send-recv Simple   1     2    55 us    55 us   18.2    18.2
  pp-next send-recv fp16 1 MB            send-recv Simple   1     2    50 us    50 us   20.0    20.0

kernels                                                        launches        each   share
  gemm 1024x1024x2048 fp16                                            4      150 us  60.0 %  scaled
  gemm 1024x1024x1024 fp16                                            4       60 us  24.0 %  profile
  norm 1024x1024 fp16                                                 4       40 us  16.0 %  model
  times by source: 1 profile (24.0 %), 1 model (16.0 %), 1 scaled (60.0 %)

busiest links                                       used       queue   marked  dropped      paused
  host 0/nic0 to leaf0                            25.0 %       10 KB       30        4     12.5 us

slowdown of messages over an idle network          messages   median    95 %    99 %    most
  up to 64 B                                              6     1.00    1.25    1.50    1.50
  up to 1.049 MB                                          2     2.00    3.00    3.00    3.00

counted: 8 messages, 1000 packets

assumptions
  kernels of test-gpu  1 profile, 1 model, 1 scaled [gpus/test-gpu.yaml]
)");
}

// The parts of the host stand below it, and the path says how much the host decides.
TEST(SummaryText, TheHostsTimeIsToldApart) {
  Inputs inputs = FakeRun();
  inputs.workload.launch.queue = 1;
  for (TimeAccount& account : inputs.timeline.accounts) {
    account.host = Time::Us(60);
    account.host_time.of(HostCause::kCode) = Time::Us(45);
    account.host_time.of(HostCause::kValues) = Time::Us(15);
  }
  const Summary summary = Summarize(inputs);
  EXPECT_THAT(
      SummaryText(summary),
      testing::HasSubstr("  host                             60 us    10.0 %           60 us"
                         "  rank 0\n"
                         "    module code                    45 us     7.5 %           45 us"
                         "  rank 0\n"
                         "    after a value                  15 us     2.5 %           15 us"
                         "  rank 0\n"
                         "  bubble "));
  EXPECT_THAT(
      SummaryText(summary),
      testing::HasSubstr("\n  not launch-bound: the host decides 0.0 % of the iteration\n"));
  const Json host = Json::parse(SummaryJson(summary))["host"];
  EXPECT_EQ(host["verdict"], "not launch-bound");
  EXPECT_EQ(host["decides_share"], 0);
  EXPECT_EQ(host["time"]["module_code"]["mean_s"], 45e-6);
  EXPECT_EQ(host["time"]["waiting_for_data"]["mean_s"], 0);
}

TEST(SummaryText, PyTorchsPeaksStandBelowTheMemory) {
  Inputs inputs = FakeRun();
  inputs.workload.memory = {{{"parameters", Bytes(10'000'000'000)}},
                            {{"parameters", Bytes(20'000'000'000)}}};
  inputs.workload.pytorch = {{Bytes(9'000'000'000), Bytes(9'500'000'000)},
                             {Bytes(18'000'000'000), Bytes(19'250'000'000)}};
  const Summary summary = Summarize(inputs);
  EXPECT_THAT(SummaryText(summary),
              testing::HasSubstr("memory           20.0 GB of 80.0 GB: fits on the fullest ranks\n"
                                 "  PyTorch        max_memory_allocated 18.00 GB, "
                                 "max_memory_reserved 19.25 GB\n"));
  const Json memory = Json::parse(SummaryJson(summary))["memory"];
  EXPECT_EQ(memory["max_memory_allocated_bytes"], 18'000'000'000);
  EXPECT_EQ(memory["max_memory_reserved_bytes"], 19'250'000'000);
}

TEST(SummaryText, ALongAssumptionGoesOnBelowItsValue) {
  Inputs inputs = FakeRun();
  inputs.workload.assumptions = {{"costs", std::string(40, 'a') + " " + std::string(40, 'b'), "f"}};
  const Summary summary = Summarize(inputs);
  EXPECT_THAT(SummaryText(summary),
              testing::HasSubstr("\n  costs                " + std::string(40, 'a') + "\n" +
                                 std::string(23, ' ') + std::string(40, 'b') + " [f]\n"));
  const Json entries = Json::parse(SummaryJson(summary))["assumptions"]["entries"];
  EXPECT_EQ(entries[1]["name"], "costs");
  EXPECT_EQ(entries[1]["source"], "f");
}

TEST(SummaryText, SaysHowManyCallsItLeavesOut) {
  Summary summary = Summarize(FakeRun());
  summary.collectives.resize(14, summary.collectives[0]);
  EXPECT_THAT(SummaryText(summary), testing::HasSubstr("\n  and 2 calls more in summary.json\n"));
}

TEST(SummaryText, ARunThatWasStoppedHasNoRates) {
  Inputs inputs = FakeRun();
  inputs.timeline.stopped = inputs.timeline.iteration;
  inputs.timeline.ops_ended = 17;
  const Summary summary = Summarize(inputs);
  EXPECT_THAT(SummaryText(summary),
              testing::HasSubstr("\n\nstopped at       600 us: 17 of 20 ops had ended\n\nwhere"));
  const Json json = Json::parse(SummaryJson(summary));
  EXPECT_EQ(json["stopped_s"], 0.0006);
  EXPECT_EQ(json["ops_ended"], 17);
  EXPECT_EQ(json["tokens_per_s"], 0);
  EXPECT_TRUE(json["mfu"].is_null());
}

// Links were in use for 150 us of 1200.
TEST(SummaryText, ShowsSeveralIterations) {
  Inputs inputs = FakeRun();
  inputs.timeline.iterations = {Time::Us(500), Time::Us(100), Time::Us(600)};
  const Summary summary = Summarize(inputs);
  EXPECT_THAT(SummaryText(summary),
              testing::HasSubstr("\niterations       3, from 100 us to 600 us, 400 us on average; "
                                 "rates use the average, the rest the last iteration\n"));
  EXPECT_THAT(SummaryText(summary), testing::HasSubstr(" 12.5 %       10 KB"));
  const Json json = Json::parse(SummaryJson(summary));
  EXPECT_EQ(json["iterations_s"].size(), 3u);
  EXPECT_EQ(json["iteration_time_ps"], inputs.timeline.iteration.ps());
  EXPECT_DOUBLE_EQ(json["tokens_per_s"], static_cast<double>(summary.job.tokens) / 400e-6);
}

TEST(SummaryText, ARunWithoutBubblesSaysSo) {
  Summary summary = Summarize(FakeRun());
  summary.parts[kPartCount - 2] = {};
  EXPECT_THAT(SummaryText(summary),
              testing::HasSubstr("\n  bubble                            none\n"));
}

TEST(SummaryText, LongListsOfCountersAreWrapped) {
  Summary summary = Summarize(FakeRun());
  summary.assumptions.clear();
  summary.network.counters.assign(3, {"slices of messages", 1234567890});  // 100 columns
  EXPECT_THAT(SummaryText(summary),
              testing::EndsWith("\ncounted: 1234567890 slices of messages, 1234567890 slices of "
                                "messages, 1234567890 slices of messages\n"));
  summary.network.counters.back().second *= 10;
  EXPECT_THAT(SummaryText(summary),
              testing::EndsWith(" messages,\n  12345678900 slices of messages\n"));
}

TEST(SummaryText, AnIterationWithoutCommunicationHasNoTableOfIt) {
  Summary summary = Summarize(FakeRun());
  summary.collectives.clear();
  EXPECT_THAT(SummaryText(summary), testing::Not(testing::HasSubstr("communication (")));
}

}  // namespace
}  // namespace drydock
