#include "core/schema/artefacts/artefacts.h"

#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/schema/artefacts/artefacts.pb.h"
#include "core/schema/artefacts/manifest_file.h"
#include "core/schema/artefacts/protocol.h"
#include "core/schema/testing/artefacts_testing.h"

namespace drydock {
namespace {

using testing::ArtefactsTest;
using testing::Dump;
using testing::TemporaryDirectory;

constexpr size_t kSealBytes = 6;  // a tag of two bytes and a fixed32

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

TEST_F(ArtefactsTest, AClassWithoutMemoryOfPyTorchReadsBack) {
  Workload unused = testing::ToyWorkload();
  unused.pytorch.front() = {};
  const TemporaryDirectory other;
  ASSERT_TRUE(
      WriteWorkload(other.path(), unused, testing::ToyCluster(), {"drydock-capture", {}, {}}).ok());
  const Result<WorkloadFile> read = ReadWorkload(other.path(), WorkloadParts::kAll);
  ASSERT_TRUE(read.ok()) << read.error().ToString();
  EXPECT_EQ(Dump(read->workload), Dump(unused));
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

// A field as it stands in a file: its number, its wire type, and what follows.
std::string Field(int number, int wire_type, const std::string& rest) {
  std::string out;
  for (uint32_t tag = static_cast<uint32_t>(number) << 3 | static_cast<uint32_t>(wire_type);;
       tag >>= 7) {
    if (tag < 0x80) return out + static_cast<char>(tag) + rest;
    out += static_cast<char>(tag | 0x80);
  }
}

// The reader takes the ranks out of the file before the rest is parsed. The checksums are right.
TEST_F(ArtefactsTest, ATimelineWhoseFieldsAreDamagedIsAnError) {
  const std::string path = At(kTimelineName);
  std::string whole = *ReadFile(path);
  ASSERT_TRUE(protocol::IsSealed(whole));
  whole.resize(whole.size() - kSealBytes);
  const auto error_of = [&](const std::string& content) {
    EXPECT_TRUE(WriteFileAtomically(path, protocol::Seal(content)).ok());
    return ErrorOf(kTimelineName);
  };
  ASSERT_EQ(error_of(whole), "ok");
  const std::string not_this =
      path + ": error: this is not a timeline, or it is damaged; run exec-engine again";
  constexpr int kRanks = 4, kBytes = 2, kGroup = 3, kEndOfGroup = 4;
  const std::string largest = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f", zero(1, '\0');
  const std::pair<const char*, std::string> cases[] = {
      {"a rank longer than the file", Field(kRanks, kBytes, "\x7f")},
      {"a rank of 2^63 bytes", Field(kRanks, kBytes, largest)},
      {"a rank of 2^31 bytes", Field(kRanks, kBytes, "\x80\x80\x80\x80\x08")},
      {"a rank whose length has no end", Field(kRanks, kBytes, std::string(11, '\xff'))},
      {"a rank without its length", Field(kRanks, kBytes, "")},
      {"a rank that is a group without an end", Field(kRanks, kGroup, "")},
      {"the end of a group that has not begun", Field(kRanks, kEndOfGroup, "")},
      {"a thousand groups", std::string(1000, static_cast<char>(50 << 3 & 0x78 | kGroup))},
      {"field 0", zero + zero},
      {"a wire type that does not exist", Field(50, 7, zero)},
      {"bytes longer than the file", Field(50, kBytes, largest)},
      {"a tag without an end", std::string(11, '\xff')}};
  for (const auto& [what, damage] : cases) {
    EXPECT_EQ(error_of(damage + whole), not_this) << what << " at the beginning";
    const std::string behind = error_of(whole + damage);
    if (damage.front() != '\x22') {
      EXPECT_EQ(behind, not_this) << what << " at the end";
    } else {  // the checksum may be taken for a part of the rank
      EXPECT_NE(behind, "ok") << what << " at the end";
    }
  }
  const std::string ranks = path + ": error: damaged: its ranks are not the workload's";
  EXPECT_EQ(error_of(whole + Field(kRanks, kBytes, zero)), ranks) << "one rank more";
  proto::Timeline timeline;
  ASSERT_TRUE(timeline.ParseFromString(whole));
  timeline.mutable_ranks()->RemoveLast();
  EXPECT_EQ(error_of(timeline.SerializeAsString()), ranks) << "one rank fewer";
  EXPECT_EQ(error_of(timeline.SerializeAsString() + Field(kRanks, kBytes, "\x01\xff")), not_this)
      << "a rank that is no message";
  EXPECT_EQ(error_of(whole + Field(50, kBytes,
                                   "\x03"
                                   "abc")),
            "ok")
      << "an unknown field";
}

// Ranks that refer to others: to themselves, to later ones, and to one before the first.
TEST_F(ArtefactsTest, ARankWithTheTimesOfALaterOneIsAnError) {
  const Workload& w = workload_.workload;
  std::string rest = *ReadFile(At(kTimelineName));
  proto::Timeline timeline;
  ASSERT_TRUE(timeline.ParseFromString(rest));
  timeline.clear_checksum();
  const proto::Timeline::Rank second = timeline.ranks(2);
  const auto error_with = [&](int32_t same_as, bool and_times) {
    proto::Timeline::Rank* rank = timeline.mutable_ranks(2);
    rank->Clear();
    if (and_times) *rank = second;
    rank->set_same_as(same_as);
    EXPECT_TRUE(
        WriteFileAtomically(At(kTimelineName), protocol::Seal(timeline.SerializeAsString())).ok());
    return ErrorOf(kTimelineName);
  };
  const std::string damaged =
      At(kTimelineName) + ": error: damaged: its ops are not the workload's";
  ASSERT_EQ(w.class_of_rank[0], w.class_of_rank[2]);
  EXPECT_EQ(error_with(1, false), "ok");
  EXPECT_EQ(error_with(1, true), damaged) << "with times of its own";
  for (const int32_t same_as : {3, 4, w.rank_count() + 1, -1, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(error_with(same_as, false), damaged) << same_as;
  }
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
