#include "study/goodput/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/testing/unit_testing.h"
#include "study/goodput/time_units.h"

namespace drydock {
namespace {

using ::testing::ElementsAre;
using testing::ErrorText;

// `hosts` hosts of two GPUs on a switch; 2 s an iteration of 1000 tokens a host.
RunFacts RunOf(int hosts) {
  RunFacts run;
  run.run = "runs/" + std::to_string(hosts);
  run.step = 2;
  Workload& workload = run.workload;
  Topology& topology = workload.topology;
  topology.host_kinds.resize(1);
  topology.host_kinds[0].gpus = 2;
  topology.host_kinds[0].nics.count = 1;
  topology.hosts.assign(static_cast<size_t>(hosts), 0);
  topology.gpus.resize(1);
  topology.gpus[0].compute_capability = 80;
  topology.gpus[0].pcie = Bandwidth::FromBytesPerSecond(100);
  topology.fabric.switches.resize(1);
  for (int host = 0; host < hosts; ++host) {
    FabricLink& link = topology.fabric.links.emplace_back();
    link.a = {false, host, 0};
    link.b = {true, 0, 0};
  }
  topology.storage =
      Storage{Bandwidth::FromBytesPerSecond(1000), Bandwidth::FromBytesPerSecond(500), {}, "s"};
  const int ranks = 2 * hosts;
  workload.class_of_rank.assign(static_cast<size_t>(ranks), 0);
  workload.class_count = 1;
  workload.memory = {{{"parameters", Bytes(500)}, {"optimizer states", Bytes(3000)}}};
  workload.totals.parameters = 250 * ranks;
  workload.totals.tokens = 1000 * hosts;
  Group all;
  for (int rank = 0; rank < ranks; ++rank) all.ranks.push_back(rank);
  Group pair;
  pair.ranks = {0, 1};
  workload.groups = {all, pair};
  workload.uses = {{0, 0}, {0, 1}, {1, 0}};
  return run;
}

FailureModel Model() {
  FailureModel model;
  for (FailureModel::Rate& rate : model.rates) rate.per_year = {1, "test"};
  model.rates[static_cast<size_t>(FailingPart::kSoftware)].detect = KnownOrNot{600, "test"};
  model.recovery = {{30, "a"}, {100, "b"}, {3600, "c"}, {60, "d"}, {2, "e"}, {0.5, "f"}};
  return model;
}

TEST(Question, TakesTimesFromTheRunAndTheModel) {
  const RunFacts run = RunOf(4);
  const Posed posed = *Pose({}, run, nullptr, nullptr, Model());
  const MonthPlan& plan = posed.plan;
  EXPECT_DOUBLE_EQ(plan.horizon, 54 * kSecondsOfDay);
  EXPECT_DOUBLE_EQ(plan.full.step, 2);
  EXPECT_DOUBLE_EQ(plan.full.stall, 8 * 3500 / 500.0);
  EXPECT_DOUBLE_EQ(plan.full.write, 0);
  EXPECT_DOUBLE_EQ(plan.restore, 8 * 3500 / 1000.0);
  EXPECT_DOUBLE_EQ(plan.start, 60);
  // Rank 0 makes two communicators, of eight and two members.
  EXPECT_EQ(posed.communicators.communicators, 2);
  EXPECT_EQ(posed.communicators.members, 10);
  EXPECT_DOUBLE_EQ(plan.communicators, 2 * 2 + 10 * 0.5);
  EXPECT_DOUBLE_EQ(plan.detect[static_cast<size_t>(FailingPart::kGpu)], 30);
  EXPECT_DOUBLE_EQ(plan.detect[static_cast<size_t>(FailingPart::kSoftware)], 600);
  EXPECT_DOUBLE_EQ(plan.repair[static_cast<size_t>(FailingPart::kSwitch)], 3600);
  EXPECT_TRUE(posed.unknown.empty());
}

TEST(Question, ListsWhatIsUnknownAndMatters) {
  FailureModel model = Model();
  model.rates[static_cast<size_t>(FailingPart::kSwitch)].per_year.value.reset();
  model.recovery.start.value.reset();
  model.recovery.replace.value.reset();
  model.recovery.repair.value.reset();
  const RunFacts run = RunOf(4);
  EXPECT_THAT(Pose({}, run, nullptr, nullptr, model)->unknown,
              ElementsAre("failures.switch", "recovery.repair", "recovery.start"));
  Question spares;
  spares.policy = Policy::kSpares;
  spares.spares = 1;
  EXPECT_THAT(
      Pose(spares, run, nullptr, nullptr, model)->unknown,
      ElementsAre("failures.switch", "recovery.repair", "recovery.replace", "recovery.start"));
}

TEST(Question, AsynchronousCheckpointsSlowTrainingAsTheirRunDoes) {
  Question question;
  question.asynchronous = true;
  const RunFacts run = RunOf(4);
  Posed posed = *Pose(question, run, nullptr, nullptr, Model());
  EXPECT_THAT(posed.unknown, ElementsAre("interference of asynchronous checkpoints (--writing)"));
  EXPECT_DOUBLE_EQ(posed.plan.full.write, 56);
  EXPECT_DOUBLE_EQ(posed.plan.full.stall, posed.times.snapshot);
  EXPECT_LT(posed.times.snapshot, posed.times.write);
  RunFacts writing = RunOf(4);
  writing.step = 2.5;
  posed = *Pose(question, run, nullptr, &writing, Model());
  EXPECT_TRUE(posed.unknown.empty());
  EXPECT_DOUBLE_EQ(posed.plan.full.writing_step, 2.5);
  writing.workload.totals.tokens = 1;
  EXPECT_EQ(ErrorText(Pose(question, run, nullptr, &writing, Model())),
            "runs/4: error: it does not train the same model with the same tokens an iteration as "
            "runs/4");
}

TEST(Question, ShrinksToTheOtherRun) {
  Question question;
  question.policy = Policy::kShrink;
  const RunFacts run = RunOf(4);
  RunFacts shrunk = RunOf(3);
  shrunk.workload.totals.parameters = run.workload.totals.parameters;
  const Posed posed = *Pose(question, run, &shrunk, nullptr, Model());
  EXPECT_EQ(posed.plan.most_lost, 1);
  EXPECT_DOUBLE_EQ(posed.plan.shrunk_worth, 0.75);
  EXPECT_DOUBLE_EQ(posed.plan.shrunk.stall, posed.plan.full.stall);

  FailureModel model = Model();
  model.recovery.repair.value.reset();
  EXPECT_EQ(ErrorText(Pose(question, run, &shrunk, nullptr, model)),
            "error: 'recovery.repair' is unknown: for how long a run shrinks depends on it; state "
            "it with --set 'recovery.repair={time: …, source: …}'");
  shrunk.step = 1;
  EXPECT_EQ(ErrorText(Pose(question, run, &shrunk, nullptr, Model())),
            "runs/3: error: its 3 hosts train more tokens a second than the 4 of runs/4");
  shrunk.workload.totals.parameters = 1;
  EXPECT_EQ(ErrorText(Pose(question, run, &shrunk, nullptr, Model())),
            "runs/3: error: it trains another model than runs/4");
  EXPECT_EQ(ErrorText(Pose(question, run, &run, nullptr, Model())),
            "runs/4: error: it has 4 hosts, not fewer than the 4 of runs/4");
}

TEST(Question, RefusesWhatItCannotAnswer) {
  RunFacts run = RunOf(4);
  FailureModel model = Model();
  model.rates[0].per_year.value = 1e6;
  EXPECT_EQ(ErrorText(Pose({}, run, nullptr, nullptr, model)),
            "error: 1.18e+06 failures in 54 days: at most 1e6 can be simulated; state fewer days "
            "or smaller rates");
  run.workload.memory.clear();
  EXPECT_EQ(ErrorText(Pose({}, run, nullptr, nullptr, Model())),
            "runs/4: error: its workload states no memory, so the size of a checkpoint is unknown; "
            "give it with --checkpoint-size");
  run.workload.topology.storage.reset();
  EXPECT_EQ(ErrorText(Pose({}, run, nullptr, nullptr, Model())),
            "runs/4: error: its cluster states no 'storage', so how long a checkpoint takes is "
            "unknown; predict the run again with 'storage' in the cluster file, or with --set "
            "storage.read=…, storage.write=… and storage.source=…");
}

}  // namespace
}  // namespace drydock
