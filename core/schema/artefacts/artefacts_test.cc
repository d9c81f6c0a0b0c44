#include "core/schema/artefacts/artefacts.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/schema/artefacts/manifest_file.h"
#include "core/schema/testing/artefacts_testing.h"

namespace drydock {
namespace {

using testing::ArtefactsTest;
using testing::Dump;
using testing::TemporaryDirectory;

const std::vector<std::string> kAllNames = {
    kManifestName, kTopologyName, "1-workload/class-0.et", kFlowPlanName, kKernelTimesName,
    kTimelineName, kWhatIfName};

// ---- Round trips ------------------------------------------------------------------------------

TEST_F(ArtefactsTest, TheWorkloadReadsBackEqual) {
  const Workload written = testing::ToyWorkload();
  EXPECT_EQ(Dump(workload_.workload), Dump(written));
  const Topology& topology = workload_.workload.topology;
  EXPECT_EQ(topology.name, "toys");
  EXPECT_EQ(topology.fabric.links.size(), written.topology.fabric.links.size());
  EXPECT_EQ(topology.host_kinds[0].nccl_topology_xml, "<system version=\"1\"/>\n");
  EXPECT_EQ(topology.gpus[0].file_text, testing::ToyGpuText());
  EXPECT_EQ(workload_.sha256, *Sha256OfFile(At(kManifestName)));
}

TEST_F(ArtefactsTest, AttentionBackendReadsBack) {
  EXPECT_EQ(workload_.attention_backend, "");  // unknown
  const TemporaryDirectory other;
  ASSERT_TRUE(WriteWorkload(other.path(), testing::ToyWorkload(), testing::ToyCluster(),
                            {"workload-gen", {}, {}}, "pytorch")
                  .ok());
  EXPECT_EQ(ReadWorkload(other.path(), WorkloadParts::kTables)->attention_backend, "pytorch");
  EXPECT_EQ(ReadManifest(other / kManifestName)->attention_backend, "pytorch");
}

TEST_F(ArtefactsTest, TablesAloneHaveNoPrograms) {
  const Result<WorkloadFile> tables = ReadWorkload(run(), WorkloadParts::kTables);
  ASSERT_TRUE(tables.ok());
  EXPECT_TRUE(tables->workload.programs.empty());
  EXPECT_EQ(tables->workload.class_count, 2);
}

TEST_F(ArtefactsTest, PlanTimesAndTimelineReadBackEqual) {
  const Workload& w = workload_.workload;
  std::string sha256;
  const Result<FlowPlan> plan = ReadFlowPlan(run(), workload_, &sha256);
  ASSERT_TRUE(plan.ok()) << plan.error().ToString();
  EXPECT_EQ(Dump(*plan), Dump(testing::ToyFlowPlan(w)));
  EXPECT_EQ(sha256, *Sha256OfFile(At(kFlowPlanName)));
  const Result<KernelTimes> times = ReadKernelTimes(run(), workload_);
  ASSERT_TRUE(times.ok()) << times.error().ToString();
  EXPECT_EQ(Dump(*times), Dump(testing::ToyKernelTimes(w)));
  const Result<Timeline> timeline = ReadTimeline(run(), workload_);
  ASSERT_TRUE(timeline.ok()) << timeline.error().ToString();
  EXPECT_EQ(Dump(*timeline), Dump(testing::ToyTimeline(w)));
}

TEST_F(ArtefactsTest, RanksWithEqualTimesAreWrittenOnce) {
  Timeline timeline = testing::ToyTimeline(workload_.workload);
  timeline.ranks[2] = timeline.ranks[0];
  const size_t size = ReadFile(At(kTimelineName))->size();
  Provenance from = {"exec-engine", {}, {}};
  for (const char* name : {kManifestName, kFlowPlanName, kKernelTimesName}) {
    from.inputs.push_back({name, *Sha256OfFile(At(name))});
  }
  ASSERT_TRUE(WriteTimeline(run(), timeline, from).ok());
  EXPECT_LT(ReadFile(At(kTimelineName))->size(), size);
  for (const WorkloadParts parts : {WorkloadParts::kAll, WorkloadParts::kTables}) {
    const Result<Timeline> read = ReadTimeline(run(), *ReadWorkload(run(), parts));
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(Dump(*read), Dump(timeline));
  }
}

TEST_F(ArtefactsTest, WritingTwiceGivesTheSameBytes) {
  const TemporaryDirectory other;
  ASSERT_TRUE(testing::WriteToyRun(other.path()));
  for (const std::string& name : kAllNames) {
    EXPECT_EQ(*ReadFile(At(name)), *ReadFile(other / name)) << name;
  }
}

// ---- Missing and stale ------------------------------------------------------------------------

TEST_F(ArtefactsTest, MissingArtefactNamesItsTool) {
  const std::pair<std::string, std::string> cases[] = {
      {kWhatIfName, "there are no what-if answers yet; run exec-engine what-if first"},
      {kTimelineName, "there is no timeline yet; run exec-engine first"},
      {kKernelTimesName, "there are no kernel times yet; run compute-sim first"},
      {kFlowPlanName, "there is no flow plan yet; run simccl first"},
      {kManifestName, "there is no workload manifest yet; run workload-gen first"}};
  for (const auto& [name, message] : cases) {
    ASSERT_TRUE(std::filesystem::remove(At(name)));
    EXPECT_EQ(ErrorOf(name), At(name) + ": error: " + message);
  }
}

TEST_F(ArtefactsTest, StaleArtefactNamesTheToolToRun) {
  Workload changed = testing::ToyWorkload();
  changed.totals.tokens += 1;
  ASSERT_TRUE(WriteWorkload(run(), changed, testing::ToyCluster(), {"workload-gen", {}, {}}).ok());
  workload_ = *ReadWorkload(run(), WorkloadParts::kAll);
  EXPECT_EQ(
      ErrorOf(kFlowPlanName),
      At(kFlowPlanName) +
          ": error: stale: it was made from another 1-workload/manifest.pb; run simccl again");
  EXPECT_EQ(ErrorOf(kKernelTimesName), At(kKernelTimesName) +
                                           ": error: stale: it was made from another "
                                           "1-workload/manifest.pb; run compute-sim again");
  EXPECT_EQ(ErrorOf(kTimelineName),
            At(kTimelineName) +
                ": error: stale: it was made from another 1-workload/manifest.pb; "
                "run exec-engine again");
}

TEST_F(ArtefactsTest, WhatIfAnswersReadBackEqual) {
  const WhatIf what_if = *ReadWhatIf(run(), workload_);
  EXPECT_EQ(what_if.network, "analytical");
  EXPECT_EQ(what_if.better, 10);
  EXPECT_EQ(what_if.iteration, Time::Us(30));
  ASSERT_EQ(what_if.answers.size(), 1u);
  EXPECT_EQ(what_if.answers[0].name, "compute");
  EXPECT_EQ(what_if.answers[0].changed, "all kernels");
  EXPECT_EQ(what_if.answers[0].iteration, Time::Us(28));
}

TEST_F(ArtefactsTest, TimelineOfOtherKernelTimesIsStale) {
  KernelTimes times = testing::ToyKernelTimes(workload_.workload);
  times.gpus[0].submodules[0].total += Time::Ps(1);
  ASSERT_TRUE(
      WriteKernelTimes(run(), times, {"compute-sim", {{kManifestName, workload_.sha256}}, {}})
          .ok());
  EXPECT_EQ(ErrorOf(kTimelineName),
            At(kTimelineName) +
                ": error: stale: it was made from another 3-times.pb; run exec-engine again");
  EXPECT_EQ(ErrorOf(kWhatIfName), At(kWhatIfName) +
                                      ": error: stale: it was made from another 3-times.pb; run "
                                      "exec-engine what-if again");
}

TEST_F(ArtefactsTest, RejectsTraceOfAnotherManifest) {
  std::string trace = *ReadFile(At("1-workload/class-0.et"));
  trace.back() = static_cast<char>(trace.back() ^ 1);
  ASSERT_TRUE(WriteFileAtomically(At("1-workload/class-0.et"), trace).ok());
  EXPECT_EQ(
      ErrorOf(kManifestName),
      At("1-workload/class-0.et") +
          ": error: this is not the trace the manifest was written with; run workload-gen again");
}

// ---- Damaged ----------------------------------------------------------------------------------

TEST_F(ArtefactsTest, RejectsAnotherKindOfFile) {
  ASSERT_TRUE(WriteFileAtomically(At(kFlowPlanName), *ReadFile(At(kKernelTimesName))).ok());
  EXPECT_EQ(
      ErrorOf(kFlowPlanName),
      At(kFlowPlanName) + ": error: this is not a flow plan, or it is damaged; run simccl again");
}

TEST_F(ArtefactsTest, AnyTruncationIsAnError) {
  for (const std::string& name : kAllNames) {
    const std::string whole = *ReadFile(At(name));
    for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 199) {
      ASSERT_TRUE(WriteFileAtomically(At(name), whole.substr(0, size)).ok());
      EXPECT_NE(ErrorOf(name), "ok") << name << " cut at " << size;
    }
    ASSERT_TRUE(WriteFileAtomically(At(name), whole).ok());
    EXPECT_EQ(ErrorOf(name), "ok") << name;
  }
}

TEST_F(ArtefactsTest, AnyFlippedByteIsAnError) {
  for (const std::string& name : kAllNames) {
    const std::string whole = *ReadFile(At(name));
    for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 199) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      ASSERT_TRUE(WriteFileAtomically(At(name), damaged).ok());
      EXPECT_NE(ErrorOf(name), "ok") << name << " at " << at;
    }
    ASSERT_TRUE(WriteFileAtomically(At(name), whole).ok());
  }
}

}  // namespace
}  // namespace drydock
