// "What do a lower power limit and a lower clock cost?"
#include "compute-sim/model/limited_parameters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compute-sim/model/scaled_model.h"
#include "compute-sim/model_table.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

constexpr auto kBf16 = DataType::kBf16;
constexpr auto kFp8 = DataType::kFp8;

double Tera(FlopRate rate) { return rate.flops_per_second() * 1e-12; }
double Sustained(const GpuData& gpu, DataType type) {
  return Tera(SustainedRate(*gpu.parameters.GemmFor(type)));
}

GpuData Limited(const std::string& gpu, GpuLimits limits) {
  const GpuData data = *MakeGpuData(ShippedGpu(gpu), {}, limits);
  if (data.spec.reference.empty() || data.calibrated) return data;
  return *AsIfCalibrated(data, *MakeReferenceData(data.spec, {}));
}

Workload WorkloadOn(const std::string& gpu, GpuLimits limits) {
  Workload w;
  w.topology.gpus = {ShippedGpu(gpu)};
  w.topology.host_kinds.resize(1);
  w.topology.host_kinds[0].name = "box";
  w.topology.host_kinds[0].limits = limits;
  w.topology.hosts = {0};
  w.submodules = {{.name = "mlp.fc1",
                   .pass = Pass::kForward,
                   .work = submodule::Linear{.rows = 8192, .n = 8192, .k = 8192}},
                  {.name = "mlp.norm",
                   .pass = Pass::kForward,
                   .work = submodule::Norm{.rows = 8192, .n = 8192}}};
  return w;
}

TEST(GpuLimits, APowerLimitSlowsProductsAndAttentionByTheirExponents) {
  const GpuData own = Limited("h100-sxm-80g", {}), limited = Limited("h100-sxm-80g", {500, 0});
  EXPECT_NEAR(Sustained(limited, kBf16) / Sustained(own, kBf16), std::pow(5.0 / 7, 0.7), 1e-9);
  EXPECT_NEAR(Sustained(limited, kFp8) / Sustained(own, kFp8), std::pow(5.0 / 7, 1.25), 1e-9);
  EXPECT_EQ(limited.parameters.GemmFor(kBf16)->tensor_rate,
            own.parameters.GemmFor(kBf16)->tensor_rate);
  const AttentionDerate& derate = limited.parameters.attention[0].forward.derate;
  EXPECT_NEAR(1 / (1 + derate.time), std::pow(5.0 / 7, 0.7), 1e-9);
  EXPECT_EQ(derate.at, kSettling);
  EXPECT_EQ(limited.parameters.memory.hbm, own.parameters.memory.hbm);
}

// A copy of a measured GPU's file with another limit is that GPU at the other limit.
TEST(GpuLimits, TheLimitOfAMeasuredGpusFileActsAsThatOfItsHosts) {
  GpuSpec spec = ShippedGpu("h100-sxm-80g");
  const size_t at = spec.file_text.find("power_limit: 700 W\n  matmul_share");
  ASSERT_NE(at, std::string::npos);
  spec.file_text.replace(at, 18, "power_limit: 500 W");
  const GpuData file = *MakeGpuData(spec, {}), host = Limited("h100-sxm-80g", {500, 0});
  EXPECT_EQ(Sustained(file, kBf16), Sustained(host, kBf16));
  EXPECT_EQ(Sustained(file, kFp8), Sustained(host, kFp8));
}

// Scaled from the H100 at 700 W, a limited H200 or H20 has what the H100's chip has left, and no
// more than its own tensor cores do.
TEST(GpuLimits, ALimitOfAScaledGpuCountsFromItsReference) {
  GpuSpec h200 = ShippedGpu("h200-sxm-141g");
  const GpuData h100 = Limited("h100-sxm-80g", {});
  GpuData gpu;
  gpu.spec = h200;
  gpu.limits = {500, 0};
  EXPECT_NEAR(Sustained(*AsIfCalibrated(gpu, h100), kBf16),
              Sustained(h100, kBf16) * std::pow(5.0 / 7, 0.7), 0.01);
  EXPECT_EQ(Sustained(Limited("h20-sxm-96g", {}), kBf16), 0.95 * 148);
  EXPECT_EQ(Sustained(Limited("h20-sxm-96g", {200, 0}), kBf16), 0.95 * 148);
}

// Short kernels follow the clock. At the power limit, they run below it anyway.
TEST(GpuLimits, AClockLimitSlowsWhatIsAboveIt) {
  const GpuData own = Limited("h100-sxm-80g", {});
  const double share = 1 / (1 + own.parameters.GemmFor(kBf16)->derate);
  const auto with = [](int mhz) { return Limited("h100-sxm-80g", {0, mhz}); };
  EXPECT_NEAR(Tera(with(915).parameters.GemmFor(kBf16)->tensor_rate),
              Tera(own.parameters.GemmFor(kBf16)->tensor_rate) / 2, 1e-9);
  EXPECT_NEAR(Sustained(with(1700), kBf16), Sustained(own, kBf16), 1e-9);
  ASSERT_LT(915.0 / 1830, share);
  EXPECT_NEAR(Sustained(with(915), kBf16), Tera(own.parameters.GemmFor(kBf16)->tensor_rate) / 2,
              1e-9);
  EXPECT_EQ(with(915).parameters.memory.hbm, own.parameters.memory.hbm);
  EXPECT_EQ(with(915).parameters.attention[0].forward.scores_per_ps,
            own.parameters.attention[0].forward.scores_per_ps / 2);
}

TEST(GpuLimits, ARunOnLimitedHostsIsSlower) {
  const SimulateOptions options{AllComputeModels(), {}, "", {}, ShippedAssumptions()};
  const auto us = [&](GpuLimits limits, size_t submodule) {
    const Workload w = WorkloadOn("h100-sxm-80g", limits);
    return Simulate(w, options)->gpus[0].submodules[submodule].total.us();
  };
  EXPECT_GT(us({500, 0}, 0), 1.2 * us({}, 0));
  EXPECT_EQ(us({500, 0}, 1), us({}, 1)) << "memory does not slow down";
  EXPECT_EQ(us({700, 0}, 0), us({}, 0));
  EXPECT_GT(us({0, 1000}, 0), 1.2 * us({}, 0));
  const Workload w = WorkloadOn("h100-sxm-80g", {500, 1410});
  EXPECT_NE(
      Explain(w, *Simulate(w, options)).find("GPU h100-sxm-80g, limited to 500 W and 1410 MHz"),
      std::string::npos);
}

// Rows were measured without the limit, so the limit changes them as it changes the model's answer.
TEST(GpuLimits, MeasuredRowsSlowToo) {
  const ProfilePtr profile = SharedProfile(
      "# gpu: h100-sxm-80g\n# provenance: a\n# method: b\n# date: c\n# clocks: sustained\n"
      "kernel,dtype,m,n,k,time\ngemm,bf16,8192,8192,8192,1800 us\n");
  const SimulateOptions options{AllComputeModels(), {profile}, "", {}, ShippedAssumptions()};
  const auto us = [&](GpuLimits limits) {
    return Simulate(WorkloadOn("h100-sxm-80g", limits), options)
        ->gpus[0]
        .submodules[0]
        .kernels[0]
        .time.us();
  };
  EXPECT_EQ(us({}), 1800);
  EXPECT_NEAR(us({500, 0}) / us({}), std::pow(7.0 / 5, 0.7), 0.02);
}

TEST(GpuLimits, ALimitWithoutEffectSaysSo) {
  const SimulateOptions options{AllComputeModels(), {}, "", {}, ShippedAssumptions()};
  const auto lines = [&](const std::string& gpu, GpuLimits limits) {
    return LimitsWithoutEffect(WorkloadOn(gpu, limits), options);
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines("h100-sxm-80g", {}), Lines{});
  EXPECT_EQ(lines("h100-sxm-80g", {500, 1000}), Lines{});
  EXPECT_EQ(
      lines("h100-sxm-80g", {700, 1830}),
      (Lines{"power_limit 700 W of the hosts 'box' changes no time on the GPU 'h100-sxm-80g': "
             "it is the GPU's own",
             "clock_limit 1830 MHz of the hosts 'box' changes no time on the GPU "
             "'h100-sxm-80g': it is the GPU's own"}));
  EXPECT_EQ(lines("rtx-pro-6000-96g", {400, 0}),
            Lines{"power_limit 400 W of the hosts 'box' changes no time on the GPU "
                  "'rtx-pro-6000-96g': no kernel model of the GPU depends on it"});
}

}  // namespace
}  // namespace drydock
