#include "workload-gen/process_groups.h"

#include <gmock/gmock.h>

#include <set>

#include "workload-gen/test_support.h"

namespace drydock {
namespace {

using testing::ElementsAre;

Layout Sizes(int tensor, int data, int pipeline, int chunks = 1) {
  Layout layout;
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
  const Layout layout = Sizes(2, 3, 4);
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
  Layout layout = Sizes(2, 3, 4);
  layout.order = RankOrder::kTensorContextExpertPipelineData;
  EXPECT_THAT(EnumerateGroups(layout, "p")[0], ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(EnumerateGroups(layout, "d")[0], ElementsAre(0, 8, 16));
}

TEST(ProcessGroups, RolesOfAMiddleStage) {
  Workload w;
  BuildGroups(Sizes(2, 2, 4), /*tied_embedding=*/true, &w);
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

TEST(ProcessGroups, APairIsOneGroupSeenFromBothSides) {
  Workload w;
  BuildGroups(Sizes(1, 1, 3), true, &w);
  EXPECT_EQ(w.group_of_rank[kNextRole][0], w.group_of_rank[kPrevRole][1]);
  EXPECT_EQ(w.group_of_rank[kNextRole][2], -1);  // no virtual stages: nothing wraps
  EXPECT_EQ(w.group_of_rank[kPrevRole][0], -1);
}

TEST(ProcessGroups, VirtualStagesWrapFromLastToFirst) {
  Workload w;
  BuildGroups(Sizes(1, 1, 3, 2), true, &w);
  EXPECT_THAT(MembersOf(w, kNextRole, 2), ElementsAre(0, 2));
  EXPECT_EQ(w.group_of_rank[kNextRole][2], w.group_of_rank[kPrevRole][0]);
  EXPECT_EQ(w.group_of_rank[kNextRole][2], w.group_of_rank[kEmbeddingRole][0]);
}

TEST(ProcessGroups, NoGroupTwiceAndNoneOfOneRank) {
  for (const auto& [t, d, p] : {std::tuple{1, 1, 1}, {8, 1, 1}, {1, 8, 1}, {1, 1, 8}, {2, 2, 2}}) {
    Workload w;
    BuildGroups(Sizes(t, d, p, p > 1 ? 2 : 1), true, &w);
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
