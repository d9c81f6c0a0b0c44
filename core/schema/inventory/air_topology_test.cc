// "Does a topology of NVIDIA Air become the cables between hosts and switches?"
#include <gtest/gtest.h>

#include "core/schema/inventory/inventory.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::FirstLine;

const char kDot[] =
    "graph network { // a lab\n"
    "  \"leaf01\" [function=\"leaf\" os=\"cumulus-vx-5.16.1\" memory=\"1024\"]\n"
    "  \"server02\" [function=\"server\", os=\"generic/ubuntu2404\"];\n"
    "  \"server10\" [function=\"host\"]\n"
    "  \"oob-mgmt-switch\" [function=\"oob-switch\"]\n"
    "  \"leaf01\":\"swp1\" -- \"server02\":\"eth1\"\n"
    "  \"leaf01\":\"swp2\" -- \"server10\":\"eth1\" [left_mac=\"44:38:39:00:00:01\"]\n"
    "  \"oob-mgmt-switch\":\"swp2\" -- \"leaf01\":\"eth0\"\n"
    "}\n";

TEST(AirTopologyTest, ReadsDot) {
  const Result<Inventory> net = ParseAirTopology(kDot, "lab.dot", "");
  ASSERT_TRUE(net.ok()) << net.error().ToString();
  EXPECT_EQ(net->hosts, (std::vector<std::string>{"server02", "server10"}));
  EXPECT_EQ(net->switches, std::vector<std::string>{"leaf01"});
  ASSERT_EQ(net->cables.size(), 2u);
  EXPECT_EQ(net->cables[1].a, (CableEnd{"leaf01", "swp2"}));
  EXPECT_EQ(net->cables[1].b, (CableEnd{"server10", "eth1"}));
  EXPECT_EQ(net->notes, std::vector<std::string>{
                            "left out: the management network (oob-mgmt-switch), 1 cable"});
}

TEST(AirTopologyTest, ReadsJson) {
  const std::string json =
      "{\"title\": \"lab\", \"content\": {\n\"nodes\": {\"leaf01\": {\"os\": "
      "\"cumulus-vx-5.16.1\"},"
      " \"server01\": {\"os\": \"generic/ubuntu2404\", \"cpu\": 2}},\n\"links\": [[{\"interface\": "
      "\"swp1\", \"node\": \"leaf01\"}, {\"interface\": \"eth1\", \"node\": \"server01\"}],\n"
      "[{\"interface\": \"eth0\", \"node\": \"leaf01\"}, \"exit\"]]}}\n";
  const Result<Inventory> net = ParseAirTopology(json, "lab.json", "");
  ASSERT_TRUE(net.ok()) << net.error().ToString();
  EXPECT_EQ(net->hosts, std::vector<std::string>{"server01"});
  EXPECT_EQ(net->switches, std::vector<std::string>{"leaf01"});
  ASSERT_EQ(net->cables.size(), 1u);
  EXPECT_EQ(net->notes, std::vector<std::string>{"left out: 1 link without a second device"});
}

// UFM's files name hosts in cables only.
TEST(AirTopologyTest, AskForHostsThatTheFileDoesNotName) {
  const std::string dot =
      "graph g {\n\"l1\" [role=\"leaf\" os=\"cumulus\"]\n\"l1\":\"swp1\" -- \"n1\":\"enp3\"\n}\n";
  EXPECT_EQ(ErrorText(ParseAirTopology(dot, "a.dot", "")),
            "a.dot: error: the file does not say whether 'n1' is a host or a switch; say it with "
            "--hosts PATTERN");
  const Result<Inventory> net = ParseAirTopology(dot, "a.dot", "n*");
  ASSERT_TRUE(net.ok()) << net.error().ToString();
  EXPECT_EQ(net->hosts, std::vector<std::string>{"n1"});
}

TEST(AirTopologyTest, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorText(ParseAirTopology("leaf01", "a.dot", "")),
            "a.dot:1: error: a topology of NVIDIA Air begins with 'graph NAME {'");
  EXPECT_EQ(ErrorText(ParseAirTopology("graph g {\n\"a\" [os=\"b\"\n", "a.dot", "")),
            "a.dot:3: error: the ']' of the attributes is missing");
  EXPECT_EQ(FirstLine(ErrorText(ParseAirTopology("{\"nodes\": {}}", "a.json", ""))),
            "a.json:1:1: error: a topology of NVIDIA Air has 'nodes' and 'links'");
}

}  // namespace
}  // namespace drydock
