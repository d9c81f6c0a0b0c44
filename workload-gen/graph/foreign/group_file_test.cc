#include "workload-gen/graph/foreign/group_file.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

std::string Refusal(const std::string& text) {
  const Result<NamedGroups> groups = ParseGroupFile(text, "groups.json", 4);
  return groups.ok() ? "ok" : groups.error().ToString();
}

TEST(GroupFileTest, GroupsHaveNamesAndRanks) {
  const Result<NamedGroups> groups = ParseGroupFile(R"({"1": [0, 1], "b": [3]})", "f", 4);
  ASSERT_TRUE(groups.ok());
  EXPECT_EQ(*groups, (NamedGroups{{"1", {0, 1}}, {"b", {3}}}));
}

TEST(GroupFileTest, ReportsThePlaceOfInvalidJson) {
  EXPECT_EQ(Refusal("{\"1\":\n [0,, 1]}"), "groups.json:2:5: error: this is not valid JSON");
  EXPECT_EQ(Refusal("{\"1\": [1e309]}"),
            "groups.json: error: a number has no value: it is too large");
}

TEST(GroupFileTest, RejectsInvalidRanks) {
  EXPECT_EQ(Refusal("[]"), "groups.json: error: expected an object of lists: {\"1\": [0, 1]}");
  EXPECT_EQ(Refusal(R"({"1": [4]})"),
            "groups.json: error: group '1': there is no rank 4; there are 4 ranks");
  EXPECT_EQ(
      Refusal(R"({"1": [18446744073709551615]})"),
      "groups.json: error: group '1': there is no rank 18446744073709551615; there are 4 ranks");
  EXPECT_EQ(Refusal(R"({"1": [2, 2]})"), "groups.json: error: group '1': rank 2 occurs twice");
  EXPECT_EQ(Refusal(R"({"1": [0.5]})"), "groups.json: error: group '1': expected a list of ranks");
  EXPECT_EQ(Refusal(R"({"1": []})"), "groups.json: error: group '1': expected a list of ranks");
}

TEST(GroupFileTest, IgnoresOtherMetadata) {
  NamedGroups groups;
  for (const char* text :
       {"", "7", "{}", "[1e999]", R"([{"pg_name": 3}])", R"([{"ranks": [0]}])"}) {
    EXPECT_TRUE(AddMetadataGroups(text, "f", 4, &groups).ok()) << text;
  }
  EXPECT_TRUE(groups.empty());
  EXPECT_TRUE(AddMetadataGroups(R"([{"pg_name": "1", "ranks": [0, 1]}])", "f", 4, &groups).ok());
  EXPECT_FALSE(AddMetadataGroups(R"([{"pg_name": "1", "ranks": [0, 2]}])", "f", 4, &groups).ok());
  EXPECT_EQ(groups, (NamedGroups{{"1", {0, 1}}}));
}

}  // namespace
}  // namespace drydock
