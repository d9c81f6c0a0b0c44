// "Does a Chakra trace in JSON say the same as its messages?"
#include <gtest/gtest.h>

#include "core/schema/foreign/chakra_file.h"

namespace drydock {
namespace {

std::vector<ChakraNode> NodesOf(const std::string& text) {
  std::vector<ChakraNode> nodes;
  const Status status = ForEachChakraJsonNode(text, "t.json", [&](const ChakraNode& node) {
    nodes.push_back(node);
    return OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status.error().ToString();
  return nodes;
}

std::string ErrorOf(const std::string& text) {
  const Status status =
      ForEachChakraJsonNode(text, "t.json", [](const ChakraNode&) { return OkStatus(); });
  return status.ok() ? "" : status.error().ToString();
}

TEST(ChakraJsonTest, ReadsWhatTheJsonizerWrites) {
  const auto nodes = NodesOf(R"({
  "version": "0.0.4"
}{
  "name": "first",
  "type": "COMP_NODE",
  "durationMicros": "12",
  "attr": [{"name": "is_cpu_op", "boolVal": true}]
}{
  "id": "7",
  "name": "ncclDevKernel_AllReduce",
  "type": "COMM_COLL_NODE",
  "ctrlDeps": ["3"],
  "dataDeps": ["0"],
  "inputs": {"values": "[1]"},
  "attr": [
    {"name": "comm_type", "int64Val": "0"},
    {"name": "comm_size", "int64Val": "4096"},
    {"name": "pg_name", "stringVal": "12"}
  ]
})");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].id, 0u);
  EXPECT_EQ(nodes[0].duration_us, 12u);
  EXPECT_EQ(*nodes[0].Integer("is_cpu_op"), 1);
  EXPECT_EQ(nodes[1].id, 7u);
  EXPECT_EQ(nodes[1].type, static_cast<int>(ChakraKind::kCollective));
  EXPECT_EQ(nodes[1].deps, std::vector<uint64_t>{0});
  EXPECT_EQ(nodes[1].ctrl_deps, std::vector<uint64_t>{3});
  EXPECT_EQ(nodes[1].input_values, "[1]");
  EXPECT_EQ(*nodes[1].Integer("comm_size"), 4096);
  EXPECT_EQ(nodes[1].Find("pg_name")->text, "12");
}

TEST(ChakraJsonTest, ReadsWhatTheFeederReads) {
  const auto nodes = NodesOf(R"({"workload_graph": [
  {"Id": 4, "Name": "send", "NodeType": 5, "ctrlDeps": [3], "data_deps": [1, 2], "runtime": 85,
   "is_cpu_op": false, "comm_dst": 1, "comm_size": 64, "comm_tag": 9, "num_ops": 2.5},
  {"Id": 5, "Name": "}\"{", "NodeType": 4, "data_deps": []}
]})");
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].type, static_cast<int>(ChakraKind::kSend));
  EXPECT_EQ(nodes[0].deps, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(nodes[0].duration_us, 85u);
  EXPECT_EQ(*nodes[0].Integer("comm_tag"), 9);
  EXPECT_EQ(nodes[0].Find("num_ops")->real, 2.5);
  EXPECT_EQ(nodes[1].name, "}\"{");
}

TEST(ChakraJsonTest, ReportsThePlaceOfMistakes) {
  EXPECT_EQ(ErrorOf(""),
            "t.json: error: this is not a Chakra trace in JSON: it does not begin with '{'");
  EXPECT_EQ(ErrorOf("{\"workload_graph\": [\n{\"Id\": 1,}]}"),
            "t.json:2:10: error: this is not valid JSON");
  EXPECT_EQ(ErrorOf("{\"workload_graph\": [{\"Id\": 1}"),
            "t.json:1:30: error: this is not valid JSON");
  EXPECT_EQ(ErrorOf("{}{\"id\": \"1\", \"type\": \"COMB_NODE\"}"),
            "t.json: error: node 0 of the file: its type is not one of Chakra's, such as "
            "\"COMP_NODE\" or 4");
  EXPECT_EQ(ErrorOf("{}{\"id\": \"-1\"}"),
            "t.json: error: node 0 of the file: its id is not a whole number");
  EXPECT_EQ(ErrorOf("{\"name\": \"a\"}"),
            "t.json: error: this is not a Chakra trace in JSON: its first object is not Chakra's "
            "metadata and its first key is not \"workload_graph\"");
}

}  // namespace
}  // namespace drydock
