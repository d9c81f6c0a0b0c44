// "Which group of the program does each communicator belong to?"
#include "capture/tape/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/log/testing/log_builder.h"

namespace drydock::capture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Groups, ListsOfRanks) {
  EXPECT_THAT(RanksOf("7"), ElementsAre(7));
  EXPECT_THAT(RanksOf("0-3,8-32:8,5"), ElementsAre(0, 1, 2, 3, 8, 16, 24, 32, 5));
  EXPECT_THAT(RanksOf(""), IsEmpty());
  EXPECT_THAT(RanksOf("3-1"), IsEmpty());
  EXPECT_THAT(RanksOf("1,"), ElementsAre(1));
  EXPECT_THAT(RanksOf("a"), IsEmpty());
  EXPECT_THAT(RanksOf("0-4:0"), IsEmpty());
}

class GroupsOfALog : public testing::Test {
 protected:
  void Mark(const char* text) {
    log_.Name(text);
    log_.Entry(EntryKind::kMark, {names_++});
  }
  void Communicator(int64_t serial) {
    log_.Entry(EntryKind::kCommunicator, {serial, serial + 1, 0, 2, 0});
  }
  Result<LogGroups> Read() {
    return ReadGroups(ProcessLog::Parse(log_.content(), "x.log").value());
  }

  LogBuilder log_;
  int64_t names_ = 0;
};

TEST_F(GroupsOfALog, KeysAndExpectedGroups) {
  Mark("group 0 0-3 default_pg");
  Mark("group 1 0-2:2 DATA PARALLEL");
  Mark("group 2 1-3:2 DATA PARALLEL");
  Communicator(70);
  Mark("ranks 0-3 0");
  Communicator(80);  // messages between two members of the world
  Mark("ranks 1,3 0");
  Communicator(90);  // of a group that the program splits off right now
  Mark("ranks 0,2 ");
  Mark("group 5 0-2:2 mesh_dp");
  const LogGroups read = Read().value();
  ASSERT_EQ(read.groups.size(), 4u);
  EXPECT_EQ(read.groups[1].description, "DATA PARALLEL");
  EXPECT_THAT(read.groups[2].ranks, ElementsAre(1, 3));
  ASSERT_EQ(read.communicators.size(), 3u);
  EXPECT_EQ(read.communicators[0].group, 0);
  EXPECT_THAT(read.communicators[1].members, ElementsAre(1, 3));
  EXPECT_EQ(read.communicators[2].group, 3);
  EXPECT_THAT(read.communicators[2].members, ElementsAre(0, 1));
  EXPECT_EQ(read.by_number.at(80), 1);
}

TEST_F(GroupsOfALog, ACommunicatorWithoutAGroup) {
  Mark("group 0 0-3 default_pg");
  Communicator(70);
  Mark("ranks 0,1 ");
  const LogGroups read = Read().value();
  ASSERT_EQ(read.groups.size(), 2u);
  EXPECT_EQ(read.groups[1].name, "communicator 0");
  EXPECT_THAT(read.groups[1].ranks, ElementsAre(0, 1));
  EXPECT_EQ(read.communicators[0].group, 1);
}

TEST_F(GroupsOfALog, NobodyTellsTheRanks) {
  Communicator(70);
  Mark("ranks  ");
  const auto read = Read();
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message(),
            "rank 3 joins a communicator of NCCL whose ranks no process group of PyTorch tells");
}

}  // namespace
}  // namespace drydock::capture
