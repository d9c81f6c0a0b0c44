#include "workload-gen/host/host_costs.h"

#include <gtest/gtest.h>

#include "workload-gen/work/layer_work.h"

namespace drydock {
namespace {

HostLaunchSet Costs() {
  HostLaunchSet set;
  set.launch.name = "test";
  set.launch.kernel = Time::Us(5);
  set.launch.backward_kernel = Time::Us(4);
  set.launch.queue = 1024;
  set.fill = Time::Us(3);
  set.step = Time::Us(1000);
  set.step_delay = Time::Us(600);
  set.modules["linear"] = {.forward = Time::Us(70), .backward = Time::Us(60)};
  set.modules["fp8-linear"] = {.forward = Time::Us(170), .backward = Time::Us(160)};
  set.modules["attention"] = {.forward = Time::Us(80), .backward = Time::Us(50)};
  set.modules["unfused-attention"] = {.forward = Time::Us(300), .backward = Time::Us(40)};
  set.modules["slice-of-attention"] = {.forward = Time::Us(400), .backward = Time::Us(500)};
  set.modules["grouped-linear"] = {.forward = Time::Us(400),
                                   .backward = Time::Us(600),
                                   .expert_forward = Time::Us(10),
                                   .expert_backward = Time::Us(20)};
  set.modules["optimizer"] = {.once = Time::Us(200), .tensor = Time::Us(30)};
  set.modules["quantise"] = {.tensor = Time::Us(90)};
  return set;
}

Submodule Of(const SubmoduleWork& work, Pass pass, DataType type = DataType::kBf16) {
  Submodule s;
  s.pass = pass;
  s.type = type;
  s.work = work;
  return s;
}

Time HostOf(const Submodule& s, const TrainingJob& job = {}) {
  Workload workload;
  workload.submodules = {s};
  ChargeHost(Costs(), job, &workload);
  return workload.submodules[0].host;
}

TEST(HostCostsTest, AModuleIsChargedOnceInEachPass) {
  EXPECT_EQ(HostOf(Of(submodule::Linear{}, Pass::kForward)), Time::Us(70));
  EXPECT_EQ(HostOf(Of(submodule::Linear{}, Pass::kBackwardActivation)), Time::Us(60));
  EXPECT_EQ(HostOf(Of(submodule::Linear{}, Pass::kBackwardWeight)), Time());
  EXPECT_EQ(HostOf(Of(submodule::Norm{}, Pass::kForward)), Time()) << "not in the set";
}

TEST(HostCostsTest, VariantsHaveTheirOwnCosts) {
  for (const DataType type :
       {DataType::kFp8, DataType::kFp8Block, DataType::kMxfp8, DataType::kNvfp4}) {
    EXPECT_EQ(HostOf(Of(submodule::Linear{}, Pass::kForward, type)), Time::Us(170));
  }
  EXPECT_EQ(HostOf(Of(submodule::Attention{.fused = true}, Pass::kBackward)), Time::Us(50));
  EXPECT_EQ(HostOf(Of(submodule::Attention{}, Pass::kForward)), Time::Us(300));
  TrainingJob ring;
  ring.parallel.context = 2;
  EXPECT_EQ(HostOf(Of(submodule::Attention{.fused = true}, Pass::kBackward), ring), Time::Us(500));
  ring.parallel.context_type = ContextType::kHeadsAndRing;
  EXPECT_EQ(HostOf(Of(submodule::Attention{.fused = true}, Pass::kBackward), ring), Time::Us(500));
  ring.parallel.context_type = ContextType::kAllToAll;
  EXPECT_EQ(HostOf(Of(submodule::Attention{.fused = true}, Pass::kBackward), ring), Time::Us(50));
}

// Each expert's weight is a tensor, unless one kernel takes them together.
TEST(HostCostsTest, EachWeightOfExpertsCosts) {
  submodule::GroupedLinear grouped{.experts = 8};
  EXPECT_EQ(HostOf(Of(grouped, Pass::kForward)), Time::Us(400 + 8 * 10));
  EXPECT_EQ(HostOf(Of(grouped, Pass::kBackwardActivation)), Time::Us(600 + 8 * 20));
  EXPECT_EQ(HostOf(Of(grouped, Pass::kBackwardWeight)), Time());
  grouped.one_kernel = true;
  EXPECT_EQ(HostOf(Of(grouped, Pass::kForward)), Time::Us(400));
}

TEST(HostCostsTest, TheOptimizerVisitsTensorsAndBearsTheStep) {
  EXPECT_EQ(HostOf(Of(submodule::Optimizer{{1000, 7}}, Pass::kNone)),
            Time::Us(1000 + 200 + 7 * 30));
}

// A loop quantizes gathered weights and costs the host time for each. Other weights and activations
// are quantized by the code of their modules, whose cost counts already.
TEST(HostCostsTest, EachQuantizedWeightCosts) {
  const auto cost = [](const char* name, int64_t rows, Pass pass) {
    Submodule s = Of(submodule::Quantize{.rows = rows, .n = 32}, pass);
    s.name = name;
    return HostOf(s);
  };
  EXPECT_EQ(cost(kGatheredQuantize, 7, Pass::kNone), Time::Us(7 * 90));
  EXPECT_EQ(cost(kGatheredQuantize, 1, Pass::kNone), Time::Us(90));
  EXPECT_EQ(cost("weights.quantise", 1, Pass::kNone), Time());
  EXPECT_EQ(cost("attention.qkv", 7, Pass::kForward), Time());
}

// Four trays of two hosts: 1/2 + 1/3 + 1/4 of the delay of one, which the step has already.
TEST(HostCostsTest, AStepWaitsForTheSlowestMachine) {
  Workload workload;
  workload.submodules = {Of(submodule::Optimizer{{1000, 7}}, Pass::kNone)};
  workload.topology.host_kinds.resize(1);
  workload.topology.host_kinds[0].trays = 2;
  workload.topology.hosts = {0, 0};
  ChargeHost(Costs(), {}, &workload);
  EXPECT_EQ(workload.submodules[0].host, Time::Us(1000 + 300 + 200 + 150 + 200 + 7 * 30));
}

TEST(HostCostsTest, ADeterministicRunFillsWhatEachKernelWrites) {
  TrainingJob job;
  Workload workload;
  ChargeHost(Costs(), job, &workload);
  EXPECT_EQ(workload.launch.kernel, Time::Us(5));
  job.training.host.deterministic = true;
  ChargeHost(Costs(), job, &workload);
  EXPECT_EQ(workload.launch.kernel, Time::Us(8));
  EXPECT_EQ(workload.launch.backward_kernel, Time::Us(7));
}

TEST(HostCostsTest, WithoutASetNothingIsCharged) {
  Workload workload;
  workload.submodules = {Of(submodule::Linear{}, Pass::kForward)};
  ChargeHost({}, {}, &workload);
  EXPECT_FALSE(workload.launch.modeled());
  EXPECT_EQ(workload.submodules[0].host, Time());
}

}  // namespace
}  // namespace drydock
