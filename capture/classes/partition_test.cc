#include "capture/classes/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/classes/testing/tape_builder.h"

namespace drydock::capture {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using testing::TapeBuilder;

// 16 ranks on two hosts: tensor 2, data 4, pipeline 2.
class PartitionTest : public ::testing::Test {
 protected:
  PartitionTest() : groups_(16) {
    TapeBuilder b(0, 16);
    b.Grid("default_pg", 16, 1);
    b.Grid("tp", 2, 1);
    b.Grid("dp", 4, 2);
    b.Grid("pp", 2, 8);
    groups_.Add(b.tape.groups);
    for (int rank = 0; rank < 16; ++rank) hosts_.push_back({rank % 8, 0});
  }
  Partition Make() { return Partition(&groups_, hosts_); }
  static std::map<int, std::string> Keys(
      std::initializer_list<std::pair<const int, std::string>> k) {
    return k;
  }

  WorldGroups groups_;
  std::vector<HostFacts> hosts_;
};

TEST_F(PartitionTest, RanksWithTheSameGroupsAreOneClass) {
  EXPECT_THAT(Make().Classes(), ElementsAre(SizeIs(16)));
}

TEST_F(PartitionTest, MessagesTellPositionsApart) {
  Partition partition = Make();
  EXPECT_TRUE(partition.Note({{{"pp", 0}}, {}}));
  EXPECT_FALSE(partition.Note({{{"pp", 0}}, {}}));
  EXPECT_THAT(partition.Classes(), ElementsAre(SizeIs(8), SizeIs(8)));
}

TEST_F(PartitionTest, RootsAreApart) {
  Partition partition = Make();
  partition.Note({{}, {{{"tp", 0}, 1}}});
  EXPECT_THAT(partition.Classes(), ElementsAre(ElementsAre(0, 2, 4, 6, 8, 10, 12, 14), SizeIs(8)));
}

TEST_F(PartitionTest, HostsOfAnotherKindAreApart) {
  for (size_t rank = 8; rank < 16; ++rank) hosts_[rank].kind = 1;
  EXPECT_THAT(Make().Classes(), SizeIs(2));
}

TEST_F(PartitionTest, RankZeroMayWriteTheLog) {
  Partition partition = Make();
  EXPECT_TRUE(partition.Explain({{0, "a"}, {8, "b"}, {15, "b"}}));
  EXPECT_THAT(partition.Classes(), ElementsAre(ElementsAre(0), SizeIs(15)));
}

TEST_F(PartitionTest, TheLastShardsMayBeShort) {
  Partition partition = Make();
  // Positions 0 and 1 of "dp" are full, 2 and 3 are not.
  EXPECT_TRUE(
      partition.Explain({{0, "a"}, {1, "a"}, {8, "a"}, {15, "b"}, {2, "a"}, {4, "b"}, {7, "b"}}));
  EXPECT_THAT(partition.Classes(), ElementsAre(ElementsAre(0, 1, 2, 3, 8, 9, 10, 11), SizeIs(8)));
}

TEST_F(PartitionTest, TwoReasonsAtATime) {
  Partition partition = Make();
  EXPECT_TRUE(partition.Explain({{0, "log"},
                                 {1, "a"},
                                 {2, "a"},
                                 {3, "a"},
                                 {6, "b"},
                                 {7, "b"},
                                 {14, "b"},
                                 {15, "b"},
                                 {9, "a"}}));
  EXPECT_THAT(partition.Classes(), SizeIs(3));
}

// A reason that was too simple is replaced.
TEST_F(PartitionTest, MoreRanksMayNeedOtherReasons) {
  Partition partition = Make();
  EXPECT_TRUE(partition.Explain({{0, "a"}, {15, "b"}}));
  EXPECT_TRUE(partition.Explain({{0, "a"}, {15, "b"}, {1, "b"}, {14, "a"}, {13, "b"}}));
  EXPECT_THAT(partition.Classes(), ElementsAre(ElementsAre(0, 2, 4, 6, 8, 10, 12, 14), SizeIs(8)));
}

}  // namespace
}  // namespace drydock::capture
