#include "workload-gen/layout/process_groups.h"

#include <gmock/gmock.h>

#include <set>

#include "workload-gen/testing/job_testing.h"

namespace drydock {
namespace {

using testing::ElementsAre;

ParallelLayout Sizes(int tensor, int data, int pipeline, int chunks = 1) {
  ParallelLayout layout;
  layout.tensor = tensor;
  layout.data = data;
  layout.pipeline = pipeline;
  layout.chunks = chunks;
  return layout;
}

std::vector<int> MembersOf(const Workload& w, Role role, int rank) {
  const int group = w.group_of_rank[role][static_cast<size_t>(rank)];
  return group < 0 ? std::vector<int>() : w.groups[static_cast<size_t>(group)].ranks;
}

TEST(ProcessGroups, EnumerateAsTheRankGenerator) {
  const ParallelLayout layout = Sizes(2, 3, 4);
  const auto data = EnumerateGroups(layout, "d");
  ASSERT_EQ(data.size(), 8u);
  EXPECT_THAT(data[0], ElementsAre(0, 2, 4));
  EXPECT_THAT(data[1], ElementsAre(1, 3, 5));
  EXPECT_THAT(data[7], ElementsAre(19, 21, 23));
  EXPECT_THAT(EnumerateGroups(layout, "t")[3], ElementsAre(6, 7));
  EXPECT_THAT(EnumerateGroups(layout, "p")[1], ElementsAre(1, 7, 13, 19));
  EXPECT_THAT(EnumerateGroups(layout, "tp")[2], ElementsAre(4, 5, 10, 11, 16, 17, 22, 23));
  EXPECT_EQ(EnumerateGroups(layout, "tdp").size(), 1u);
}

TEST(ProcessGroups, EnumerateWithPipelineBeforeData) {
  ParallelLayout layout = Sizes(2, 3, 4);
  layout.order = RankOrder::kTensorContextExpertPipelineData;
  EXPECT_THAT(EnumerateGroups(layout, "p")[0], ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(EnumerateGroups(layout, "d")[0], ElementsAre(0, 8, 16));
}

TEST(ProcessGroups, RolesOfAMiddleStage) {
  Workload w;
  BuildGroups(Sizes(2, 2, 4), {.shared_embedding = true}, &w);
  const int rank = 1 + 2 * (0 + 2 * 1);  // tp 1, dp 0, stage 1
  EXPECT_THAT(MembersOf(w, kTensorRole, rank), ElementsAre(4, 5));
  EXPECT_THAT(MembersOf(w, kDataRole, rank), ElementsAre(5, 7));
  EXPECT_THAT(MembersOf(w, kPipelineRole, rank), ElementsAre(1, 5, 9, 13));
  EXPECT_THAT(MembersOf(w, kNextRole, rank), ElementsAre(5, 9));
  EXPECT_THAT(MembersOf(w, kPrevRole, rank), ElementsAre(1, 5));
  EXPECT_THAT(MembersOf(w, kEmbeddingRole, rank), ElementsAre());
  EXPECT_THAT(MembersOf(w, kEmbeddingRole, 1), ElementsAre(1, 13));
  EXPECT_EQ(MembersOf(w, kWorldRole, rank).size(), 16u);
}

TEST(ProcessGroups, APairHasOneGroupForBothRoles) {
  Workload w;
  BuildGroups(Sizes(1, 1, 3), {.shared_embedding = true}, &w);
  EXPECT_EQ(w.group_of_rank[kNextRole][0], w.group_of_rank[kPrevRole][1]);
  EXPECT_EQ(w.group_of_rank[kNextRole][2], -1);  // no virtual stages: nothing wraps
  EXPECT_EQ(w.group_of_rank[kPrevRole][0], -1);
}

TEST(ProcessGroups, VirtualStagesWrapFromLastToFirst) {
  Workload w;
  BuildGroups(Sizes(1, 1, 3, 2), {.shared_embedding = true}, &w);
  EXPECT_THAT(MembersOf(w, kNextRole, 2), ElementsAre(0, 2));
  EXPECT_EQ(w.group_of_rank[kNextRole][2], w.group_of_rank[kPrevRole][0]);
  EXPECT_EQ(w.group_of_rank[kNextRole][2], w.group_of_rank[kEmbeddingRole][0]);
}

// Two grids of 16 ranks: TP2 CP2 DP2 PP2, and ETP1 EP4 EDP2 PP2.
TEST(ProcessGroups, ContextAndExperts) {
  ParallelLayout layout = Sizes(2, 2, 2);
  layout.context = 2;
  layout.expert = 4;
  layout.expert_tensor = 1;
  Workload w;
  BuildGroups(layout, {.stage = true, .experts = true}, &w);
  const int rank = 1 + 2 * (1 + 2 * (0 + 2 * 1));  // tp 1, cp 1, dp 0, stage 1: 11
  EXPECT_THAT(MembersOf(w, kTensorRole, rank), ElementsAre(10, 11));
  EXPECT_THAT(MembersOf(w, kContextRole, rank), ElementsAre(9, 11));
  EXPECT_THAT(MembersOf(w, kDataRole, rank), ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(MembersOf(w, kTensorContextRole, rank), ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(MembersOf(w, kStageRole, rank), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_THAT(MembersOf(w, kPipelineRole, rank), ElementsAre(3, 11));
  EXPECT_THAT(MembersOf(w, kExpertRole, rank), ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(MembersOf(w, kExpertTensorRole, rank), ElementsAre());
  EXPECT_THAT(MembersOf(w, kExpertDataRole, rank), ElementsAre(11, 15));
  EXPECT_THAT(MembersOf(w, kExpertModelRole, rank), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_EQ(w.roles[kDataRole].name, "dp-cp");
  layout.expert_tensor = 2;
  BuildGroups(layout, {.experts = true}, &w);
  EXPECT_THAT(MembersOf(w, kExpertRole, 3), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(MembersOf(w, kTensorExpertRole, 3), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(MembersOf(w, kExpertDataRole, 3), ElementsAre());
}

// In both grids, stages vary faster than data parallelism.
TEST(ProcessGroups, ExpertsWithPipelineBeforeData) {
  ParallelLayout layout = Sizes(2, 2, 2);
  layout.order = RankOrder::kTensorContextExpertPipelineData;
  layout.expert = 2;
  layout.expert_tensor = 1;
  EXPECT_THAT(EnumerateGroups(layout, "p")[0], ElementsAre(0, 2));
  EXPECT_EQ(EnumerateGroups(layout, "p"), EnumerateGroups(layout, "p", Grid::kExpert));
  EXPECT_THAT(EnumerateGroups(layout, "d", Grid::kExpert)[1], ElementsAre(1, 5));
}

// create_hierarchical_groups of parallel_state.py: with sizes 2 and 2, ranks 0 1 2 3 of cp exchange
// heads as 0 1 and 2 3, and pass keys as 0 2 and 1 3.
TEST(ProcessGroups, ContextHasTwoLevels) {
  ParallelLayout layout = Sizes(2, 2, 1);
  layout.context = 4;
  layout.context_heads = 2;
  Workload w;
  BuildGroups(layout, {}, &w);
  const int rank = 1 + 2 * (3 + 4 * 1);  // tp 1, cp 3, dp 1: 15
  EXPECT_THAT(MembersOf(w, kContextRole, rank), ElementsAre(9, 11, 13, 15));
  EXPECT_THAT(MembersOf(w, kContextHeadsRole, rank), ElementsAre(13, 15));
  EXPECT_THAT(MembersOf(w, kContextRingRole, rank), ElementsAre(11, 15));
  EXPECT_THAT(MembersOf(w, kDataRole, rank), ElementsAre(1, 3, 5, 7, 9, 11, 13, 15));
  EXPECT_EQ(w.roles[kContextHeadsRole].name, "cp-heads");
  EXPECT_EQ(w.roles[kContextRingRole].name, "cp-ring");
}

TEST(ProcessGroups, DenseJobsHaveEightRoles) {
  Workload w;
  BuildGroups(Sizes(2, 2, 2), {}, &w);
  EXPECT_EQ(w.roles.size(), 8u);
  EXPECT_EQ(w.roles[kDataRole].name, "dp");
}

TEST(ProcessGroups, GroupsAreDistinctAndHaveAtLeastTwoRanks) {
  for (const auto& [t, d, p] : {std::tuple{1, 1, 1}, {8, 1, 1}, {1, 8, 1}, {1, 1, 8}, {2, 2, 2}}) {
    Workload w;
    BuildGroups(Sizes(t, d, p, p > 1 ? 2 : 1), {.shared_embedding = true}, &w);
    std::set<std::vector<int>> seen;
    for (const Group& group : w.groups) {
      EXPECT_GE(group.ranks.size(), 2u);
      EXPECT_TRUE(seen.insert(group.ranks).second);
    }
    EXPECT_EQ(w.roles.size(), w.group_of_rank.size());
  }
}

}  // namespace
}  // namespace drydock
