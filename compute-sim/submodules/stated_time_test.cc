// "Does an imported op take the time that its trace states?"
#include "compute-sim/submodules/stated_time.h"

#include <gtest/gtest.h>

#include "compute-sim/model/simulate.h"
#include "compute-sim/model_table.h"
#include "compute-sim/submodules/submodule_kernels.h"
#include "compute-sim/testing/gpu_testing.h"

namespace drydock {
namespace {

Submodule Fixed(Time duration) {
  return {.name = "layer1", .work = submodule::FixedDuration{duration}};
}

Submodule Counted(double flops, int64_t bytes, DataType type = DataType::kBf16) {
  return {.name = "layer2",
          .type = type,
          .work = submodule::FlopsAndBytes{},
          .flops = flops,
          .bytes = Bytes(bytes)};
}

GpuSpec Gpu() {
  GpuSpec gpu;
  gpu.name = "toy";
  gpu.file_name = "toy.yaml";
  gpu.dense_rate[static_cast<size_t>(DataType::kBf16)] = FlopRate(100e12);
  gpu.memory_bandwidth = Bandwidth::BitsPerSecond(8'000'000'000'000);
  return gpu;
}

TEST(StatedTime, FixedDurationIsTheTime) {
  const SubmoduleTime time = *StatedTime(Fixed(Time::Ps(1234567)), Gpu());
  EXPECT_EQ(time.total, Time::Ps(1234567));
  ASSERT_EQ(time.kernels.size(), 1u);
  EXPECT_EQ(time.kernels[0].source, TimeSource::kGiven);
}

TEST(StatedTime, FlopsAndBytesTakeTheRooflineTime) {
  // 1e9 FLOP at 100 TFLOPS; 50 MB at 1 TB/s.
  EXPECT_EQ(StatedTime(Counted(1e9, 1'000'000), Gpu())->total, Time::Us(10));
  EXPECT_EQ(StatedTime(Counted(1e9, 50'000'000), Gpu())->total, Time::Us(50));
  EXPECT_EQ(StatedTime(Counted(0, 0), Gpu())->total, Time());
  EXPECT_EQ(StatedTime(Counted(0, 8, DataType::kFp64), Gpu())->kernels[0].bound,
            KernelBound::kMemory);
}

TEST(StatedTime, RefusesAnUnknownRateAndAnHour) {
  EXPECT_EQ(StatedTime(Counted(1, 0, DataType::kFp64), Gpu()).error().ToString(),
            "toy.yaml: error: submodule 'layer2': toy states no fp64 rate");
  EXPECT_EQ(StatedTime(Counted(1e18, 0), Gpu()).error().ToString(),
            "toy.yaml: error: submodule 'layer2': toy would take 2.78 hours for it");
}

TEST(StatedTime, SimulateAsksNoModel) {
  Workload w;
  w.topology.gpus = {ShippedGpu("h800-sxm-80g")};
  w.topology.gpus[0].reference.clear();  // no model has kernel times for it
  w.submodules = {Fixed(Time::Us(3)), Counted(989e9, 0)};
  const Result<KernelTimes> times =
      Simulate(w, {AllComputeModels(), {}, "", {}, ShippedAssumptions()});
  ASSERT_TRUE(times.ok()) << times.error().ToString();
  EXPECT_EQ(times->gpus[0].submodules[0].total, Time::Us(3));
  EXPECT_NEAR(times->gpus[0].submodules[1].total.us(), 1000, 1);
  EXPECT_EQ(SourcesText(*times), "2 kernels: 0 profile, 0 model, 0 scaled, 2 given");
  EXPECT_TRUE(KernelsOf(w.submodules[0], ShippedAssumptions(), Fp8Layouts::kOne)->empty());
}

}  // namespace
}  // namespace drydock
