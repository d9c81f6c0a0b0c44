// For tests: small clusters, and jobs from a few overrides.
#ifndef DRYDOCK_WORKLOAD_GEN_TESTING_JOB_TESTING_H_
#define DRYDOCK_WORKLOAD_GEN_TESTING_JOB_TESTING_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workload-gen/framework/framework.h"
#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"

namespace drydock {

inline Topology TestTopology(int hosts, int gpus_per_host) {
  Topology topology;
  topology.name = "test";
  topology.gpus.emplace_back();
  HostKind kind;
  kind.name = "box";
  kind.gpus = gpus_per_host;
  topology.host_kinds.push_back(kind);
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  return topology;
}

// A GPT of 8 layers for 8 GPUs (TP2 PP2 DP2), small enough to count by hand.
inline constexpr const char* kTestJob = R"(model:
  architecture: gpt
  layers: 8
  hidden: 64
  heads: 8
  vocab: 1000
  sequence: 32
  dropout: 0.1
training:
  framework: megatron
  precision: fp16
  micro_batch: 2
  global_batch: 16
  recompute: none
  optimizer: adam
parallel:
  tensor: 2
  pipeline: 2
)";

inline TrainingJob TestJob(const std::vector<std::string>& overrides = {}) {
  Result<TrainingJob> job = ParseTrainingJob(kTestJob, "test.yaml", overrides);
  EXPECT_TRUE(job.ok()) << job.error().ToString();
  return *job;
}

inline ParallelLayout TestLayout(const TrainingJob& job, int hosts = 1, int gpus = 8) {
  Result<ParallelLayout> layout = ResolveLayout(job, TestTopology(hosts, gpus));
  EXPECT_TRUE(layout.ok()) << layout.error().ToString();
  return *layout;
}

inline Workload TestWorkload(const std::vector<std::string>& overrides = {}, int hosts = 1,
                             int gpus = 8) {
  const TrainingJob job = TestJob(overrides);
  return MakeFramework(FrameworkKind::kMegatron)
      ->Build(job, TestLayout(job, hosts, gpus), TestTopology(hosts, gpus), {});
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TESTING_JOB_TESTING_H_
