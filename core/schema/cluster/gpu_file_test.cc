#include "core/schema/cluster/gpu_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::FirstLine;

// Returns the error of the toy GPU with one piece of its text replaced.
std::string ErrorWith(const std::string& from, const std::string& to) {
  return ErrorText(ParseGpuFile(testing::Replaced(testing::ToyGpuText(), from, to), "toy.yaml"));
}

TEST(GpuFileTest, EveryShippedSpecificationReads) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("configs/gpus")) {
    const Result<GpuSpec> spec = ParseGpuFile(*ReadFile(entry.path()), entry.path());
    ASSERT_TRUE(spec.ok()) << spec.error().ToString();
    EXPECT_EQ(spec->name, entry.path().stem()) << "a GPU is found by its file's name";
    EXPECT_FALSE(spec->source.empty());
    EXPECT_TRUE(spec->reference.empty() || FileExists("configs/gpus/" + spec->reference + ".yaml"))
        << spec->reference;
    ++count;
  }
  EXPECT_GE(count, 10);
}

TEST(GpuFileTest, FieldsAndDefaults) {
  const Result<GpuSpec> spec = ParseGpuFile(testing::ToyGpuText(), "toy.yaml");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->dense_rate[static_cast<int>(DataType::kBf16)].flops_per_second(), 8e12);
  EXPECT_EQ(spec->dense_rate[static_cast<int>(DataType::kFp8)].flops_per_second(), 0);
  EXPECT_EQ(spec->l2.count(), 4 << 20);
  EXPECT_FALSE(spec->has_collective_costs);
  EXPECT_EQ(spec->file_text, testing::ToyGpuText());
}

TEST(GpuFileTest, ClockNeedsAUnit) {
  const auto with = [](const std::string& clock) {
    return ParseGpuFile(
        testing::Replaced(testing::ToyGpuText(), "sms: 4", "sms: 4\n  clock: " + clock), "t.yaml");
  };
  EXPECT_EQ(with("1410 MHz")->clock_mhz, 1410);
  EXPECT_EQ(ParseGpuFile(testing::ToyGpuText(), "t.yaml")->clock_mhz, 0);
  EXPECT_EQ(with("1.4 GHz").error().message(), "expected a clock like '1410 MHz', found '1.4 GHz'");
}

TEST(GpuFileTest, MistakesShowTheirPlace) {
  EXPECT_EQ(ErrorWith("  sms: 4\n", ""),
            "toy.yaml:2:3: error: 'gpu' lacks the key 'sms'\n"
            "    name: toy\n"
            "    ^");
  EXPECT_EQ(ErrorWith("sms: 4", "sms: 0"),
            "toy.yaml:5:8: error: 'sms' is 0; it must be between 1 and 4096\n"
            "    sms: 0\n"
            "         ^");
  EXPECT_EQ(ErrorWith("compute_capability: 90", "compute_capability: 9.0"),
            "toy.yaml:4:23: error: '9.0' is not a whole number\n"
            "    compute_capability: 9.0\n"
            "                        ^");
  EXPECT_EQ(ErrorWith("bf16: 8 TFLOPS", "bf17: 8 TFLOPS"),
            "toy.yaml:6:27: error: unknown key 'bf17' in 'dense'; did you mean 'bf16'?; valid keys "
            "are fp32, tf32, fp16, bf16, fp8, int8, int32, int64, fp64, fp8-e5m2, uint8, uint32, "
            "uint64, mxfp8, nvfp4\n"
            "    dense: {fp32: 1 TFLOPS, bf17: 8 TFLOPS}\n"
            "                            ^");
  EXPECT_EQ(ErrorWith("bandwidth: 100 GB/s", "bandwidth: 100 GB"),
            "toy.yaml:7:35: error: 'GB' is not a bandwidth unit; did you mean 'GB/s'?; valid "
            "units are bps, Kbps, Mbps, Gbps, Tbps, B/s, KB/s, MB/s, GB/s, TB/s\n"
            "    memory: {size: 1 GB, bandwidth: 100 GB}\n"
            "                                    ^");
}

TEST(GpuFileTest, RejectsZeroSizesAndRates) {
  EXPECT_EQ(FirstLine(ErrorWith("size: 1 GB", "size: 0 GB")),
            "toy.yaml:7:18: error: 'size' is 0 B; it must be above 0 B");
  EXPECT_EQ(FirstLine(ErrorWith("bandwidth: 100 GB/s", "bandwidth: 0 GB/s")),
            "toy.yaml:7:35: error: 'bandwidth' is 0 bps; it must be at least 1 Mbps");
  EXPECT_EQ(FirstLine(ErrorWith("l2: 4 MiB", "l2: 0 MiB")),
            "toy.yaml:8:7: error: 'l2' is 0 B; it must be above 0 B");
  EXPECT_EQ(FirstLine(ErrorWith("pcie: 16 GB/s", "pcie: 0 GB/s")),
            "toy.yaml:10:9: error: 'pcie' is 0 bps; it must be at least 1 Mbps");
}

// A GPU's file needs the section `collectives`, or a reference that has it.
TEST(GpuFileTest, RequiresCollectiveCosts) {
  EXPECT_EQ(
      ErrorWith("collectives: none\n", ""),
      "toy.yaml:1:1: error: 'collectives' is missing; state the costs of NCCL's kernels, 'none' "
      "if they are unknown, or in 'gpu' a 'reference' that has them\n"
      "  gpu:\n"
      "  ^");
  EXPECT_EQ(FirstLine(ErrorWith("source: made up\n", "source: made up\n  reference: tin\n")),
            "toy.yaml:13:14: error: 'none' contradicts the 'reference', whose costs apply");
  EXPECT_EQ(
      FirstLine(ErrorWith("collectives: none", "collectives: nine")),
      "toy.yaml:12:14: error: 'collectives' must be a section of keys and values, found a single "
      "value");
  EXPECT_TRUE(ParseGpuFile(testing::Replaced(testing::ToyGpuText(), "collectives: none\n",
                                             "  reference: tin\n"),
                           "toy.yaml")
                  .ok());
}

TEST(GpuFileTest, ReportsIncompleteCollectiveCosts) {
  std::string text = testing::Replaced(testing::ToyGpuText(), "collectives: none\n",
                                       "collectives:\n"
                                       "  source: x\n"
                                       "  link_efficiency: 1.5\n"
                                       "  several_peers: 1e-7\n");
  for (const char* name : {"simple", "ll", "ll128", "p2p_simple"}) {
    text += std::string("  ") + name + ": {base: 1 us, step: 1 us, pass: 256 B, pass_time: 1 us}\n";
  }
  text +=
      "  p2p_ll: {base: 1 us, step: 1 us, send: 0 GB/s, copy_send: 1 GB/s, reduce_send: 1 GB/s}\n";
  text += "  clear_to_send: 64 B\n";
  EXPECT_EQ(ErrorText(ParseGpuFile(text, "toy.yaml")),
            "toy.yaml:20:42: error: 'send' is 0 bps; it must be at least 1 Mbps\n"
            "    p2p_ll: {base: 1 us, step: 1 us, send: 0 GB/s, copy_send: 1 GB/s, reduce_send: 1 "
            "GB/s}\n"
            "                                           ^\n"
            "toy.yaml:20:11: error: 'p2p_ll' lacks the key 'receive'\n"
            "    p2p_ll: {base: 1 us, step: 1 us, send: 0 GB/s, copy_send: 1 GB/s, reduce_send: 1 "
            "GB/s}\n"
            "            ^\n"
            "toy.yaml:14:20: error: 'link_efficiency' is a share of the link: from 0.01 to 1\n"
            "    link_efficiency: 1.5\n"
            "                     ^\n"
            "toy.yaml:15:18: error: 'several_peers' is a share of the link: from 0.01 to 1\n"
            "    several_peers: 1e-7\n"
            "                   ^");
}

TEST(GpuFileTest, CopyEnginesCostAStartAndARate) {
  const Result<GpuSpec> h100 =
      ParseGpuFile(*ReadFile("configs/gpus/h100-sxm-80g.yaml"), "h100-sxm-80g.yaml");
  ASSERT_TRUE(h100.ok());
  const CollectiveCosts::Protocol& copy = h100->collectives.copy_engine;
  EXPECT_EQ(copy.base, Time::Us(4));
  EXPECT_EQ(copy.step, Time());
  EXPECT_EQ(copy.receive, Bandwidth::BitsPerSecond(376 * 8'000'000'000));
  std::string text = *ReadFile("configs/gpus/h100-sxm-80g.yaml");
  text = testing::Replaced(text, "copy_engine: {start: 4 us, rate: 376 GB/s}",
                           "copy_engine: {start: 4 us, rate: 0 GB/s}");
  EXPECT_NE(ErrorText(ParseGpuFile(text, "t.yaml")).find("'rate' is 0 bps; it must be at least"),
            std::string::npos);
}

// ---- Limits that a host sets -----------------------------------------------------------------

Result<ClusterInput> ClusterWith(const std::string& keys, bool stated = true) {
  auto files = testing::ToyFiles();
  if (stated) {
    files[0].second = testing::Replaced(files[0].second, "sms: 4\n", "sms: 4\n  clock: 1830 MHz\n");
    files[0].second += "scaling: {power_limit: 700 W, source: made up}\n";
  }
  return ParseCluster(
      testing::Replaced(testing::ToyClusterText(), "    gpus: 2\n", "    gpus: 2\n" + keys),
      "toys.topo", files);
}

std::string LimitsError(const std::string& keys, bool stated = true) {
  return testing::FirstLine(testing::ErrorText(ClusterWith(keys, stated)));
}

TEST(GpuLimits, AHostLimitsItsGpus) {
  const auto limits = [](const std::string& keys) {
    const Result<ClusterInput> cluster = ClusterWith(keys);
    EXPECT_TRUE(cluster.ok()) << cluster.error().ToString();
    return cluster->topology.host_kinds[0].limits;
  };
  EXPECT_EQ(limits(""), GpuLimits());
  EXPECT_EQ(limits("    power_limit: 500 W\n"), (GpuLimits{500, 0}));
  EXPECT_EQ(limits("    power_limit: 500W\n    clock_limit: 1410 MHz\n"), (GpuLimits{500, 1410}));
  EXPECT_EQ(limits("    power_limit: 175 W\n    clock_limit: 458 MHz\n"), (GpuLimits{175, 458}));
  EXPECT_EQ(limits("    power_limit: 700 W\n    clock_limit: 1830 MHz\n"), (GpuLimits{700, 1830}));
}

TEST(GpuLimits, RefusesWhatTheGpuDoesNotAllow) {
  EXPECT_EQ(LimitsError("    power_limit: 500\n"),
            "toys.topo:6:18: error: expected a power like '500 W', found '500'");
  EXPECT_EQ(LimitsError("    power_limit: 0.5 kW\n"),
            "toys.topo:6:18: error: expected a power like '500 W', found '0.5 kW'");
  EXPECT_EQ(
      LimitsError("    power_limit: 701 W\n"),
      "toys.topo:6:18: error: 'power_limit' of the GPU 'toy' is from 175 to 700 W, not 701 W");
  EXPECT_EQ(
      LimitsError("    power_limit: 100 W\n"),
      "toys.topo:6:18: error: 'power_limit' of the GPU 'toy' is from 175 to 700 W, not 100 W");
  EXPECT_EQ(LimitsError("    clock_limit: 1.4 GHz\n"),
            "toys.topo:6:18: error: expected a clock like '1410 MHz', found '1.4 GHz'");
  EXPECT_EQ(LimitsError("    clock_limit: 1980 MHz\n"),
            "toys.topo:6:18: error: 'clock_limit' of the GPU 'toy' is from 458 to 1830 MHz, not "
            "1980 MHz");
  EXPECT_EQ(LimitsError("    power_limit: 500 W\n", false),
            "toys.topo:6:18: error: 'power_limit' needs the GPU's own: gpus/toy.yaml states no "
            "'power_limit' in 'scaling'");
  EXPECT_EQ(LimitsError("    clock_limit: 1410 MHz\n", false),
            "toys.topo:6:18: error: 'clock_limit' needs the GPU's own: gpus/toy.yaml states no "
            "'clock' in 'gpu'");
}

}  // namespace
}  // namespace drydock
