// "Does what other tools write come in, as they write it?" Small files of ours in the form of
// AICB's and ATLAHS's writers, with what is unusual in theirs.
#include <gmock/gmock.h>

#include <set>

#include "core/base/files.h"
#include "core/base/testing.h"
#include "workload-gen/graph/check.h"
#include "workload-gen/graph/import.h"
#include "workload-gen/graph/simai_file.h"
#include "workload-gen/graph/test_workloads.h"

namespace drydock {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Topology& Cluster() {
  static const Topology topology = ShippedCluster("dgx-h100-1", 1).topology;
  return topology;
}

using Import = Result<Imported> (*)(const ImportInput&, const Topology&, const ForeignOptions&);

Result<Imported> ImportText(Import import, const std::string& text) {
  const testing::TemporaryDirectory dir;
  EXPECT_TRUE(WriteFileAtomically(dir / "w.txt", text).ok());
  return import({dir / "w.txt", ""}, Cluster(), {});
}

// What an import made, proven.
Workload Made(Import import, const std::string& text) {
  const Result<Imported> imported = ImportText(import, text);
  EXPECT_TRUE(imported.ok()) << imported.error().ToString();
  if (!imported.ok()) return {};
  EXPECT_EQ(CheckWorkload(imported->workload).violations.count(), 0u);
  return imported->workload;
}

// AICB's ZeRO-3 files: few keys, blanks and tabs mixed, floats, no newline at the end.
TEST(AicbTest, KeysThatAreLeftOutAndMixedBlanks) {
  const Workload w = Made(ImportSimai,
                          "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 1 "
                          "checkpoints: 0 checkpoint_initiates: 0\n2\n"
                          "layer1\t-1\t 14356000\tNONE\t0   4756000\tALLGATHER\t357468\t 1\t"
                          "REDUCESCATTER\t1889785610\t100\r\n"
                          "layer2\t-1\t 7168000.0\tNONE\t0\t 13844000\tALLGATHER\t317843.0\t 1\t"
                          "NONE    0\t100");
  EXPECT_EQ(w.rank_count(), 8) << "all_gpus is not said: the cluster's";
  std::set<std::string> calls;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      if (op.kind == OpKind::kCollective) calls.insert(w.roles[op.role].name);
    }
  }
  EXPECT_THAT(calls, ElementsAre("dp"));
}

// The header of its test of many all-reduces breaks lines with blanks and names ep otherwise.
TEST(AicbTest, MicroTests) {
  const Workload w = Made(ImportSimai,
                          "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 2           "
                          "    expert_parallel_npu_group: 2 pp: 1                 ga: 1 all_gpus: "
                          "8 checkpoints: 0 checkpoint_initiates: 0\n1\n"
                          "micro_test\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLREDUCE_DP_EP\t4096\t1\n");
  ASSERT_EQ(w.calls.size(), 1u);
  EXPECT_EQ(w.calls[0].group_size, 2) << "8 / (2 x 2)";
  EXPECT_EQ(
      Made(ImportSimai, "MICRO\n1\nmicro_test\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLTOALL\t4096\t1\n")
          .calls[0]
          .group_size,
      8);
}

TEST(AicbTest, InferenceIsOutOfScope) {
  const std::string head =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: 1 all_gpus: 8 ";
  const std::string rows =
      "vpp: 1 ga: 1 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n1\n"
      "moe_route\t-1\t5\tNONE\t0\t0\tNONE\t0\t0\tNONE\t0\t100\n";
  EXPECT_EQ(
      testing::FirstLine(testing::ErrorText(ParseSimaiFile(head + "mode: 1 " + rows, "w.txt"))),
      "w.txt:1:91: error: mode 1 is inference, which is out of scope: Drydock rehearses "
      "iterations of training");
  EXPECT_TRUE(ParseSimaiFile(head + "mode: 0 " + rows, "w.txt").ok());
}

// Two nodes as ATLAHS writes them of a trace of NCCL: a start and an end, per group of calls a calc
// for the time in between, the chunks of a channel with their own cpu. Tags are digits one behind
// the other (chunk, channel, sequence, kind, communicator); some messages are empty.
std::string Atlahs(int chunks, int cpu) {
  const std::string on = " cpu " + std::to_string(cpu);
  std::string text = "num_ranks 2\n";
  for (const int rank : {0, 1}) {
    const std::string peer = std::to_string(1 - rank);
    text += "\nrank " + std::to_string(rank) + " {\n";
    text += "l1: calc 0 cpu 0\nl2: calc 0 cpu 0\nl3: calc 250000 cpu 1\nl3 requires l1\n";
    text += "l4: calc 0" + on + "\nl4 requires l3\n";
    int label = 4;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const std::string tag = std::to_string(chunk) + "00" + "0003" + "1" + "02";
      const std::string before = " requires l" + std::to_string(label) + "\n";
      const std::string send = "l" + std::to_string(label + 1),
                        recv = "l" + std::to_string(label + 2);
      text += send + ": send 524288b to " + peer + " tag " + tag + on + " nic 0\n" + send + before;
      text +=
          recv + ": recv 524288b from " + peer + " tag " + tag + on + " nic 0\n" + recv + before;
      text += "l" + std::to_string(label + 3) + ": calc 1343" + on + "\n";
      text += "l" + std::to_string(label + 3) + " requires " + recv + "\n";
      label += 3;
    }
    const std::string empty = "l" + std::to_string(label + 1);
    text += empty + ": " + (rank == 0 ? "send 0b to " : "recv 0b from ") + peer +
            " tag 00000000 cpu 0 nic 1\n";
    text += "l2 requires l" + std::to_string(label) + "\n}\n";
  }
  return text;
}

TEST(AtlahsTest, TagsOfMoreThanThirtyTwoBits) {
  // The sixth chunk's tag is 5000003102: five thousand million.
  const Result<Imported> imported = ImportText(ImportGoal, Atlahs(12, 2));
  ASSERT_TRUE(imported.ok()) << imported.error().ToString();
  EXPECT_EQ(CheckWorkload(imported->workload).violations.count(), 0u);
  std::set<int32_t> tags;
  for (const Op& op : imported->workload.programs[0].ops) {
    if (op.kind == OpKind::kSend) tags.insert(op.tag);
  }
  EXPECT_EQ(tags.size(), 12u) << "none became another's";
  EXPECT_THAT(imported->warnings,
              Contains("10 tags are too large for a workload and are numbered anew from "
                       "1073741824"));
  EXPECT_THAT(imported->warnings,
              Contains(HasSubstr("messages name NICs: each leaves by the NIC of its")));
}

// One cpu for each channel of each communicator of each GPU of a node.
TEST(AtlahsTest, ManyProcessors) {
  const Workload w = Made(ImportGoal, Atlahs(2, 731));
  EXPECT_THAT(w.streams, Contains("processor3"));
  std::string text = "num_ranks 1\nrank 0 {\n";
  for (int i = 1; i <= 200; ++i) {
    text += "l" + std::to_string(i) + ": calc 5 cpu " + std::to_string(10 * i) + "\n";
  }
  EXPECT_EQ(Made(ImportGoal, text + "}\n").streams.size(), 201u);
  EXPECT_THAT(testing::ErrorText(ImportText(ImportGoal, text + "x: calc 5 cpu 7\n}\n")),
              HasSubstr(":203:15: error: there are more than 200 cpus that compute"));
}

}  // namespace
}  // namespace drydock
