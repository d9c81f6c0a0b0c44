// For tests of sharded frameworks: a small Llama under fsdp or deepspeed.
#ifndef DRYDOCK_WORKLOAD_GEN_TESTING_SHARDED_TESTING_H_
#define DRYDOCK_WORKLOAD_GEN_TESTING_SHARDED_TESTING_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workload-gen/testing/job_testing.h"

namespace drydock {

// Per layer: 4096 + 2048 + 2048 + 4096 attention, 3 x 64 x 160 = 30720 MLP, 2 x 64 norms: 43136.
// Embedding: 1000 x 64 = 64000; norm and head: 64064.
inline constexpr const char* kShardedJob = R"(model:
  architecture: llama
  layers: 4
  hidden: 64
  heads: 8
  kv_heads: 4
  ffn: 160
  vocab: 1000
  vocab_multiple: 1
  sequence: 32
training:
  framework: fsdp
  precision: bf16
  micro_batch: 2
  global_batch: 16
  recompute: none
  optimizer: adam
parallel:
  tensor: 1
  pipeline: 1
)";
inline constexpr int64_t kLayerElements = 43136;
inline constexpr int64_t kEmbeddingElements = 64000;
inline constexpr int64_t kHeadElements = 64064;
inline constexpr int64_t kAllElements = kEmbeddingElements + 4 * kLayerElements + kHeadElements;

using Overrides = std::vector<std::string>;

inline Result<TrainingJob> ParseShardedJob(const Overrides& overrides,
                                           const std::string& text = kShardedJob) {
  return ParseTrainingJob(text, "test.yaml", overrides);
}

inline Workload ShardedWorkload(const Overrides& overrides, int hosts = 1, int gpus = 8,
                                const std::string& text = kShardedJob) {
  const Result<TrainingJob> job = ParseShardedJob(overrides, text);
  EXPECT_TRUE(job.ok()) << job.error().ToString();
  const Topology topology = TestTopology(hosts, gpus);
  const Result<ParallelLayout> layout = ResolveLayout(*job, topology);
  EXPECT_TRUE(layout.ok()) << layout.error().ToString();
  const std::unique_ptr<Framework> framework = MakeFramework(job->training.framework);
  const Status check = framework->Check(*job);
  EXPECT_TRUE(check.ok()) << check.error().ToString();
  const Status fits = framework->CheckLayout(*job, *layout);
  EXPECT_TRUE(fits.ok()) << fits.error().ToString();
  return framework->Build(*job, *layout, topology, {});
}

// Returns the error that the user sees; "ok" if the framework takes the job.
inline std::string ShardedError(const Overrides& overrides, int gpus = 8) {
  const Result<TrainingJob> job = ParseShardedJob(overrides);
  if (!job.ok()) return job.error().ToString();
  const std::unique_ptr<Framework> framework = MakeFramework(job->training.framework);
  const Status check = framework->Check(*job);
  if (!check.ok()) return check.error().message();
  const Result<ParallelLayout> layout = ResolveLayout(*job, TestTopology(1, gpus));
  if (!layout.ok()) return layout.error().message();
  const Status fits = framework->CheckLayout(*job, *layout);
  return fits.ok() ? "ok" : fits.error().message();
}

// Returns type and number of elements of the collectives of a class in a role, in order.
using Collectives = std::vector<std::pair<CollectiveType, int64_t>>;
inline Collectives CollectivesOf(const Workload& w, const std::string& role, int class_index = 0) {
  Collectives found;
  for (const Op& op : w.programs[static_cast<size_t>(class_index)].ops) {
    if (op.kind != OpKind::kCollective || w.roles[op.role].name != role) continue;
    const CommCall& call = w.calls[op.work];
    if (call.count > 1) found.emplace_back(call.collective, call.count);
  }
  return found;
}

inline std::map<CollectiveType, int> CountCollectives(const Workload& w, const std::string& role,
                                                      int class_index = 0) {
  std::map<CollectiveType, int> counts;
  for (const auto& [type, count] : CollectivesOf(w, role, class_index)) ++counts[type];
  return counts;
}

inline int64_t ElementsMoved(const Workload& w, const std::string& role, CollectiveType type,
                             int class_index = 0) {
  int64_t elements = 0;
  for (const auto& [found, count] : CollectivesOf(w, role, class_index)) {
    if (found == type) elements += count;
  }
  return elements;
}

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_TESTING_SHARDED_TESTING_H_
