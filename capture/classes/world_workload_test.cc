#include "capture/classes/world_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "capture/classes/partition.h"
#include "capture/classes/testing/tape_builder.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using F = RecordFunction;
using testing::TapeBuilder;

// 16 ranks: tensor 2, data 4, pipeline 2. Every stage does a product and an all-reduce for each of
// two micro-batches, stage 0 sends to stage 1; then gradients are reduced.
struct Program {
  int world = 16;
  int stages = 2;
  uint64_t elements = 100;  // of the all-reduce
  int odd_rank = -1;        // reduces one element more
  bool batched = false;     // messages on the communicator of all stages
};
RankTape TapeOf(const Program& program, int rank) {
  TapeBuilder b(rank, program.world);
  const int data = program.world / 2 / program.stages;
  b.Grid("default_pg", program.world, 1);
  const int tp = b.Grid("TENSOR_MODEL_PARALLEL_GROUP", 2, 1);
  const int dp = b.Grid("DATA_PARALLEL_GROUP", data, 2);
  const int pp = b.Grid("PIPELINE_MODEL_PARALLEL_GROUP", program.stages, 2 * data);
  const uint64_t on_tp = b.Communicator(tp), on_dp = b.Communicator(dp);
  const int stage = rank / (2 * data);
  for (int microbatch = 0; microbatch < 2; ++microbatch) {
    b.place = {Phase::kForward, stage, microbatch};
    if (stage > 0) {
      const uint64_t on =
          program.batched ? b.Communicator(pp) : b.Communicator(pp, {stage - 1, stage});
      b.Call(F::kRecv, on, 30, program.batched ? stage - 1 : 0, 2);
      b.Order(RecordKind::kEventRecord, 2, 9);
      b.Order(RecordKind::kStreamWait, 0, 9);
    }
    b.Work("product", 1000);
    b.Call(F::kAllReduce, on_tp, program.elements + (rank == program.odd_rank ? 1 : 0), 0, 0);
    if (stage + 1 < program.stages) {
      b.Order(RecordKind::kEventRecord, 0, 8);
      b.Order(RecordKind::kStreamWait, 3, 8);
      const uint64_t on =
          program.batched ? b.Communicator(pp) : b.Communicator(pp, {stage, stage + 1});
      b.Call(F::kSend, on, 30, program.batched ? stage + 1 : 1, 3);
    }
  }
  b.place = {Phase::kGradientSync, -1, -1};
  b.Call(F::kReduceScatter, on_dp, 50, 0, 0);
  b.tape.memory = {Bytes(1000 + stage), Bytes(2000)};
  return b.tape;
}

class WorldWorkloadTest : public ::testing::Test {
 protected:
  WorldWorkloadTest() : topology_(LoadCluster("configs/clusters/eos.topo", {})->topology) {}

  // The classes of the program as they are found by running one rank of each.
  Result<Workload> MakeOf(const Program& program) {
    WorldGroups groups(program.world);
    Partition partition(&groups, std::vector<HostFacts>(static_cast<size_t>(program.world)));
    std::map<int, std::shared_ptr<const ClassTape>> tapes;
    std::vector<std::vector<int>> found;
    std::vector<int> gpus;
    for (int rank = 0; rank < program.world; ++rank) gpus.push_back(rank);
    for (bool more = true; more;) {
      more = false;
      if (tapes.empty()) groups.Add(TapeOf(program, 0).groups);
      found = partition.Classes();
      std::set<int> run;
      for (const auto& ranks : found) run.insert(ranks.front());
      if (program.odd_rank >= 0) run.insert(program.odd_rank);
      for (const int rank : run) {
        if (tapes.count(rank) > 0) continue;
        more = true;
        tapes[rank] =
            std::make_shared<const ClassTape>(*MakeClassTape(TapeOf(program, rank), groups));
        partition.Note(FindPlaces(*tapes[rank]));
      }
    }
    std::vector<WorldClass> classes;
    for (std::vector<int>& ranks : found) {
      if (std::erase(ranks, program.odd_rank) > 0) {
        classes.push_back({{program.odd_rank}, tapes.at(program.odd_rank)});
      }
      classes.push_back({ranks, tapes.at(ranks.front())});
    }
    return MakeWorldWorkload(topology_, gpus, groups, classes);
  }

  Topology topology_;
};

TEST_F(WorldWorkloadTest, HasTheGroupsOfAllRanks) {
  const Result<Workload> made = MakeOf({});
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  const Workload& w = *made;
  EXPECT_EQ(w.rank_count(), topology_.gpu_count());
  // Two stages, and the GPUs without a rank.
  EXPECT_EQ(w.class_count, 3);
  EXPECT_THAT(w.programs[2].ops, SizeIs(0));
  ASSERT_THAT(w.roles, SizeIs(3));
  EXPECT_EQ(w.roles[0].name, "tp");
  EXPECT_EQ(w.roles[0].dimension, Dimension::kTensor);
  EXPECT_EQ(w.roles[1].name, "pp");
  EXPECT_EQ(w.roles[2].name, "dp");
  const auto group = [&](size_t role, size_t rank) {
    return w.groups[static_cast<size_t>(w.group_of_rank[role][rank])].ranks;
  };
  EXPECT_THAT(group(0, 5), ElementsAre(4, 5));
  EXPECT_THAT(group(2, 5), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(group(1, 5), ElementsAre(5, 13));
  EXPECT_EQ(w.group_of_rank[0][16], -1);
  EXPECT_EQ(w.pytorch[0].allocated, Bytes(1000));
  EXPECT_EQ(w.pytorch[1].allocated, Bytes(1001));
  EXPECT_EQ(w.totals.model_flops, 16 * 2 * 1000);
  // Eight groups "tp", four of "dp", eight pairs of stages.
  EXPECT_THAT(w.uses, SizeIs(8 + 4 + 8));
}

TEST_F(WorldWorkloadTest, HasOneProgramOfEachClass) {
  const Workload w = *MakeOf({});
  std::vector<std::string> ops;
  for (const Op& op : w.programs[0].ops) {
    ops.push_back(OpKindName(op.kind) + " " + w.streams[op.stream] + " " +
                  std::to_string(op.microbatch));
  }
  EXPECT_THAT(ops, ElementsAre("compute compute 0", "collective compute 0", "send pp-send 0",
                               "compute compute 1", "collective compute 1", "send pp-send 1",
                               "collective compute -1"));
  EXPECT_EQ(w.programs[0].ops[6].phase, Phase::kGradientSync);
  const CommCall& scatter = w.calls[w.programs[0].ops[6].work];
  EXPECT_EQ(scatter.collective, CollectiveType::kReduceScatter);
  EXPECT_EQ(scatter.group_size, 4);
  EXPECT_EQ(scatter.count, 200);
  EXPECT_THAT(w.programs[0].dependencies(2), ElementsAre(1));
  EXPECT_THAT(w.programs[1].dependencies(1), ElementsAre(0));
}

// PyTorch sends batches of messages on the communicator of the whole group.
TEST_F(WorldWorkloadTest, StagesOnOneCommunicator) {
  Program program;
  program.stages = 4;
  program.batched = true;
  const Result<Workload> made = MakeOf(program);
  ASSERT_TRUE(made.ok()) << made.error().ToString();
  EXPECT_EQ(made->class_count, 5);
  EXPECT_THAT(made->roles, SizeIs(3));
}

TEST_F(WorldWorkloadTest, CallsThatDoNotMatchAreNamed) {
  Program program;
  program.odd_rank = 7;
  EXPECT_EQ(MakeOf(program).error().ToString(),
            "error: communicator of ranks 6, 7: collective 1: rank 7 calls all-reduce of 101 "
            "float32 (sum) in forward of layer 0 on tp, rank 6 calls all-reduce of 100 float32 "
            "(sum) in forward of layer 0 on tp; NCCL would hang or mix up data");
}

TEST_F(WorldWorkloadTest, IsTheSameEveryTime) {
  const Workload a = *MakeOf({}), b = *MakeOf({});
  EXPECT_EQ(a.class_of_rank, b.class_of_rank);
  EXPECT_EQ(a.group_of_rank, b.group_of_rank);
  EXPECT_EQ(a.calls, b.calls);
}

}  // namespace
}  // namespace drydock::capture
