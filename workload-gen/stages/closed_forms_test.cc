// Compares whole workloads with formulas: bytes of each parallel dimension, ops per micro-batch,
// bubbles of the schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/schema/testing/submodule_testing.h"
#include "workload-gen/graph/text/program_counts.h"
#include "workload-gen/layout/process_groups.h"
#include "workload-gen/stages/schedule.h"
#include "workload-gen/testing/job_testing.h"
#include "workload-gen/work/model_size.h"
#include "workload-gen/work/transformer.h"

namespace drydock {
namespace {

// Bytes that one rank of a class passes to its calls in a role, in one iteration.
int64_t BytesOfRole(const Workload& w, int class_index, Role role, CollectiveType type) {
  int64_t sum = 0;
  for (const Op& op : w.programs[static_cast<size_t>(class_index)].ops) {
    if (op.kind == OpKind::kCompute || op.role != role) continue;
    if (w.calls[op.work].collective == type) sum += w.calls[op.work].bytes().count();
  }
  return sum;
}

// b = 2, s = 32, h = 64; bf16: an activation is b s h e = 8192 bytes.
constexpr int64_t kActivation = 2 * 32 * 64 * 2;

// 4 all-reduces of b s h e a layer and micro-batch; one for the embedding and one for the logits'
// gradient.
TEST(ClosedForms, TensorParallelBytes) {
  const Workload w = TestWorkload(
      {"parallel.pipeline=1", "training.precision=bf16", "training.cross_entropy_fusion=te"});
  const int64_t microbatches = 2, layers = 8;
  EXPECT_EQ(BytesOfRole(w, 0, kTensorRole, CollectiveType::kAllReduce),
            microbatches * (4 * layers + 2) * kActivation);
}

// Every micro-batch crosses each of P V - 1 boundaries twice.
TEST(ClosedForms, PipelineBytesAndMessages) {
  const Workload w = TestWorkload({"parallel.pipeline=4", "parallel.virtual_pipeline=2",
                                   "parallel.data=1", "training.precision=bf16"});
  const int64_t microbatches = 8, boundaries = 4 * 2 - 1;
  int64_t bytes = 0, sends = 0, recvs = 0;
  for (const Program& p : w.programs) {
    for (const Op& op : p.ops) {
      if (op.kind == OpKind::kRecv) ++recvs;
      if (op.kind != OpKind::kSend) continue;
      ++sends;
      bytes += w.calls[op.work].bytes().count();
    }
  }
  EXPECT_EQ(sends, 2 * microbatches * boundaries);
  EXPECT_EQ(recvs, sends);
  EXPECT_EQ(bytes, 2 * microbatches * boundaries * kActivation);
}

// Forward and backward each exchange tokens twice, k copies of n tokens: 4 n k h e per layer and
// micro-batch.
TEST(ClosedForms, ExpertParallelBytes) {
  const Workload w = TestWorkload(
      {"model.bias=false", "model.experts=16", "model.experts_per_token=4", "model.expert_ffn=32",
       "training.precision=bf16", "parallel.pipeline=1", "parallel.tensor=1", "parallel.expert=8"});
  const int64_t n = 64, k = 4, layers = 8, microbatches = 1;
  const int64_t tokens = 4 * n * k * 64 * 2, probabilities = 2 * n * k * 2;
  EXPECT_EQ(BytesOfRole(w, 0, kExpertRole, CollectiveType::kAllToAll),
            microbatches * layers * (tokens + probabilities));
}

// Ring: forward exchanges keys and values CP - 1 times. Backward exchanges CP times; in CP - 2 of
// these exchanges, gradients accompany keys and values.
TEST(ClosedForms, ContextParallelBytes) {
  const Workload w =
      TestWorkload({"parallel.tensor=1", "parallel.pipeline=1", "parallel.context=8",
                    "model.kv_heads=2", "training.global_batch=2", "training.precision=bf16"});
  const int64_t pair = 2 * (32 / 8) * 2 * 16 * 2;  // K and V of 2 heads, 8 wide
  const int64_t exchanges = 7 + 2 + 2 * 6;
  EXPECT_EQ(BytesOfRole(w, 0, kContextRole, CollectiveType::kGrouped), 8 * exchanges * pair * 8);
}

// With the distributed optimizer every parameter is reduced in fp32 and gathered in bf16 once.
TEST(ClosedForms, DataParallelBytes) {
  const Workload w =
      TestWorkload({"parallel.pipeline=1", "training.precision=bf16",
                    "training.distributed_optimizer=true", "model.tied_embedding=false"});
  const int64_t reduced = BytesOfRole(w, 0, kDataRole, CollectiveType::kReduceScatter);
  EXPECT_EQ(reduced, 2 * BytesOfRole(w, 0, kDataRole, CollectiveType::kAllGather));
  int64_t elements = 0;
  const TrainingJob job = TestJob({"parallel.pipeline=1", "model.tied_embedding=false"});
  for (const Parameter& p : ChunkParameters(job, TestLayout(job), 0, 0)) {
    elements += p.elements;
  }
  EXPECT_GE(reduced, 4 * elements);
  EXPECT_LE(reduced, 4 * (elements + 8 * 12 * 64 + 512));  // alignment of each parameter
}

// An image encoder: patches at the input, the classes of one token at the output.
TEST(ClosedForms, Images) {
  const std::vector<std::string> overrides = {"model.patch_features=768", "model.causal=false",
                                              "model.tied_embedding=false", "model.vocab=10"};
  const TrainingJob job = TestJob(overrides);
  const ParallelLayout layout = TestLayout(job);
  const Workload w = TestWorkload(overrides);
  int64_t split = 0, whole = 0;
  for (int stage = 0; stage < 2; ++stage) {
    for (const Parameter& p : ChunkParameters(job, layout, stage, 0)) {
      const bool weight =
          p.kind == ParameterKind::kProjWeight || p.kind == ParameterKind::kQkvWeight ||
          p.kind == ParameterKind::kQkvBias || p.kind == ParameterKind::kFc1Weight ||
          p.kind == ParameterKind::kFc1Bias || p.kind == ParameterKind::kFc2Weight;
      (weight ? split : whole) += p.elements;
    }
  }
  EXPECT_EQ(2 * split + whole, ParameterCount(job.model));
  int heads = 0;
  for (const Submodule& s : w.submodules) {
    EXPECT_FALSE(s.Is<submodule::Embedding>());
    EXPECT_FALSE(FieldOf(s, "causal"));
    EXPECT_TRUE(s.name != "embedding.patches" || FieldOf(s, "k") == 768);
    if (s.name != "head.logits") continue;
    EXPECT_EQ(FieldOf(s, "rows"), 2);  // the class token of each image
    EXPECT_EQ(FieldOf(s, "n"), 10);
    ++heads;
  }
  EXPECT_EQ(heads, 3);
  for (const CommCall& call : w.calls) EXPECT_NE(call.collective, CollectiveType::kBroadcast);
}

// ---- Bubbles ------------------------------------------------------------------------------------

// Returns the time until all stages have ended. A forward takes 1 and a backward 2, both divided by
// the chunks of a stage; messages take no time.
double Makespan(int stages, int chunks, int microbatches, int group) {
  struct Stage {
    std::vector<StageWork> steps;
    size_t next = 0;
    double free = 0;
  };
  std::vector<Stage> all(static_cast<size_t>(stages));
  for (int s = 0; s < stages; ++s) {
    const PipelineShape shape{stages, s, chunks, microbatches, false, true, group};
    all[static_cast<size_t>(s)].steps = MakeWorkOrder(shape).steps;
  }
  std::map<std::tuple<bool, int, int>, double> done;  // backward, micro-batch, virtual stage
  double end = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (int s = 0; s < stages; ++s) {
      Stage& stage = all[static_cast<size_t>(s)];
      while (stage.next < stage.steps.size()) {
        const StageWork& work = stage.steps[stage.next];
        const int place = work.chunk * stages + s, last = stages * chunks - 1;
        double ready = stage.free;
        if (!work.backward && place > 0) {
          const auto before = done.find({false, work.microbatch, place - 1});
          if (before == done.end()) break;
          ready = std::max(ready, before->second);
        }
        if (work.backward) {
          const auto before =
              done.find(place == last ? std::tuple{false, work.microbatch, place}
                                      : std::tuple{true, work.microbatch, place + 1});
          if (before == done.end()) break;
          ready = std::max(ready, before->second);
        }
        stage.free = ready + (work.backward ? 2.0 : 1.0) / chunks;
        done[{work.backward, work.microbatch, place}] = stage.free;
        end = std::max(end, stage.free);
        ++stage.next;
        moved = true;
      }
    }
  }
  for (const Stage& stage : all) EXPECT_EQ(stage.next, stage.steps.size()) << "not all steps ran";
  return end;
}

// Narayanan et al., SC'21, sections 2.2.1 and 2.2.2: (P - 1) / M of the ideal time, divided by V
// with V chunks per stage.
TEST(ClosedForms, BubbleFraction) {
  for (const int stages : {2, 4, 8}) {
    for (const int chunks : {1, 2, 4}) {
      for (const int rounds : {1, 2, 4}) {
        const int microbatches = stages * rounds;
        const double ideal = 3.0 * microbatches;
        const double bubble = 3.0 * (stages - 1) / chunks;
        EXPECT_NEAR(Makespan(stages, chunks, microbatches, 0), ideal + bubble, 1e-9)
            << stages << " stages, " << chunks << " chunks, " << microbatches << " micro-batches";
      }
    }
  }
}

// With larger groups of micro-batches, the bubble lies between that with and that without
// interleaving. The last group may be smaller if it still fills the pipeline.
TEST(ClosedForms, LargerGroupsOfMicrobatches) {
  for (const auto& [microbatches, group] : {std::pair{16, 8}, {12, 6}, {14, 8}}) {
    const double ideal = 3.0 * microbatches;
    const double time = Makespan(4, 2, microbatches, group);
    EXPECT_GE(time, ideal + 3.0 * 3 / 2 - 1e-9);
    EXPECT_LE(time, ideal + 3.0 * 3);
  }
}

}  // namespace
}  // namespace drydock
