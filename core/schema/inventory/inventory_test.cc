// "Does an inventory of a real fabric become the cluster that was wired?"
#include "core/schema/inventory/inventory.h"

#include <gtest/gtest.h>

#include "core/base/yaml.h"
#include "core/schema/inventory/cluster_text.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;

const char kNet[] =
    "# Topology file: generated on a day\n#\nvendid=0x2c9\nswitchguid=0xb0(b0)\n"
    "Switch\t41 \"S-b0\"\t\t# \"MF0;leaf1:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n"
    "[1]\t\"H-c2\"[1](c2) \t\t# \"dgx2 mlx5_0\" lid 10 4xNDR\n"
    "[2]\t\"H-c1\"[1](c1) \t\t# \"dgx10 mlx5_0\" lid 11 4xNDR\n"
    "[3]\t\"H-a0\"[1](a0) \t\t# \"Mellanox Technologies Aggregation Node\" lid 12 4xNDR\n"
    "[33]\t\"S-b1\"[1]\t\t# \"MF0;spine1:MQM9700/U1\" lid 5 4xXDR\n\n"
    "Switch\t41 \"S-b1\"\t\t# \"MF0;spine1:MQM9700/U1\" enhanced port 0 lid 5 lmc 0\n"
    "[1]\t\"S-b0\"[33]\t\t# \"MF0;leaf1:MQM9700/U1\" lid 1 4xXDR\n\n"
    "Ca\t1 \"H-c1\"\t\t# \"dgx10 mlx5_0\"\n[1](c1) \t\"S-b0\"[2]\t\t# lid 11 lmc 0 \"leaf1\" lid 1 "
    "4xNDR\n"
    "Ca\t1 \"H-c2\"\t\t# \"dgx2 mlx5_0\"\n[1](c2) \t\"S-b0\"[1]\t\t# lid 10 lmc 0 \"leaf1\" lid 1 "
    "4xNDR\n"
    "Ca\t1 \"H-a0\"\t\t# \"Mellanox Technologies Aggregation Node\"\n[1](a0) \t\"S-b0\"[3]\t\t# "
    "lid 12 4xNDR\n";

const char kBase[] =
    "cluster: {name: base, host: dgx, hosts: 1}\nhosts:\n  dgx: {gpu: g, gpus: 1}\nfabric:\n"
    "  kind: rail-optimised\n  leaf: {latency: 130 ns, buffer: 32 MB, cable: 10 m}\n"
    "transport: {kind: infiniband}\n";

TEST(InventoryTest, NumbersInNamesCountByValue) {
  EXPECT_TRUE(NameLess("leaf2", "leaf10"));
  EXPECT_FALSE(NameLess("leaf10", "leaf2"));
  EXPECT_TRUE(NameLess("a01", "a1"));  // equal numbers: a total order all the same
  EXPECT_TRUE(NameLess("mlx5_2/1", "mlx5_10/1"));
  EXPECT_FALSE(NameLess("x", "x"));
}

TEST(InventoryTest, ReadsIbNetDiscover) {
  const Result<Inventory> net = ParseIbNetDiscover(kNet, "net.txt");
  ASSERT_TRUE(net.ok()) << net.error().ToString();
  EXPECT_EQ(net->hosts, (std::vector<std::string>{"dgx2", "dgx10"}));
  EXPECT_EQ(net->switches, (std::vector<std::string>{"leaf1", "spine1"}));
  ASSERT_EQ(net->cables.size(), 3u);  // each once, without the aggregation node
  EXPECT_EQ(net->notes.size(), 1u);
  const Result<ClusterText> cluster = ClusterOfInventory(
      *net, *ParseYaml(kBase, "base.topo"), 1, Bandwidth::BitsPerSecond(200'000'000'000), "c");
  ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
  EXPECT_EQ(cluster->text,
            "cluster: {name: 'c', host: 'dgx', hosts: 2}\nhosts:\n  'dgx': {'gpu': 'g', 'gpus': "
            "'1'}\n"
            "# host0 is dgx2\n# host1 is dgx10\nfabric:\n  kind: explicit\n  switches:\n"
            "    - {name: 'leaf1', latency: 130 ns, buffer: 32 MB, tier: 0}\n"
            "    - {name: 'spine1', latency: 130 ns, buffer: 32 MB, tier: 1}\n  links:\n"
            "    - {from: 'leaf1', to: host0/nic0, rate: 400 Gbps, delay: 50000 ps}\n"
            "    - {from: 'leaf1', to: host1/nic0, rate: 400 Gbps, delay: 50000 ps}\n"
            "    - {from: 'spine1', to: 'leaf1', rate: 800 Gbps, delay: 50000 ps}\n"
            "transport: {'kind': 'infiniband'}\n");
  EXPECT_EQ(cluster->notes.back(),
            "3 cables state no length: they are 10 m long, as --host's leaf cables");
}

TEST(InventoryTest, ReadsTablesOfCables) {
  const std::string table =
      "Label,Side A Device,Side A Name,Side B Device,Side B Name,Speed,Length,Length Unit\n"
      "\"a, b\",gpu1,eth0,leaf1,swp1,400G,3,m\nx,gpu2,eth0,leaf1,swp2,,10,ft\n"
      "y,storage1,eth0,leaf1,swp3,100 Gbps,,\n";
  const Result<Inventory> net = ParseCableTable(table, "c.csv", "gpu*");
  ASSERT_TRUE(net.ok()) << net.error().ToString();
  EXPECT_EQ(net->hosts, (std::vector<std::string>{"gpu1", "gpu2"}));
  EXPECT_EQ(net->cables[0].rate.bits_per_second(), 400'000'000'000);
  EXPECT_EQ(net->cables[1].rate.bits_per_second(), 0);
  EXPECT_DOUBLE_EQ(net->cables[1].metres, 3.048);
  const auto cluster = ClusterOfInventory(*net, *ParseYaml(kBase, "base.topo"), 2,
                                          Bandwidth::BitsPerSecond(400'000'000'000), "c");
  EXPECT_EQ(
      ErrorText(cluster),
      "error: no host has 2 cables, as the hosts of --host have NICs; there are 2 with 1 "
      "(gpu1, gpu2); give --host a cluster file whose hosts have the number of NICs of yours");
}

// Such a name would make a cluster file that cannot be read.
TEST(InventoryTest, RefusesNamesThatAreNoText) {
  for (const std::string name : {"h\x18", "h\xbf"}) {
    Inventory inventory;
    inventory.hosts = {name};
    inventory.switches = {"leaf"};
    inventory.cables = {{{name, "eth0"}, {"leaf", "swp1"}}};
    const Result<ClusterText> cluster =
        ClusterOfInventory(inventory, *ParseYaml("cluster: {name: c}\n", "base"), 1,
                           Bandwidth::BitsPerSecond(1'000'000'000), "c");
    ASSERT_FALSE(cluster.ok());
    EXPECT_NE(cluster.error().message().find("has a character that is not text; give the device "
                                             "or port another name"),
              std::string::npos)
        << cluster.error().message();
  }
}

TEST(InventoryTest, ReportsThePlaceOfMistakes) {
  EXPECT_EQ(ErrorText(ParseIbNetDiscover("hello\n", "n")),
            "n: error: there is no Switch and no Ca: this is not the output of ibnetdiscover");
  EXPECT_EQ(ErrorText(ParseIbNetDiscover("Switch\t2 \"S-1\" # \"a\"\n[1]\t\"H-1\"[1]\n", "n")),
            "n: error: there is no node \"H-1\", but a cable leads to it");
  EXPECT_EQ(ErrorText(ParseIbNetDiscover("Switch\t2 \"S-1\"\n[x]\n", "n")),
            "n:2: error: expected the number of a port");
  EXPECT_EQ(ErrorText(ParseCableTable("from,to\n", "c", "h*")).substr(0, 48),
            "c:1: error: the header has no column 'Side A Nam");
  const std::string head = "a_device,a_port,b_device,b_port,speed\n";
  EXPECT_EQ(ErrorText(ParseCableTable(head + "h1,1,s,1,9 Bananas\n", "c", "h*")).substr(0, 12),
            "c:2: error: ");
  EXPECT_EQ(ErrorText(ParseCableTable(head + "h1,1,s,1,\nh1,1,s,2,\n", "c", "h*")),
            "c:3: error: the port '1' of 'h1' has another cable already");
}

}  // namespace
}  // namespace drydock
