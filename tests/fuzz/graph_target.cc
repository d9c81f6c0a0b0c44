#include "tests/fuzz/graph_target.h"

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/schema/artefacts/rank_trace_file.h"
#include "core/schema/artefacts/trace_file.h"
#include "core/schema/inventory/cluster_text.h"
#include "core/schema/inventory/inventory.h"
#include "core/schema/testing/workload_testing.h"
#include "core/testing/unit_testing.h"
#include "tests/fuzz/printable.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/diff/diff_text.h"
#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/graph/text/stats.h"

namespace drydock::fuzz {
namespace {

using drydock::testing::TemporaryDirectory;

const TemporaryDirectory& Folder() {
  static const TemporaryDirectory folder;
  return folder;
}

const ClusterInput& Cluster() {
  static const ClusterInput cluster = drydock::testing::ToyCluster();
  return cluster;
}

void Place(const std::string& name, const std::string& content) {
  CHECK(WriteFileAtomically(Folder() / name, content).ok());
}

// If the reader fails, its message is printable. If it succeeds and the check finds no violation,
// the workload can be counted, written and read again.
void CheckImported(const Result<Imported>& imported) {
  CheckPrintable(imported);
  if (!imported.ok()) return;
  const Workload& workload = imported->workload;
  if (CheckWorkload(workload).violations.count() > 0) return;
  CHECK(StatsOf(workload).ops >= 0);
  const WorkloadDiff diff = CompareWorkloads(workload, workload, {});
  CHECK_NOTE(diff.equal(), DiffText(diff, 1));
  const std::string run = Folder() / "run";
  const Status written = WriteWorkload(run, workload, Cluster(), {"workload-gen", {}, {}});
  CHECK_NOTE(written.ok(), written.ok() ? "" : written.error().ToString());
  const Result<WorkloadFile> read = ReadWorkload(run, WorkloadParts::kAll);
  CHECK_NOTE(read.ok(), read.ok() ? "" : read.error().ToString());
}

Result<Imported> Import(const char* format, const std::string& place) {
  return FindForeignFormat(format).value()->read({place, ""}, Cluster().topology, {});
}

// ---- Handwritten traces: Drydock's traces have attributes that other tools do not write. ------

std::string Varint(uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
std::string Number(int field, uint64_t value) {
  return Varint(static_cast<uint64_t>(field) << 3) + Varint(value);
}
std::string Text(int field, const std::string& value) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(value.size()) + value;
}
std::string Attribute(const std::string& name, uint64_t value) {
  return Text(10, Text(1, name) + Number(9, value));
}
std::string Node(uint64_t id, uint64_t type, const std::string& rest) {
  const std::string node = Number(1, id) + Text(2, "op") + Number(3, type) + rest;
  return Varint(node.size()) + node;
}
const std::string kHead = std::string("\x07\x0a\x05") + "0.0.4";

std::string OtherTrace() {
  return kHead +
         Node(1, 6,
              Attribute("comm_src", 0) + Attribute("comm_size", 64) + Attribute("comm_tag", 3)) +
         Node(2, 7,
              Number(5, 1) + Attribute("comm_type", 0) + Attribute("comm_size", 128) +
                  Text(10, Text(1, "pg_name") + Text(29, "1")));
}

}  // namespace

void ForeignTrace(const std::string& input) {
  Place("traces/t.0.et", input);
  Place("traces/t.1.et", OtherTrace());
  Place("traces/t.json", "{\"1\": [0, 1]}");
  CheckImported(Import("chakra", Folder() / "traces"));
}

std::vector<std::string> ForeignTraceSeeds() {
  CHECK(MakeDirectories(Folder() / "traces").ok());
  const std::string metadata = Text(8, Text(1, "[{\"pg_name\": \"1\", \"ranks\": [0, 1]}]"));
  return {kHead + Node(5, 4, Number(7, 12)) +
              Node(9, 5,
                   Number(5, 5) + Attribute("comm_dst", 1) + Attribute("comm_size", 64) +
                       Attribute("comm_tag", 3)) +
              Node(7, 7,
                   Number(4, 9) + Attribute("comm_type", 0) + Attribute("comm_size", 128) +
                       Text(10, Text(1, "pg_name") + Text(29, "1"))),
          kHead + Node(1, 1, metadata) +
              Node(2, 4, Attribute("num_ops", 1000) + Attribute("tensor_size", 64)) +
              Node(3, 4, Attribute("is_cpu_op", 1) + Number(4, 1) + Attribute("duration_ps", 7)) +
              Node(4, 2, Attribute("tensor_size", 64)),
          OtherTrace()};
}

void ForeignJson(const std::string& input) {
  Place("json/t.0.json", input);
  Place("json/t.1.et", OtherTrace());
  Place("json/t.json", "{\"1\": [0, 1]}");
  CheckImported(Import("chakra", Folder() / "json"));
}

std::vector<std::string> ForeignJsonSeeds() {
  CHECK(MakeDirectories(Folder() / "json").ok());
  return {
      R"({"version": "0.0.4"}{"id": "5", "type": "COMP_NODE", "durationMicros": "12"}{
"id": "9", "type": "COMM_SEND_NODE", "dataDeps": ["5"], "attr": [{"name": "comm_dst", "int32Val": 1},
{"name": "comm_size", "int64Val": "64"}, {"name": "comm_tag", "uint32Val": 3}]}{"id": "7", "type":
"COMM_COLL_NODE", "ctrlDeps": ["9"], "inputs": {"values": "[]"}, "attr": [{"name": "comm_type",
"int64Val": "0"}, {"name": "comm_size", "int64Val": "128"}, {"name": "pg_name", "stringVal": "1"}]})",
      R"({"workload_graph": [{"Id": 9, "Name": "s}{", "NodeType": 5, "data_deps": [], "comm_dst": 1,
"comm_size": 64, "comm_tag": 3}, {"Id": 7, "NodeType": 7, "data_deps": [9], "ctrlDeps": [3],
"is_cpu_op": false, "comm_type": 0, "comm_size": 128, "pg_name": "1", "num_ops": 1.5}]})"};
}

void ForeignGroups(const std::string& input) {
  Place("grouped/t.0.et", ForeignTraceSeeds()[0]);
  Place("grouped/t.1.et", OtherTrace());
  Place("grouped/t.json", input);
  CheckImported(Import("chakra", Folder() / "grouped"));
}

std::vector<std::string> ForeignGroupsSeeds() {
  CHECK(MakeDirectories(Folder() / "grouped").ok());
  return {"{\"1\": [0, 1]}", "{\n\"2\": [0],\n\"1\": [1, 0]}", "{\"1\": [[[]]], \"\": [1e9]}"};
}

void SimaiWorkload(const std::string& input) {
  Place("w.txt", input);
  CheckImported(Import("simai", Folder() / "w.txt"));
}

std::vector<std::string> SimaiWorkloadSeeds() {
  return {
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 "
      "all_gpus: 4 checkpoints: 1 0 checkpoint_initiates: 1 1 pp_comm: 0.5\n2\n"
      "grad_norm -1 1 ALLGATHER 100 1 NONE 0 1 ALLREDUCE_DP_EP 64 0\n"
      "mlp -1 1000 ALLREDUCE 4096 500 ALLTOALL_EP 4096 500 REDUCESCATTER 0 100\n",
      "HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1 model_parallel_NPU_group: 2\n2\n"
      "a -1 1 ALLTOALL 8 1 ALLTOALL 8 1 NONE 0 0\nb -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 9 5\n",
      "HYBRID_CUSTOMIZED model_parallel_NPU_group: 2\n1\n"
      "a -1 1 ALLGATHER 7 1 NONE 0 1 ALLREDUCE 8 5 DATA\n",
      "MICRO\n1\na -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 1e6 0\n"};
}

void AicbWorkload(const std::string& input) {
  Place("w.csv", input);
  CheckImported(Import("aicb", Folder() / "w.csv"));
}

std::vector<std::string> AicbWorkloadSeeds() {
  const std::string end = "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n";
  return {
      "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,"
      "busbw,count\nCommType.all_reduce,CommGroup.dp_group,1,8,init,None,None,,None,None,None,1\n" +
          end +
          "CommType.computation,CommGroup.all,,((8 1 4) (4 "
          "2)),forward.A,None,None,,0.5,None,None,1\n"
          "CommType.all_reduce,CommGroup.tp_group,2,64,forward.A,None,None,,0.25,None,None,1\n" +
          end,
      "[ pp_stage0: [rank0] ]\ncomm_type,comm_group,msg_size,stage,additional\n"
      "CommType.isend,CommGroup.pp_group,32,forward_step,send_next\n[ pp_stage1: [rank1] ]\n"
      "comm_type,comm_group,msg_size,stage,additional\n"
      "CommType.irecv,CommGroup.pp_group,32,forward_step,recv_prev\n",
      "[rank0 ~ rank1]\ncomm_type,comm_group,comm_group_size,msg_size,stage,count\n"
      "broadcast,dp_group,2,1e3,\tinit,1\nall_gather,ep_group,1,4096.0,forward,2\n"};
}

// A binary schedule: rank 0 computes, then sends to rank 1, which receives.
std::string GoalBinary() {
  const auto bytes = [](uint64_t value, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  const auto op = [&bytes](int kind, uint64_t peer, uint64_t dependents) {
    return bytes(0, 4) + bytes(static_cast<uint64_t>(kind), 1) + bytes(peer, 4) + bytes(64, 8) +
           bytes(7, 4) + bytes(0, 2) + bytes(dependents, 8) + bytes(0, 8);
  };
  const std::string first = bytes(2, 4) + bytes(0, 4) + op(3, 0, 1) + op(1, 1, 0) + bytes(1, 4);
  const std::string second = bytes(1, 4) + bytes(0, 4) + op(2, 0, 0);
  const uint64_t begin = 6 + 2 * 16, middle = begin + first.size();
  return bytes(4223, 8) + bytes(2, 4) + bytes(0, 2) + bytes(begin, 8) + bytes(middle, 8) +
         bytes(middle, 8) + bytes(middle + second.size(), 8) + first + second;
}

void GoalSchedule(const std::string& input) {
  Place("s.goal", input);
  CheckImported(Import("goal", Folder() / "s.goal"));
}

std::vector<std::string> GoalScheduleSeeds() {
  return {
      "num_ranks 2\nrank 0 {\nl1: calc 100 cpu 0\nl2: send 64b to 1 tag 7 cpu 0 nic 0\n"
      "l2 requires l1\nl3: recv 8b from 1\n}\nrank 1 {\nl1: recv 64b from 0 tag 7\n"
      "l2: send 8b to 0\nl3: calc 5 cpu 2\nl3 irequires l2\nl2 requires l1\n}\n",
      "num_ranks 2\nrank 0 {\nl1: calc 0 cpu 731\nl2: send 64b to 1 tag 5000003102 cpu 731 nic "
      "1\nl2 requires l1\n}\n\nrank 1 {\nl1: recv 64b from 0 tag 5000003102 cpu 12 nic 0\n"
      "l2: recv 0b from 0 tag 00000000\n}\n",
      "// text\nnum_ranks 1\nrank 0 {\n}\n", GoalBinary()};
}

// A cluster that can be made of an inventory can be read.
void InventoryOf(const std::string& input) {
  const YamlNode base = ParseYaml(Cluster().yaml, "base").value();
  for (const bool table : {false, true}) {
    const Result<Inventory> inventory =
        table ? ParseCableTable(input, "f", "h*") : ParseIbNetDiscover(input, "f");
    CheckPrintable(inventory);
    if (!inventory.ok()) continue;
    const auto cluster =
        ClusterOfInventory(*inventory, base, 1, Bandwidth::BitsPerSecond(1'000'000'000), "c");
    CheckPrintable(cluster);
    if (cluster.ok()) CheckPrintable(ParseYaml(cluster->text, "c"));
  }
}

std::vector<std::string> InventorySeeds() {
  return {
      "Switch\t41 \"S-b0\"\t# \"MF0;leaf1:MQM9700/U1\" enhanced port 0\n[1]\t\"H-c2\"[1](c2)\t# "
      "\"h2 mlx5_0\" lid 10 4xNDR\nCa\t1 \"H-c2\"\t# \"h2 mlx5_0\"\n[1](c2)\t\"S-b0\"[1]\t# "
      "4xNDR\n",
      "Side A Device,Side A Name,Side B Device,Side B Name,Speed,Length,Length Unit\n"
      "h1,eth0,\"s,1\",swp1,400G,3,m\nh2,eth0,s2,swp2,100000,10,ft\n"};
}

void RankTrace(const std::string& input) {
  static const Workload workload = drydock::testing::ToyWorkload();
  const Result<drydock::RankTrace> trace = DecodeRankTrace(input, workload, 0, "f");
  if (!trace.ok()) return;
  CHECK(DecodeTrace(EncodeTrace(workload, trace->program), workload, "f").ok());
}

std::vector<std::string> RankTraceSeeds() {
  const Workload workload = drydock::testing::ToyWorkload();
  const std::vector<Time> unknown(workload.blocks.size(), Time::Max());
  const std::vector<Time> known(workload.blocks.size(), Time::Us(3));
  return {EncodeRankTrace(workload, 0, unknown), EncodeRankTrace(workload, 2, known)};
}

}  // namespace drydock::fuzz
