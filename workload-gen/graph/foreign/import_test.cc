// "Does an import keep the work of another tool, in an order that ends?"
#include "workload-gen/graph/foreign/import.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/files.h"
#include "core/schema/artefacts/trace_file.h"
#include "core/testing/unit_testing.h"
#include "workload-gen/graph/check/check.h"
#include "workload-gen/graph/foreign/import_order.h"
#include "workload-gen/graph/foreign/simai_file.h"
#include "workload-gen/testing/workloads_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

const Topology& Cluster() {
  static const Topology topology = ShippedCluster("dgx-h100-1", 1).topology;
  return topology;
}

// Builds a job rank by rank from ops and their dependencies.
class JobBuilder {
 public:
  explicit JobBuilder(size_t ranks) {
    job.name = "job";
    job.format = "test";
    job.ranks.resize(ranks);
  }
  void Compute(size_t rank, uint64_t id, int64_t us, std::vector<uint32_t> after = {}) {
    ForeignOp op;
    op.id = id;
    op.block = job.tables.FixedDuration("c" + std::to_string(id), Time::Us(us));
    Add(rank, op, std::move(after));
  }
  void Message(size_t rank, uint64_t id, OpKind kind, int peer, int tag,
               std::vector<uint32_t> after = {}) {
    ForeignOp op;
    op.id = id;
    op.kind = kind;
    op.peer = peer;
    op.tag = tag;
    op.bytes = 64;
    Add(rank, op, std::move(after));
  }
  void Collective(size_t rank, uint64_t id, int group, CollectiveType type, int64_t bytes,
                  std::vector<uint32_t> after = {}) {
    ForeignOp op;
    op.id = id;
    op.kind = OpKind::kCollective;
    op.group = group;
    op.collective = type;
    op.bytes = bytes;
    Add(rank, op, std::move(after));
  }

  ForeignJob job;

 private:
  void Add(size_t rank, const ForeignOp& op, std::vector<uint32_t> after) {
    ForeignRank& r = job.ranks[rank];
    r.ops.push_back(op);
    r.dependency.insert(r.dependency.end(), after.begin(), after.end());
    r.dependency_begin.push_back(static_cast<uint32_t>(r.dependency.size()));
  }
};

std::vector<uint64_t> Ids(const ForeignJob& job, size_t rank, const std::vector<uint32_t>& order) {
  std::vector<uint64_t> ids;
  for (const uint32_t op : order) ids.push_back(job.ranks[rank].ops[op].id);
  return ids;
}

TEST(OrderTest, StartsTheReadyOpWithTheSmallestId) {
  JobBuilder b(1);
  b.Compute(0, 5, 10);
  b.Compute(0, 3, 10, {0});
  b.Compute(0, 4, 10);
  b.Compute(0, 9, 1);
  const auto order = OrderOps(b.job, Cluster().gpus[0]);
  EXPECT_EQ(Ids(b.job, 0, order[0]), (std::vector<uint64_t>{4, 5, 3, 9}));
}

// If ops started in the order of ids, rank 0 would wait for rank 1's answer before it sends its
// request, and the job would never end.
TEST(OrderTest, AvoidsOrdersThatDeadlock) {
  JobBuilder b(2);
  b.Message(0, 1, OpKind::kRecv, 1, 2);
  b.Compute(0, 2, 10, {0});
  b.Compute(0, 3, 10);
  b.Message(0, 4, OpKind::kSend, 1, 1, {2});
  b.Message(1, 1, OpKind::kRecv, 0, 1);
  b.Message(1, 2, OpKind::kSend, 0, 2, {0});
  const auto order = OrderOps(b.job, Cluster().gpus[0]);
  EXPECT_EQ(Ids(b.job, 0, order[0]), (std::vector<uint64_t>{1, 3, 4, 2}));
  const Result<Imported> imported = AssembleWorkload(std::move(b.job), Cluster(), {});
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(CheckWorkload(imported->workload).violations.count(), 0u);
}

TEST(OrderTest, OpsThatNeverStartComeLast) {
  JobBuilder b(1);
  b.Message(0, 1, OpKind::kRecv, 3, 2);
  b.Compute(0, 2, 10, {0});
  b.Compute(0, 3, 10);
  const auto order = OrderOps(b.job, Cluster().gpus[0]);
  EXPECT_EQ(Ids(b.job, 0, order[0]), (std::vector<uint64_t>{1, 3, 2}));
}

// A job drawn as a sequence of steps can end. Its programs end for any choice of ids.
TEST(OrderTest, JobsWithoutDeadlockEnd) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    JobBuilder b(4);
    b.job.groups = {{{0, 1, 2, 3}}, {{0, 2}}, {{1, 3}}};
    std::vector<uint64_t> ids(200);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = i;
    std::shuffle(ids.begin(), ids.end(), random);
    int64_t last[4] = {-1, -1, -1, -1};
    int64_t last_of_group[4][3] = {{-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}, {-1, -1, -1}};
    const auto after = [&](size_t rank, int64_t also) {
      std::vector<uint32_t> out;
      if (last[rank] >= 0 && random() % 2 == 0) out.push_back(static_cast<uint32_t>(last[rank]));
      if (also >= 0) out.push_back(static_cast<uint32_t>(also));
      last[rank] = static_cast<int64_t>(b.job.ranks[rank].ops.size());
      return out;
    };
    for (int step = 0; step < 40; ++step) {
      const uint64_t id = ids[static_cast<size_t>(step)];
      const size_t rank = random() % 4;
      switch (random() % 3) {
        case 0:
          b.Compute(rank, id, static_cast<int64_t>(random() % 20), after(rank, -1));
          break;
        case 1: {
          const size_t peer = (rank + 1 + random() % 3) % 4;
          const std::vector<uint32_t> sends = after(rank, -1), receives = after(peer, -1);
          b.Message(rank, id, OpKind::kSend, static_cast<int>(peer), step, sends);
          b.Message(peer, id, OpKind::kRecv, static_cast<int>(rank), step, receives);
          break;
        }
        case 2: {
          const auto group = static_cast<int>(random() % 3);
          for (const int member : b.job.groups[static_cast<size_t>(group)].ranks) {
            const auto m = static_cast<size_t>(member);
            const auto deps =
                after(m, last_of_group[m][group]);  // calls of a communicator stay in order
            last_of_group[m][group] = last[m];
            b.Collective(m, id, group, CollectiveType::kAllReduce, 64, deps);
          }
          break;
        }
      }
    }
    const Result<Imported> imported = AssembleWorkload(std::move(b.job), Cluster(), {});
    ASSERT_TRUE(imported.ok());
    const CheckReport report = CheckWorkload(imported->workload);
    for (const std::string& text : report.violations.texts()) {
      // A drawn message may overtake another one between two ranks, which NCCL cannot do.
      EXPECT_NE(text.find("NCCL has no tags"), std::string::npos) << round << ": " << text;
    }
  }
}

TEST(OrderTest, FindsCycles) {
  JobBuilder b(1);
  b.Compute(0, 1, 1, {3});
  b.Compute(0, 2, 1, {0});
  b.Compute(0, 3, 1);
  b.Compute(0, 4, 1, {1, 2});
  b.Compute(0, 5, 1, {3});
  EXPECT_EQ(FindCycle(b.job.ranks[0]).size(), 3u);
  b.job.ranks[0].dependency[0] = 2;
  EXPECT_TRUE(FindCycle(b.job.ranks[0]).empty());
}

TEST(AssembleTest, RanksWithEqualProgramsFormOneClass) {
  JobBuilder b(8);
  for (int first = 0; first < 8; first += 2) b.job.groups.push_back({{first, first + 1}});
  for (size_t rank = 0; rank < 8; ++rank) {
    b.Compute(rank, 1, 5);
    b.Collective(rank, 2, static_cast<int>(rank / 2), CollectiveType::kAllGather, 64, {0});
    if (rank < 4) b.Message(rank, 3, OpKind::kSend, static_cast<int>(rank) + 4, 1, {1});
    if (rank >= 4) b.Message(rank, 3, OpKind::kRecv, static_cast<int>(rank) - 4, 1, {1});
  }
  const Workload w = AssembleWorkload(std::move(b.job), Cluster(), {})->workload;
  EXPECT_EQ(w.class_count, 2);
  EXPECT_EQ(w.class_of_rank, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  ASSERT_EQ(w.roles.size(), 3u);
  EXPECT_EQ(w.roles[0].name, "2x1");
  EXPECT_EQ(w.roles[1].name, "p2p-4");
  EXPECT_EQ(w.roles[2].name, "p2p+4");
  EXPECT_EQ(w.streams, (std::vector<std::string>{"compute", "2x1", "p2p-4.send", "p2p-4.recv",
                                                 "p2p+4.send", "p2p+4.recv"}));
  EXPECT_EQ(CheckWorkload(w).violations.count(), 0u);
}

TEST(AssembleTest, RemainingGpusAreIdle) {
  JobBuilder b(2);
  b.Compute(0, 1, 5);
  const Imported imported = *AssembleWorkload(std::move(b.job), Cluster(), {});
  EXPECT_EQ(imported.warnings,
            std::vector<std::string>{"6 of the cluster's 8 GPUs have no rank and stay idle"});
  EXPECT_EQ(imported.workload.rank_count(), 8);
  EXPECT_EQ(CheckWorkload(imported.workload).violations.count(), 0u);
  EXPECT_EQ(ErrorText(AssembleWorkload(JobBuilder(9).job, Cluster(), {})),
            "error: job has 9 ranks, but the cluster has 8 GPUs");
}

TEST(AssembleTest, RoundsBuffersUpToEqualShares) {
  size_t rounded = 0;
  const ForeignOptions options;
  CommCall call = CallOfBytes(CollectiveType::kReduceScatter, 64, 0, 4, options, &rounded);
  EXPECT_EQ(call.type, DataType::kBf16);
  EXPECT_EQ(call.count, 32);
  call = CallOfBytes(CollectiveType::kReduceScatter, 36, 0, 4, options, &rounded);
  EXPECT_EQ(call.type, DataType::kUint8);
  EXPECT_EQ(call.count, 36);
  EXPECT_EQ(rounded, 0u);
  call = CallOfBytes(CollectiveType::kAllToAll, 37, 0, 4, options, &rounded);
  EXPECT_EQ(call.count, 40);
  EXPECT_EQ(rounded, 1u);
  call = CallOfBytes(CollectiveType::kAllReduce, 37, 0, 4, options, &rounded);
  EXPECT_EQ(call.count, 37);
}

// ---- SimAI ------------------------------------------------------------------------------------

// Returns the names of the ops of rank 0, in order, with their dependencies.
std::string SimaiProgram(const std::string& text) {
  const testing::TemporaryDirectory dir;
  EXPECT_TRUE(WriteFileAtomically(dir / "w.txt", text).ok());
  const Result<Imported> imported = ImportSimai({dir / "w.txt", ""}, Cluster(), {});
  if (!imported.ok()) return imported.error().ToString();
  const Workload& w = imported->workload;
  EXPECT_EQ(CheckWorkload(w).violations.count(), 0u);
  const Program& program = w.programs[0];
  std::string out;
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    out += OpName(w, program.ops[i]);
    for (const uint32_t before : program.dependencies(i)) out += " <" + std::to_string(before);
    out += '\n';
  }
  return out;
}

const char* const kRows =
    "a -1 10 NONE 0 20 ALLREDUCE 64 30 ALLREDUCE 64 5\n"
    "b -1 11 ALLGATHER 64 21 REDUCESCATTER 64 31 NONE 0 0\n"
    "c -1 12 ALLREDUCE 64 22 NONE 0 32 ALLREDUCE_DP_EP 64 0\n";

TEST(SimaiTest, RecomputesFromTheCheckpoint) {
  EXPECT_EQ(SimaiProgram(
                std::string("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: "
                            "1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 1 0 checkpoint_initiates: 1 2 "
                            "pp_comm 0\n3\n") +
                kRows),
            "a.fwd layer0\nb.fwd layer1 <0\ntp.all-gather layer1 <1\nc.fwd layer2 <2\n"
            "tp.all-reduce layer2 <3\n"
            "a.fwd layer0 <4\nb.fwd layer1 <5\ntp.all-gather layer1 <6\n"
            "c.dgrad layer2 <7\nc.wgrad layer2 <8\ndp-ep.all-reduce layer2 <9\n"
            "b.dgrad layer1 <9\ntp.reduce-scatter layer1 <11\nb.wgrad layer1 <12\n"
            "a.dgrad layer0 <13\ntp.all-reduce layer0 <14\na.wgrad layer0 <15\n"
            "dp.all-reduce layer0 <16\na.update layer0 <17\n");
}

TEST(SimaiTest, InputGradientsOverlapWithoutRecomputation) {
  EXPECT_EQ(SimaiProgram(std::string("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2\n3\n") +
                         kRows),
            "a.fwd layer0\nb.fwd layer1 <0\ntp.all-gather layer1 <1\nc.fwd layer2 <2\n"
            "tp.all-reduce layer2 <3\nc.dgrad layer2 <4\nc.wgrad layer2 <5\n"
            "dp-ep.all-reduce layer2 <6\nb.dgrad layer1 <6\ntp.reduce-scatter layer1 <8\n"
            "b.wgrad layer1 <8\na.dgrad layer0 <9 <10\ntp.all-reduce layer0 <11\n"
            "a.wgrad layer0 <11\ndp.all-reduce layer0 <13\na.update layer0 <14\n");
}

TEST(SimaiTest, OtherPolicies) {
  EXPECT_EQ(SimaiProgram(std::string("DATA\n3\n") + kRows),
            "a.fwd layer0\nb.fwd layer1 <0\nc.fwd layer2 <1\nc.wgrad layer2 <2\n"
            "dp-ep.all-reduce layer2 <3\nc.dgrad layer2 <3\nb.wgrad layer1 <5\n"
            "b.dgrad layer1 <6\na.wgrad layer0 <7\nworld.all-reduce layer0 <8\n"
            "a.update layer0 <9\n");
  EXPECT_EQ(SimaiProgram(std::string("DISTRIBUTED_INFERENCE\n3\n") + kRows),
            "a.fwd layer0\nb.fwd layer1 <0\nworld.all-gather layer1 <1\nc.fwd layer2 <2\n"
            "world.all-reduce layer2 <3\n");
  EXPECT_EQ(SimaiProgram("MICRO\n1\na -1 5 NONE 0 0 NONE 0 0 ALLREDUCE 64 0\n"),
            "world.all-reduce layer0\n");
  EXPECT_EQ(
      SimaiProgram("HYBRID_DLRM_ENHANCED DLRM_LAST_BOTTOM_LAYER: 1 model_parallel_NPU_group: "
                   "4\n3\na -1 1 ALLTOALL 64 1 ALLTOALL 64 1 NONE 0 0\n"
                   "b -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 64 0\nc -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n"),
      "a.fwd layer0\ntp.all-to-all layer0 <0\nb.fwd layer1 <0\nc.fwd layer2 <1 <2\n"
      "c.wgrad layer2 <3\nc.dgrad layer2 <4\ntp.all-to-all layer0 <5\nb.wgrad layer1 <5\n"
      "dp.all-reduce layer1 <7\nb.dgrad layer1 <7\na.wgrad layer0 <9\n");
}

TEST(SimaiTest, RanksOfGroups) {
  const testing::TemporaryDirectory dir;
  EXPECT_TRUE(WriteFileAtomically(dir / "w.txt",
                                  "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 all_gpus: "
                                  "8\n1\na -1 1 ALLREDUCE 64 1 ALLREDUCE_EP 64 1 ALLREDUCE_DP_EP "
                                  "64 0\n")
                  .ok());
  const Workload w = ImportSimai({dir / "w.txt", ""}, Cluster(), {})->workload;
  const auto group = [&w](const std::string& role, size_t rank) {
    for (size_t r = 0; r < w.roles.size(); ++r) {
      if (w.roles[r].name == role) {
        return w.groups[static_cast<size_t>(w.group_of_rank[r][rank])].ranks;
      }
    }
    return std::vector<int>{};
  };
  EXPECT_EQ(group("tp", 5), (std::vector<int>{4, 5}));
  EXPECT_EQ(group("dp", 5), (std::vector<int>{1, 3, 5, 7}));
  EXPECT_EQ(group("ep", 5), (std::vector<int>{5, 7}));
  EXPECT_EQ(group("dp-ep", 5), (std::vector<int>{1, 5}));
}

TEST(SimaiTest, ReportsThePlaceOfMistakes) {
  const auto error = [](const std::string& text) {
    return testing::FirstLine(ErrorText(ParseSimaiFile(text, "w.txt")));
  };
  const std::string head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n";
  EXPECT_EQ(error(""), "w.txt: error: the file is empty; it begins with a policy");
  EXPECT_EQ(error("HYBRID_TRANSFORMERS\n"),
            "w.txt:1:1: error: there is no policy 'HYBRID_TRANSFORMERS'; did you mean "
            "'HYBRID_TRANSFORMER'?; policies are MICRO, DATA, MODEL, DISTRIBUTED_INFERENCE, "
            "HYBRID_TRANSFORMER, HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_DLRM, "
            "HYBRID_DLRM_ENHANCED, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_CUSTOMIZED");
  EXPECT_EQ(error("DATA all_gpu: 3\n"),
            "w.txt:1:6: error: unknown key 'all_gpu'; did you mean 'all_gpus'?; keys are "
            "model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, checkpoints, "
            "checkpoint_initiates, pp_comm, DLRM_LAST_BOTTOM_LAYER");
  EXPECT_EQ(error("DATA checkpoints: 3 1 2\n1\n"),
            "w.txt:1:23: error: expected a whole number from 0 to 1000000");
  EXPECT_EQ(error(head + "0\n"), "w.txt:2:1: error: expected a whole number from 1 to 1000000");
  EXPECT_EQ(error(head + "2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n"),
            "w.txt:3: error: the number of rows is 1, but the file states 2");
  EXPECT_EQ(error(head + "1\na -1 1 NONE 0 1 NONE 0 1 NONE 0\n"),
            "w.txt:3:1: error: expected 12 columns, found 11");
  EXPECT_EQ(error(head + "1\na -1 1 ALREDUCE 0 1 NONE 0 1 NONE 0 0\n"),
            "w.txt:3:8: error: there is no collective 'ALREDUCE'; did you mean 'ALLREDUCE'?; "
            "collectives are NONE, ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, REDUCESCATTER, each "
            "also with "
            "_EP or _DP_EP");
  EXPECT_EQ(error(head + "1\na -1 1e30 NONE 0 1 NONE 0 1 NONE 0 0\n"),
            "w.txt:3:6: error: expected nanoseconds from 0 to an hour");
  EXPECT_EQ(error("DATA checkpoints: 1 9\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n"),
            "w.txt:3: error: the header names row 9, counted from 0, but the number of rows is 1");
}

}  // namespace
}  // namespace drydock
