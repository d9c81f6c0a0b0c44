#include "study/axes/study_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drydock {
namespace {

using testing::ElementsAre;

std::string ErrorOf(const std::string& text) {
  const Result<StudyFile> study = ParseStudy(text, "s.yaml");
  return study.ok() ? "" : study.error().ToString();
}

TEST(StudyFile, ReadsAllKeys) {
  const StudyFile study = ParseStudy(R"(model: llama-3-70b
cluster: dgx-h100-8
network: analytical
over:
  parallel.tensor: [1, 2, 4]
  cluster.hosts: 8..32*2
  fabric.dimensions: [[4, 4], [8, 2]]
zip: [parallel.tensor, cluster.hosts]
constraints: [tensor * hosts <= 64]
set: {training.recompute: full}
metrics: mfu
gpu_profiles: [mine.csv]
)",
                                     "s.yaml")
                              .value();
  EXPECT_EQ(study.model, "llama-3-70b");
  EXPECT_EQ(study.cluster, "dgx-h100-8");
  EXPECT_EQ(study.network, "analytical");
  ASSERT_EQ(study.axes.size(), 3U);
  EXPECT_THAT(study.axes[0].values, ElementsAre("1", "2", "4"));
  EXPECT_THAT(study.axes[1].values, ElementsAre("8", "16", "32"));
  EXPECT_EQ(study.axes[2].values.size(), 2U);
  EXPECT_EQ(study.axes[1].location.line, 6);
  ASSERT_EQ(study.zip.size(), 1U);
  EXPECT_THAT(study.zip[0], ElementsAre("parallel.tensor", "cluster.hosts"));
  EXPECT_THAT(study.constraints, ElementsAre("tensor * hosts <= 64"));
  EXPECT_THAT(study.set, ElementsAre("training.recompute=full"));
  EXPECT_THAT(study.metrics, ElementsAre("mfu"));
  EXPECT_THAT(study.gpu_profiles, ElementsAre("mine.csv"));
}

TEST(StudyFile, ReportsAllMistakesWithTheirPlaces) {
  EXPECT_EQ(ErrorOf("model: m\ncluster: c\nover:\n  tensor: [1]\n  a.b: []\nconstrains: x\n"),
            "s.yaml:4:3: error: an axis is a key of the model or the cluster, such as "
            "parallel.tensor or cluster.hosts, not 'tensor'\n"
            "    tensor: [1]\n    ^\n"
            "s.yaml:5:8: error: no value of a.b\n    a.b: []\n         ^\n"
            "s.yaml:6:1: error: unknown key 'constrains' in 'study'; did you mean 'constraints'?; "
            "valid keys are model, cluster, network, over, zip, constraints, set, metrics, "
            "gpu_profiles\n  constrains: x\n  ^");
}

}  // namespace
}  // namespace drydock
