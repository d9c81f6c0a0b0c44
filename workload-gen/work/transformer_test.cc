#include "workload-gen/work/transformer.h"

#include <gtest/gtest.h>

#include "workload-gen/testing/job_testing.h"
#include "workload-gen/work/model_size.h"

namespace drydock {
namespace {

TEST(Transformer, RankParametersAddUpToTheModel) {
  const TrainingJob job =
      TestJob({"model.vocab=1024", "parallel.virtual_pipeline=2", "model.tied_embedding=false"});
  const ParallelLayout layout = TestLayout(job);
  int64_t split = 0, replicated = 0;
  for (int stage = 0; stage < layout.pipeline; ++stage) {
    for (int chunk = 0; chunk < layout.chunks; ++chunk) {
      for (const Parameter& p : ChunkParameters(job.model, layout, stage, chunk)) {
        const bool whole =
            p.kind == ParameterKind::kProjBias || p.kind == ParameterKind::kFc2Bias ||
            p.kind == ParameterKind::kNorm1Weight || p.kind == ParameterKind::kNorm1Bias ||
            p.kind == ParameterKind::kNorm2Weight || p.kind == ParameterKind::kNorm2Bias ||
            p.kind >= ParameterKind::kFinalNormWeight ||
            p.kind == ParameterKind::kPositionEmbedding;
        const bool head = p.kind == ParameterKind::kHead;
        (whole && !head ? replicated : split) += p.elements;
      }
    }
  }
  EXPECT_EQ(split * layout.tensor + replicated, ParameterCount(job.model));
}

TEST(Transformer, ATiedHeadIsStoredTwiceOnlyAcrossStages) {
  const TrainingJob one = TestJob({"parallel.pipeline=1"});
  const TrainingJob two = TestJob();
  const auto tied = [](const std::vector<Parameter>& list) {
    int count = 0;
    for (const Parameter& p : list) count += p.tied ? 1 : 0;
    return count;
  };
  EXPECT_EQ(tied(ChunkParameters(one.model, TestLayout(one), 0, 0)), 0);
  EXPECT_EQ(tied(ChunkParameters(two.model, TestLayout(two), 0, 0)), 1);
  EXPECT_EQ(tied(ChunkParameters(two.model, TestLayout(two), 1, 0)), 1);
}

}  // namespace
}  // namespace drydock
