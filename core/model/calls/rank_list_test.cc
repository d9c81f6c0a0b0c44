#include "core/model/calls/rank_list.h"

#include <gmock/gmock.h>

#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using ::testing::ElementsAre;

TEST(RankListTest, ParsesEveryForm) {
  EXPECT_THAT(*ParseRanks("5"), ElementsAre(5));
  EXPECT_THAT(*ParseRanks("0-3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(*ParseRanks("0-63:24"), ElementsAre(0, 24, 48));
  EXPECT_THAT(*ParseRanks("8,0,2-3"), ElementsAre(8, 0, 2, 3)) << "the order is kept";
}

TEST(RankListTest, ErrorsQuoteTheText) {
  const auto message = [](const char* text) { return ParseRanks(text).error().message(); };
  const std::string how = " is neither a rank, as in '5', nor a range, as in '0-15' or '0-63:8'";
  EXPECT_EQ(message(""), "'' is not a list of ranks: ''" + how);
  EXPECT_EQ(message("0-3,"), "'0-3,' is not a list of ranks: ''" + how);
  EXPECT_EQ(message("0-x"), "'0-x' is not a list of ranks: '0-x'" + how);
  EXPECT_EQ(message("-1"), "'-1' is not a list of ranks: '-1'" + how);
  EXPECT_EQ(message("7-3"), "'7-3' is not a list of ranks: '7-3' runs backwards");
  EXPECT_EQ(message("0-3:0"), "'0-3:0' is not a list of ranks: '0-3:0' has stride 0");
  EXPECT_EQ(message("0-7,3"), "'0-7,3' names rank 3 twice");
  EXPECT_EQ(message("0-999999999"), "'0-999999999' are more than 1048576 ranks");
}

TEST(RankListTest, RanksMustExist) {
  EXPECT_TRUE(CheckRanks({0, 7}, 8).ok());
  EXPECT_EQ(CheckRanks({0, 8, 9}, 8).error().message(),
            "there is no rank 8: the cluster has 8 GPUs, ranks 0 to 7");
}

TEST(RankListTest, TextIsTheShortest) {
  EXPECT_EQ(RanksText({0, 1, 2, 3}), "0-3");
  EXPECT_EQ(RanksText({0, 8, 16, 24}), "0-24:8");
  EXPECT_EQ(RanksText({5}), "5");
  EXPECT_EQ(RanksText({0, 8}), "0, 8");
  EXPECT_EQ(RanksText({0, 1, 8, 9}), "0-1, 8-9");
  EXPECT_EQ(RanksText({3, 2, 1, 0, 7}, 2), "3, 2, ...");
}

TEST(RankListTest, AMessageNamesTheFirstRanks) {
  EXPECT_EQ(FirstRanksText({5}), "5");
  EXPECT_EQ(FirstRanksText({0, 8, 16, 24}), "0, 8, 16, 24");
  EXPECT_EQ(FirstRanksText({0, 8, 16, 24, 32}), "0, 8, 16, 24, ...");
}

}  // namespace
}  // namespace drydock
