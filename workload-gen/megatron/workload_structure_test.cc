// Dense jobs of random layouts: all their programs end, and their collectives match the closed
// forms.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "workload-gen/layout/process_groups.h"
#include "workload-gen/testing/job_testing.h"
#include "workload-gen/testing/structure_testing.h"

namespace drydock {
namespace {

// A random layout, with a cluster and a batch that fit it.
struct Draw {
  std::vector<std::string> overrides;
  int hosts = 1;
  int gpus = 1;
  bool sequence_parallel = false;
};

Draw DrawLayout(std::mt19937* random) {
  const auto pick = [&](std::initializer_list<int> values) {
    return *(values.begin() + (*random)() % values.size());
  };
  const auto coin = [&] { return (*random)() % 2 == 0; };
  Draw draw;
  draw.gpus = pick({1, 2, 4});
  const int tensor = draw.gpus;
  const int pipeline = pick({1, 2, 3, 4});
  const int chunks = pipeline > 1 ? pick({1, 2, 3}) : 1;
  const int data = pick({1, 2, 3});
  const int microbatches = chunks > 1 ? pipeline * pick({1, 2, 3}) : pick({1, 2, 3, 5, 8});
  draw.sequence_parallel = tensor > 1 && coin();
  const bool optimizer = coin(), reduce = coin();
  const char* recompute[] = {"none", "selective", "full"};
  draw.hosts = pipeline * data;
  draw.overrides = {
      Set("parallel.tensor", tensor),
      Set("parallel.pipeline", pipeline),
      Set("parallel.virtual_pipeline", chunks),
      Set("parallel.data", data),
      Flag("parallel.sequence_parallel", draw.sequence_parallel),
      Set("model.layers", pipeline * chunks * pick({1, 2, 3})),
      Set("training.micro_batch", 2),
      Set("training.global_batch", 2 * data * microbatches),
      std::string("training.recompute=") + recompute[(*random)() % 3],
      Flag("training.distributed_optimizer", optimizer),
      Flag("overlap.grad_reduce", reduce),
      Flag("overlap.param_gather", optimizer && reduce && coin()),
      Flag("overlap.p2p", coin()),
      Flag("overlap.p2p_wait_send", coin()),
      Flag("overlap.tensor_backward", coin()),
      Flag("training.batch_p2p_sync", coin()),
      Flag("training.scatter_gather_p2p", coin()),
      Flag("training.step_checks", coin()),
      Flag("model.tied_embedding", coin()),
      Set("training.bucket_elements", 20000),
      std::string("training.precision=") + (coin() ? "fp16" : "bf16"),
      std::string("parallel.rank_order=") + (coin() ? "tp-cp-ep-dp-pp" : "tp-cp-ep-pp-dp")};
  return draw;
}

TEST(WorkloadStructure, HoldsForRandomLayouts) {
  std::mt19937 random(2024);
  for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    Draw draw = DrawLayout(&random);
    if (draw.sequence_parallel) draw.overrides.push_back(Flag("overlap.tensor", round % 2 == 0));
    SCOPED_TRACE(testing::PrintToString(draw.overrides));
    EXPECT_EQ(StructureMistake(TestWorkload(draw.overrides, draw.hosts, draw.gpus)), "");
  }
}

// A stage without layers forwards each message after it has arrived, and updates nothing.
TEST(WorkloadStructure, AStageWithoutLayersForwardsMessages) {
  for (const char* optimizer :
       {"training.distributed_optimizer=true", "training.distributed_optimizer=false"}) {
    const Workload w = TestWorkload({"parallel.pipeline=4", "parallel.layout=Et*4||t*4|L",
                                     "overlap.grad_reduce=true", optimizer});
    EXPECT_EQ(StructureMistake(w), "");
    for (const Submodule& s : w.submodules) EXPECT_GT(s.bytes.count(), 0) << s.name;
    const Program& empty = w.programs[1];
    int forwarded = 0;
    for (size_t i = 0; i < empty.ops.size(); ++i) {
      EXPECT_NE(empty.ops[i].kind, OpKind::kCompute);
      if (empty.ops[i].kind != OpKind::kSend) continue;
      bool received = false;
      for (const uint32_t d : empty.dependencies(i)) {
        received = received || empty.ops[d].kind == OpKind::kRecv;
      }
      forwarded += received ? 1 : 0;
    }
    EXPECT_EQ(forwarded, 2 * 8) << "eight micro-batches, in both directions";
  }
}

// Per layer and micro-batch: 2 + 2 all-reduces, or 6 all-gathers and 4 reduce-scatters; full
// recomputation adds those of a forward. This holds for every schedule.
TEST(WorkloadStructure, TensorCollectivesFollowTheClosedForm) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const Draw draw = DrawLayout(&random);
    SCOPED_TRACE(testing::PrintToString(draw.overrides));
    const TrainingJob job = TestJob(draw.overrides);
    const ParallelLayout layout = TestLayout(job, draw.hosts, draw.gpus);
    const Workload w = TestWorkload(draw.overrides, draw.hosts, draw.gpus);
    std::map<CollectiveType, int64_t> counts;
    for (const Program& p : w.programs) {
      for (const Op& op : p.ops) {
        if (op.kind == OpKind::kCollective && op.role == kTensorRole && op.layer >= 0) {
          ++counts[w.calls[op.work].collective];
        }
      }
    }
    const int64_t passes = int64_t{job.model.layers} * layout.microbatches;
    const bool full = job.training.recompute.granularity == Recompute::kFull;
    std::map<CollectiveType, int64_t> expected;
    if (layout.sequence_parallel) {
      expected[CollectiveType::kAllGather] = passes * (full ? 8 : 6);
      expected[CollectiveType::kReduceScatter] = passes * (full ? 6 : 4);
    } else if (layout.tensor > 1) {
      expected[CollectiveType::kAllReduce] = passes * (full ? 6 : 4);
    }
    EXPECT_EQ(counts, expected);
  }
}

}  // namespace
}  // namespace drydock
