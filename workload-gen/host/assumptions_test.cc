// "What does this prediction take for granted, and where do the values come from?"
#include "workload-gen/host/assumptions.h"

#include <gmock/gmock.h>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

const LaunchSpeeds kSpeeds = {{"epyc", 1}, {"xeon-sapphire-rapids", 1.5}};

struct Prediction {
  TrainingJob job;
  Workload workload;
  Variation variation;
  HostLaunchSet launch;

  explicit Prediction(const std::vector<std::string>& overrides = {}) : job(TestJob(overrides)) {
    workload.topology = TestTopology(4, 2);
    workload.topology.gpus[0].name = "test-gpu";
    workload.topology.gpus[0].file_name = "configs/gpus/test-gpu.yaml";
    workload.topology.host_kinds[0].board.cpu = "xeon-sapphire-rapids";
    workload.topology.host_kinds[0].board.launch_speed = 1.5;
    launch.launch.name = "fast";
    launch.launch.queue = 8;
    launch.measured = "a test on one host";
    launch.step_delay = Time::Us(600);
  }

  // Returns "value [source]"; "" without the entry.
  std::string Entry(const std::string& name) const {
    std::string out;
    for (const Assumption& each :
         AssumptionsOf({job, workload, variation, launch, kSpeeds, "a library"})) {
      if (each.name == name) out += each.value + " [" + each.source + "]";
    }
    return out;
  }
};

TEST(Assumptions, HostCostsNameTheirSourceAndProcessor) {
  Prediction run;
  EXPECT_EQ(run.Entry("host costs"), "fast [default of training.host_launch]");
  EXPECT_EQ(run.Entry("host costs measured"), "a test on one host [configs/host-launch.yaml]");
  EXPECT_EQ(run.Entry("host processor"),
            "xeon-sapphire-rapids, launches 1.5 times as fast as the processor of the costs "
            "[configs/processors.yaml]");
  // 1/2 + 1/3 + 1/4 of 600 us.
  EXPECT_EQ(run.Entry("step_delay"),
            "600 us a step on one machine, so 650 us more for the slowest of all "
            "[configs/host-launch.yaml]");
  run.workload.topology.host_kinds[0].board.launch_speed = 2;
  EXPECT_EQ(run.Entry("host processor"),
            "xeon-sapphire-rapids, launches 2 times as fast as the processor of the costs "
            "[launch_speed in the cluster file]");
  run.workload.topology.gpus[0].compute_capability = 80;
  run.workload.topology.host_kinds[0].board.cpu.clear();
  run.workload.topology.host_kinds[0].board.launch_speed = 1;
  EXPECT_EQ(run.Entry("host processor"),
            "epyc (of the DGX with this GPU), launches as fast as the processor of the costs "
            "[configs/processors.yaml]");
  run.launch = {};
  EXPECT_EQ(run.Entry("host costs"),
            "none: launching takes no time [default of training.host_launch]");
  EXPECT_EQ(run.Entry("host processor"), "");
}

TEST(Assumptions, AKeyOfTheModelFileHasItsLine) {
  EXPECT_EQ(Prediction().Entry("sample_time"),
            "0 s: data is never late [default of training.sample_time]");
  std::string text = kTestJob;
  text.insert(text.find("  optimizer"), "  sample_time: 60 ms\n");
  const Result<TrainingJob> job = ParseTrainingJob(text, "models/test.yaml", {});
  ASSERT_TRUE(job.ok()) << job.error().ToString();
  Prediction run;
  run.job = *job;
  EXPECT_EQ(run.Entry("sample_time"), "60 ms a sample [test.yaml:15]");
}

TEST(Assumptions, AttentionOfTheFramework) {
  EXPECT_EQ(Prediction().Entry("attention"), "a library [default of training.attention_kernels]");
  EXPECT_THAT(Prediction({"training.kernels=unfused"}).Entry("attention"),
              testing::HasSubstr("unfused: operators of PyTorch ["));
}

TEST(Assumptions, ExpertsNameDispatcherAndLoads) {
  EXPECT_EQ(Prediction().Entry("expert dispatcher"), "") << "a dense model";
  const std::vector<std::string> experts = {
      "model.bias=false",        "model.experts=16",    "model.experts_per_token=4",
      "model.expert_ffn=64",     "parallel.pipeline=1", "parallel.sequence_parallel=true",
      "parallel.expert_tensor=1"};
  Prediction run(experts);
  EXPECT_EQ(run.Entry("expert dispatcher"), "alltoall (NCCL) [default of training.moe_dispatcher]");
  EXPECT_EQ(run.Entry("expert loads"),
            "uniform: every rank gets the mean [default of training.moe_expert_loads]");
  run.job.training.moe.loads = "aux-loss";
  run.job.training.moe.imbalance = 1.25;
  EXPECT_EQ(run.Entry("expert loads"),
            "aux-loss: the busiest rank gets 1.25 times the mean [configs/expert-loads.yaml]");
}

TEST(Assumptions, TransportsWithoutNcclNameTheirCosts) {
  Prediction run;
  EXPECT_EQ(run.Entry("DeepEP costs"), "");
  EXPECT_EQ(run.Entry("Userbuffers costs"), "");
  CommCall call;
  call.buffers = BufferKind::kDeepEp;
  run.workload.calls.push_back(call);
  CommCall grouped;
  grouped.parts.push_back(CommCall{});
  grouped.parts.back().buffers = BufferKind::kUserBuffers;
  run.workload.calls.push_back(grouped);
  EXPECT_EQ(run.Entry("DeepEP costs"), "by GPU, section deepep [configs/token-exchange.yaml]");
  EXPECT_EQ(run.Entry("Userbuffers costs"), "collectives of test-gpu [gpus/test-gpu.yaml]");
}

TEST(Assumptions, DifferencesBetweenGpusAreThoseOfTheClusterFile) {
  Prediction run;
  EXPECT_EQ(run.Entry("spread of GPUs"), "none: all GPUs of a kind are equal [cluster file]");
  run.variation.slow_gpus.resize(2);
  run.variation.jitter.compute = 0.02;
  EXPECT_EQ(run.Entry("spread of GPUs"), "2 slowdowns stated in faults [cluster file]");
  EXPECT_EQ(run.Entry("jitter"), "compute 2 %, calls 0 ps, seed 0 [cluster file]");
}

TEST(Assumptions, NcclStandsForRccl) {
  Prediction run;
  EXPECT_EQ(run.Entry("RCCL"), "");
  run.workload.topology.gpus[0].architecture = "cdna3";
  run.workload.topology.gpus[0].reference = "h100-sxm-80g";
  EXPECT_EQ(run.Entry("RCCL"),
            "on test-gpu: plans and costs of NCCL on h100-sxm-80g stand for it "
            "[gpus/test-gpu.yaml]");
}

}  // namespace
}  // namespace drydock
