// "Does the import read the files of other tools?" Small files in the form that AICB and ATLAHS
// write, with the special features of both.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <iterator>
#include <set>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/graph/foreign/simai_file.h"
#include "workload-gen/testing/workloads_testing.h"

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

// Imports `text`, checks the workload and returns it.
Workload Made(Import import, const std::string& text) {
  const Result<Imported> imported = ImportText(import, text);
  EXPECT_TRUE(imported.ok()) << imported.error().ToString();
  if (!imported.ok()) return {};
  EXPECT_EQ(CheckWorkload(imported->workload).violations.count(), 0u);
  return imported->workload;
}

// An op of a rank as text: "all-reduce 64 over 0,1", "send 32 to 2".
std::vector<std::string> OpsOf(const Workload& w, int rank) {
  std::vector<std::string> out;
  const auto at = static_cast<size_t>(rank);
  for (const Op& op : w.programs[static_cast<size_t>(w.class_of_rank[at])].ops) {
    if (op.kind == OpKind::kCompute) {
      out.push_back(w.blocks[op.work].name);
      continue;
    }
    const CommCall& call = w.calls[op.work];
    const std::vector<int>& ranks =
        w.groups[static_cast<size_t>(w.group_of_rank[op.role][at])].ranks;
    out.push_back(fmt::format("{} {} {} over {}", OpKindName(op.kind),
                              CollectiveTypeNames()[static_cast<size_t>(call.collective)],
                              call.bytes().count(), fmt::join(ranks, ",")));
  }
  return out;
}

// Two stages of two ranks. A row before the first epoch_end sets up.
TEST(AicbTest, StagesOfAPhysicalWorkload) {
  const std::string head =
      "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,"
      "busbw,count\n";
  const std::string end = "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n";
  const std::string set_up =
      "CommType.all_reduce,CommGroup.dp_group,1,8,init,None,None,,None,None,None,1\n" + end;
  const auto row = [](const std::string& type, const std::string& group, const std::string& size,
                      const std::string& stage, const std::string& way) {
    return fmt::format("CommType.{},CommGroup.{},{},{},None,None,{},None,None,None,1\n", type,
                       group, size, stage, way);
  };
  const std::string text = "[ pp_stage0: [rank0, rank1] ]\n" + head + set_up +
                           row("computation", "all", ",((8 1 4) (4 2))", "forward.A", "") +
                           row("all_reduce", "tp_group", "2,64", "forward.A", "") +
                           row("isend", "pp_group", "1,32", "forward_step", "send_next") +
                           row("all_reduce", "tp_group", "2,0", "step", "") + end +
                           "[ pp_stage1: [rank2, rank3] ]\n" + head + set_up +
                           row("irecv", "pp_group", "1,32", "forward_step", "recv_prev") +
                           row("all_gather", "tp_group", "2,64", "backward.B", "") + end;
  const Workload w = Made(ImportAicb, text);
  EXPECT_THAT(OpsOf(w, 1), ElementsAre("forward.A", "collective all-reduce 64 over 0,1",
                                       "send send-recv 32 over 1,3"));
  EXPECT_THAT(OpsOf(w, 3),
              ElementsAre("recv send-recv 32 over 1,3", "collective all-gather 64 over 2,3"));
  EXPECT_EQ(w.submodules[0].flops, 2.0 * 8 * 4 * 2);
  EXPECT_EQ(w.submodules[0].bytes, Bytes(2 * (32 + 8 + 16)));
  const Result<Imported> imported = ImportText(ImportAicb, text);
  EXPECT_THAT(imported->warnings, Contains("left out: 2 rows of set-up"));
  EXPECT_THAT(imported->warnings, Contains("left out: 2 calls of 0 bytes"));
}

// Each rank receives first; in order of the rows neither would ever send.
TEST(AicbTest, MessagesInConsecutiveRowsStartTogether) {
  std::string text;
  for (int stage = 0; stage < 2; ++stage) {
    const std::string way = stage == 0 ? "next" : "prev";
    text += fmt::format("[ pp_stage{0}: [rank{0}] ]\n", stage) +
            "comm_type,comm_group,msg_size,stage,additional\n"
            "CommType.irecv,CommGroup.pp_group,32,forward_step,recv_" +
            way + "\n" + "CommType.isend,CommGroup.pp_group,32,forward_step,send_" + way + "\n" +
            "CommType.computation,CommGroup.all,((2 2) (2 2)),forward,\n";
  }
  const Workload w = Made(ImportAicb, text);
  const Program& program = w.programs[0];
  ASSERT_EQ(program.ops.size(), 3u);
  const std::vector<uint32_t> begins = {0, 0, 0, 2};
  EXPECT_EQ(program.dependency_begin, begins);
}

TEST(AicbTest, ReportsWhatItCannotRead) {
  const std::string head = "comm_type,comm_group,comm_group_size,msg_size,stage,additional\n";
  const auto mistake = [&](const std::string& row) {
    return testing::FirstLine(testing::ErrorText(ImportText(ImportAicb, head + row)));
  };
  EXPECT_THAT(mistake("CommType.all_reduc,CommGroup.tp_group,2,64,forward,\n"),
              HasSubstr("w.txt:2: error: there is no comm_type 'all_reduc'; did you mean "
                        "'all_reduce'?; types are all_gather, "));
  EXPECT_THAT(
      mistake("CommType.all_reduce,CommGroup.tp_grp,2,64,forward,\n"),
      HasSubstr("w.txt:2: error: there is no comm_group 'tp_grp'; did you mean 'tp_group'?; "
                "groups are tp_group, dp_group, "));
  EXPECT_THAT(mistake("CommType.all_reduce,CommGroup.tp_group,3,64,forward,\n"),
              HasSubstr("w.txt:2: error: 8 ranks do not divide into 1 stages of groups of 3"));
  EXPECT_THAT(mistake("CommType.isend,CommGroup.pp_group,1,64,forward,send_next\n"),
              HasSubstr("w.txt:2: error: the file has the messages of one pipeline stage only; "));
  EXPECT_THAT(mistake("CommType.computation,,,8,forward,\n"),
              HasSubstr("w.txt:2: error: a computation states the shapes of two factors, "
                        "'((m k) (k n))', or its time"));
}

// AICB's ZeRO-3 files have few keys, mixed blanks and tabs, floats, and no newline at the end.
TEST(AicbTest, MissingKeysAndMixedBlanks) {
  const Workload w = Made(ImportSimai,
                          "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 1 "
                          "checkpoints: 0 checkpoint_initiates: 0\n2\n"
                          "layer1\t-1\t 14356000\tNONE\t0   4756000\tALLGATHER\t357468\t 1\t"
                          "REDUCESCATTER\t1889785610\t100\r\n"
                          "layer2\t-1\t 7168000.0\tNONE\t0\t 13844000\tALLGATHER\t317843.0\t 1\t"
                          "NONE    0\t100");
  EXPECT_EQ(w.rank_count(), 8) << "all_gpus defaults to the cluster's GPUs";
  std::set<std::string> calls;
  for (const Program& program : w.programs) {
    for (const Op& op : program.ops) {
      if (op.kind == OpKind::kCollective) calls.insert(w.roles[op.role].name);
    }
  }
  EXPECT_THAT(calls, ElementsAre("dp"));
}

// The header of AICB's test of many all-reduces has runs of blanks and another name of ep.
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

// Returns the schedule of two nodes that ATLAHS writes for a trace of NCCL: a start and an end, one
// calc per group of calls for the time in between, and chunks with one cpu per channel. A tag
// concatenates chunk, channel, sequence, kind and communicator. Some messages are empty.
std::string Atlahs(int chunks, int cpu) {
  std::string text = "num_ranks 2\n";
  const auto out = std::back_inserter(text);
  for (const int rank : {0, 1}) {
    const int peer = 1 - rank;
    fmt::format_to(out, "\nrank {} {{\nl1: calc 0 cpu 0\nl2: calc 0 cpu 0\n", rank);
    fmt::format_to(out, "l3: calc 250000 cpu 1\nl3 requires l1\n");
    fmt::format_to(out, "l4: calc 0 cpu {}\nl4 requires l3\n", cpu);
    int last = 4;
    for (int chunk = 0; chunk < chunks; ++chunk, last += 3) {
      const std::string rest = fmt::format("tag {}000003102 cpu {} nic 0", chunk, cpu);
      const int send = last + 1, receive = last + 2, copy = last + 3;
      fmt::format_to(out, "l{}: send 524288b to {} {}\n", send, peer, rest);
      fmt::format_to(out, "l{} requires l{}\n", send, last);
      fmt::format_to(out, "l{}: recv 524288b from {} {}\n", receive, peer, rest);
      fmt::format_to(out, "l{} requires l{}\n", receive, last);
      fmt::format_to(out, "l{}: calc 1343 cpu {}\nl{} requires l{}\n", copy, cpu, copy, receive);
    }
    fmt::format_to(out, "l{}: {} {} tag 00000000 cpu 0 nic 1\n", last + 1,
                   rank == 0 ? "send 0b to" : "recv 0b from", peer);
    fmt::format_to(out, "l2 requires l{}\n}}\n", last);
  }
  return text;
}

TEST(AtlahsTest, TagsOfMoreThanThirtyTwoBits) {
  // The sixth chunk's tag is 5000003102, which exceeds 32 bits.
  const Result<Imported> imported = ImportText(ImportGoal, Atlahs(12, 2));
  ASSERT_TRUE(imported.ok()) << imported.error().ToString();
  EXPECT_EQ(CheckWorkload(imported->workload).violations.count(), 0u);
  std::set<int32_t> tags;
  for (const Op& op : imported->workload.programs[0].ops) {
    if (op.kind == OpKind::kSend) tags.insert(op.tag);
  }
  EXPECT_EQ(tags.size(), 12u) << "tags stay distinct";
  EXPECT_THAT(imported->warnings,
              Contains("10 tags are too large for a workload and are renumbered from "
                       "1073741824"));
  EXPECT_THAT(imported->warnings,
              Contains(HasSubstr("the NICs of messages are ignored: each message uses")));
}

// One cpu for each channel of each communicator of each GPU of a node.
TEST(AtlahsTest, ManyProcessors) {
  const Workload w = Made(ImportGoal, Atlahs(2, 731));
  EXPECT_THAT(w.streams, Contains("processor3"));
  std::string text = "num_ranks 1\nrank 0 {\n";
  for (int i = 1; i <= 200; ++i) {
    text += fmt::format("l{}: calc 5 cpu {}\n", i, 10 * i);
  }
  EXPECT_EQ(Made(ImportGoal, text + "}\n").streams.size(), 201u);
  EXPECT_THAT(testing::ErrorText(ImportText(ImportGoal, text + "x: calc 5 cpu 7\n}\n")),
              HasSubstr(":203:15: error: there are more than 200 cpus that compute"));
}

}  // namespace
}  // namespace drydock
