// Tensor-parallel communication inside products (overlap.tensor), counted by hand.
#include "workload-gen/tensor_parallel.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "workload-gen/process_groups.h"
#include "workload-gen/program_counts.h"
#include "workload-gen/test_support.h"

namespace drydock {
namespace {

Workload Sliced(const std::string& more = "training.step_checks=false") {
  return TestWorkload({"parallel.tensor=4", "parallel.pipeline=1",
                       "parallel.sequence_parallel=true", "overlap.tensor=true",
                       "training.global_batch=4", more});
}

struct Counts {
  int64_t rings = 0, parts = 0, gathers = 0, scatters = 0;
};

Counts CountTensorCalls(const Workload& w, int layer, Phase phase) {
  Counts counts;
  for (const Op& op : w.programs[0].ops) {
    if (op.kind == OpKind::kCompute || op.layer != layer || op.phase != phase) continue;
    const CommCall& call = w.calls[op.work];
    const bool whole = call.count == 64 * 64;
    if (call.collective == CollectiveType::kGrouped) ++counts.rings;
    if (call.collective == CollectiveType::kAllGather) ++counts.gathers;
    if (call.collective == CollectiveType::kReduceScatter)
      ++(whole ? counts.scatters : counts.parts);
  }
  return counts;
}

// qkv and fc1 take rows from a ring of four, proj and fc2 give theirs in four parts.
TEST(TensorParallel, ForwardIsCutInSlices) {
  const Counts counts = CountTensorCalls(Sliced(), 3, Phase::kForward);
  EXPECT_EQ(counts.rings, 2 * 3);
  EXPECT_EQ(counts.parts, 2 * 4);
  EXPECT_EQ(counts.gathers + counts.scatters, 0);
}

// Gradients of proj and fc2 come round the ring; those of qkv and fc1 are gathered and scattered
// whole, beside whole products.
TEST(TensorParallel, BackwardIsRingAndBulk) {
  const Counts counts = CountTensorCalls(Sliced(), 3, Phase::kBackward);
  EXPECT_EQ(counts.rings, 2 * 3);
  EXPECT_EQ(counts.gathers, 2);
  EXPECT_EQ(counts.scatters, 2);
  EXPECT_EQ(counts.parts, 0);
}

TEST(TensorParallel, BytesStayTheSame) {
  const auto bytes = [](const Workload& w) {
    int64_t sum = 0;  // that a rank sends in a layer
    for (const Op& op : w.programs[0].ops) {
      if (op.kind == OpKind::kCompute || op.layer != 3 || op.role != kTensorRole) continue;
      const CommCall& call = w.calls[op.work];
      sum += call.collective == CollectiveType::kGrouped ? call.bytes().count() / 4
                                                         : call.bytes().count() / 4 * 3;
    }
    return sum;
  };
  EXPECT_EQ(bytes(Sliced()), bytes(Sliced("overlap.tensor=false")));
}

TEST(TensorParallel, SlicesMakeUpTheProduct) {
  const auto flops = [](const Workload& w) {
    double sum = 0;
    for (const Op& op : w.programs[0].ops) {
      if (op.kind != OpKind::kCompute || op.layer != 3) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) sum += w.submodules[s].flops;
    }
    return sum;
  };
  EXPECT_DOUBLE_EQ(flops(Sliced()), flops(Sliced("overlap.tensor=false")));
}

// Each exchange, and each part but the last, has a product beside it.
TEST(TensorParallel, CommunicationRunsBesideTheSlices) {
  const Workload w = Sliced();
  const Program& p = w.programs[0];
  int beside = 0;
  for (size_t i = 0; i + 1 < p.ops.size(); ++i) {
    if (p.ops[i].kind != OpKind::kCollective || p.ops[i].layer != 3) continue;
    if (p.ops[i + 1].kind != OpKind::kCompute) continue;
    const auto waits = p.dependencies(i + 1);
    beside += std::count(waits.begin(), waits.end(), i) == 0 ? 1 : 0;
  }
  EXPECT_EQ(beside, 12 + 2 * 3 + 2 * 2);
}

}  // namespace
}  // namespace drydock
