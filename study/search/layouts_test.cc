#include "study/search/layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/spelling.h"

namespace drydock {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

Topology Hosts(int hosts, int gpus) {
  Topology topology;
  topology.gpus.emplace_back();
  HostKind kind;
  kind.gpus = gpus;
  topology.host_kinds.push_back(kind);
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  return topology;
}

TrainingJob Job(const std::string& more = "") {
  const std::string text = R"(model:
  architecture: gpt
  layers: 8
  hidden: 64
  heads: 8
  vocab: 1000
  sequence: 32
training:
  framework: megatron
  precision: bf16
  micro_batch: 2
  global_batch: 16
  recompute: none
  optimizer: adam
parallel: {tensor: 1, pipeline: 1}
)";
  Result<TrainingJob> job = ParseTrainingJob(text + more, "test.yaml", {});
  EXPECT_TRUE(job.ok()) << job.error().ToString();
  return *job;
}

std::vector<std::string> Texts(const LayoutSpace& space) {
  std::vector<std::string> texts;
  for (const std::vector<std::string>& layout : space.layouts) texts.push_back(Join(layout, " "));
  return texts;
}

TEST(Layouts, AreAllThatDivide) {
  const LayoutSpace space = LayoutsOf(Job(), Hosts(2, 4), {}, {}).value();
  EXPECT_THAT(space.keys, ElementsAre("parallel.tensor", "parallel.sequence_parallel",
                                      "parallel.pipeline", "parallel.virtual_pipeline",
                                      "parallel.account_for_embedding", "parallel.account_for_loss",
                                      "overlap.p2p", "training.micro_batch", "training.recompute"));
  const std::vector<std::string> texts = Texts(space);
  EXPECT_THAT(texts, Contains("1 false 1 1 false false false 2 none"));
  EXPECT_THAT(texts, Contains("4 true 2 4 false false true 16 full"));
  EXPECT_THAT(texts, Contains("2 true 4 2 false false true 4 selective"));
  EXPECT_THAT(texts, Not(Contains("2 true 2 1 true true false 4 selective")))
      << "two stages of four layers in any case";
  EXPECT_THAT(texts, Not(Contains("2 true 2 1 true false false 4 selective"))) << "9 in 2 stages";
  EXPECT_THAT(texts, Not(Contains("2 true 2 5 true true true 4 selective")))
      << "a stage without a layer";
  EXPECT_THAT(texts, Not(Contains("1 false 1 1 true true false 2 none"))) << "no stages to split";
  EXPECT_THAT(texts, Not(Contains("8 true 1 1 false false false 1 none")))
      << "tensor parallelism leaves the host";
  EXPECT_THAT(texts, Not(Contains("2 true 8 1 false false false 1 none"))) << "16 ranks on 8 GPUs";
  EXPECT_THAT(texts, Not(Contains("1 false 1 1 false false false 4 none")))
      << "8 ranks x 4 sequences of 16";
  EXPECT_THAT(texts, Not(Contains("1 false 1 2 false false true 1 none")))
      << "virtual stages without a pipeline";
  std::vector<std::string> sorted = texts;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end()) << "a layout twice";
}

TEST(Layouts, KeepWhatIsGiven) {
  const LayoutSpace space =
      LayoutsOf(Job(), Hosts(2, 4),
                {"parallel.tensor", "parallel.account_for_embedding", "parallel.account_for_loss",
                 "overlap.p2p", "training.recompute"},
                {})
          .value();
  EXPECT_THAT(space.keys, ElementsAre("parallel.pipeline", "parallel.virtual_pipeline",
                                      "training.micro_batch"));
  EXPECT_THAT(Texts(space),
              ElementsAre("1 1 1", "1 1 2", "2 1 1", "2 1 2", "2 1 4", "2 2 1", "2 2 2", "2 2 4",
                          "2 4 1", "2 4 2", "2 4 4", "4 1 1", "4 1 2", "4 1 4", "4 1 8", "4 2 1",
                          "4 2 2", "4 2 4", "4 2 8", "8 1 1", "8 1 2", "8 1 4", "8 1 8", "8 1 16"));
}

std::string ErrorOf(const std::string& axis) {
  const Result<LayoutSpace> space = LayoutsOf(Job(), Hosts(2, 4), {}, {ParseAxis(axis).value()});
  return space.ok() ? "" : space.error().message();
}

TEST(Layouts, TakeTheValuesThatAreGiven) {
  const std::vector<Axis> given = {ParseAxis("parallel.pipeline=2").value(),
                                   ParseAxis("parallel.virtual_pipeline=4,1").value(),
                                   ParseAxis("training.micro_batch=4").value(),
                                   ParseAxis("training.recompute=full,none").value()};
  const LayoutSpace space = LayoutsOf(Job(), Hosts(2, 4),
                                      {"parallel.tensor", "parallel.account_for_embedding",
                                       "parallel.account_for_loss", "overlap.p2p"},
                                      given)
                                .value();
  EXPECT_THAT(Texts(space), ElementsAre("2 4 4 full", "2 4 4 none", "2 1 4 full", "2 1 4 none"));
}

TEST(Layouts, SayThatNoneHasAValue) {
  EXPECT_EQ(ErrorOf("parallel.tensor=2,3"),
            "--over parallel.tensor: no layout of test on these 8 GPUs has the value 3; it divides "
            "what it has to (GPUs, layers, experts, the global batch) with none of the others");
  EXPECT_EQ(ErrorOf("parallel.tensor=two"),
            "--over parallel.tensor: 'two' is not a number from 1 on");
  EXPECT_EQ(ErrorOf("parallel.expert=2"),
            "--over parallel.expert: no layout of this model and its framework has this key; give "
            "its value with --set");
}

}  // namespace
}  // namespace drydock
