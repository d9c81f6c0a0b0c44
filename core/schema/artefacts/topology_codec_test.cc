// Does 1-workload/topology.pb bring back every fact of a cluster, and is it refused if it is
// damaged or belongs to another text?
#include "core/schema/artefacts/topology_codec.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>

#include "core/base/files.h"
#include "core/schema/artefacts/protocol.h"
#include "core/schema/artefacts/topology.pb.h"
#include "core/schema/testing/artefacts_testing.h"

namespace drydock {
namespace {

using testing::ArtefactsTest;
using testing::Replaced;
using testing::TemporaryDirectory;

// Writes the topology of a cluster and reads it back, by the texts alone.
void ExpectRoundTrip(const ClusterInput& cluster) {
  const TemporaryDirectory dir;
  const std::string path = dir / "topology.pb";
  const auto content = EncodeTopology(cluster.topology, cluster, "workload-gen", path);
  ASSERT_TRUE(content.ok());
  ASSERT_TRUE(WriteFileAtomically(path, *content).ok());
  ClusterInput read;
  read.yaml = cluster.yaml;
  read.files = cluster.files;
  const Status status = ReadTopology(path, &read);
  ASSERT_TRUE(status.ok()) << status.error().ToString();
  EXPECT_TRUE(read.topology == cluster.topology) << cluster.topology.name;
  EXPECT_TRUE(read.variation == cluster.variation) << cluster.topology.name;
  EXPECT_EQ(*EncodeTopology(read.topology, read, "workload-gen", path), *content);
}

TEST(TopologyCodecTest, EveryShippedClusterReadsBackEqual) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("configs/clusters")) {
    const Result<ClusterInput> cluster = LoadCluster(entry.path(), {});
    ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
    ExpectRoundTrip(*cluster);
    ++count;
  }
  EXPECT_GE(count, 4);
}

TEST(TopologyCodecTest, EverySectionReadsBackEqual) {
  const std::string toy = testing::ToyClusterText();
  const std::string cases[] = {
      toy +
          "faults:\n  - {nic: host0/nic0, rate: 1 Gbps, at: 1 ms, until: 2 ms}\n"
          "  - {link: [host1/nic0, leaf0.rail0], bit_errors: 1e-9}\n"
          "  - {switch: leaf0.rail1, at: 3 ms}\n"
          "  - {rank: 3, slowdown: 1.5, at: 1 us, until: 2 us}\n  - {host: host1, slowdown: 2}\n"
          "jitter: {compute: 0.02, call: 3 us, seed: 7}\n",
      Replaced(toy, "packets_per_ack: 8",
               "packets_per_ack: 8, congestion_control: dcqcn, flow_control: pfc, retransmission: "
               "selective-repeat, attributes: {FabricSwitch::CutThrough: 64, Dcqcn::Gain: 0.5}"),
      toy +
          "storage: {read: 20 GB/s, write: 10 GB/s, host: 1 GB/s, source: s}\n"
          "cost:\n  rent: {gpu: {value: 2.5 USD/h, source: a}}\n"
          "  power: {gpu: {value: 600 W, source: b}, host: {value: 900 W, source: c}, switch: "
          "{value: 800 W, source: d}, optics: {value: 12.5 W, source: e}, pue: {value: 1.25, "
          "source: f}}\n  electricity: {value: 0.08 USD/kWh, source: g}\n",
      toy + "cost: {rent: {host: {value: 20 EUR/h, source: a}}}\n",
      toy +
          "cost: {capital: {host: {value: 9 USD, source: a}, switch: {value: 8 USD, source: b}, "
          "optics: {value: 7 USD, source: c}, years: {value: 4, source: d}}}\n",
      Replaced(toy, "fabric:\n", "fabric:\n  sharp: {latency: 300 ns}\n  routing: spray\n"),
      Replaced(toy, "    gpus: 2\n",
               "    gpus: 2\n    memory: {bandwidth: 50 GB/s, copy_efficiency: 0.5, "
               "optimizer_efficiency: 0.25, copy_latency: 0 us, remote: {sharing: pool, bandwidth: "
               "1 GB/s, latency: 3 us}}\n    board: {cpu: grace, sockets: 1, gpus_per_switch: 0, "
               "socket_link: 8 GB/s, c2c: 450 GB/s, launch_speed: 0.5}\n"),
      Replaced(toy,
               "kind: nvswitch, switches: 1, bandwidth: 50 GB/s, latency: 600 ns, multicast: "
               "true",
               "kind: nvlink-mesh, bandwidth: 50 GB/s, latency: 600 ns, links: {0-1: 1}"),
      Replaced(toy, "    gpus: 2\n", "    gpus: 2\n    trays: 2\n")};
  for (const std::string& text : cases) {
    const Result<ClusterInput> cluster = ParseCluster(text, "toys.topo", testing::ToyFiles());
    ASSERT_TRUE(cluster.ok()) << cluster.error().ToString();
    ExpectRoundTrip(*cluster);
  }
  ClusterInput limited = testing::ToyCluster();
  limited.topology.host_kinds[0].limits = {500, 1410};
  ExpectRoundTrip(limited);
}

TEST_F(ArtefactsTest, ATopologyOfAnotherTextIsStale) {
  ClusterInput other = testing::ToyCluster();
  other.yaml += ' ';
  const auto rewrite = [&] {
    ASSERT_TRUE(WriteFileAtomically(At(kTopologyName),
                                    *EncodeTopology(other.topology, other, "nccl-record", "t"))
                    .ok());
  };
  rewrite();
  EXPECT_EQ(ErrorOf(kTopologyName),
            At(kTopologyName) +
                ": error: stale: it was made from another cluster.topo; run nccl-record again");
  other = testing::ToyCluster();
  other.files[0].second += "# another\n";
  rewrite();
  EXPECT_EQ(ErrorOf(kTopologyName),
            At(kTopologyName) +
                ": error: stale: it was made from another gpus/toy.yaml; run nccl-record again");
  other = testing::ToyCluster();
  other.files.emplace_back("gpus/tin.yaml", "");
  rewrite();
  EXPECT_EQ(ErrorOf(kTopologyName),
            At(kTopologyName) + ": error: damaged: it has inputs that the manifest lacks");
}

TEST_F(ArtefactsTest, ARunWithoutTopologySaysWhoMakesIt) {
  ASSERT_TRUE(std::filesystem::remove(At(kTopologyName)));
  EXPECT_EQ(ErrorOf(kTopologyName),
            At(kTopologyName) + ": error: there is no topology yet; run workload-gen first");
}

TEST_F(ArtefactsTest, TopologiesThatContradictThemselves) {
  using Message = proto::Topology;
  const std::string whole = *ReadFile(At(kTopologyName));
  const auto error_after = [&](const std::function<void(Message*)>& change) {
    Message message;
    EXPECT_TRUE(message.ParseFromString(whole));
    message.clear_checksum();
    change(&message);
    EXPECT_TRUE(WriteFileAtomically(At(kTopologyName), *protocol::Serialize(message, "t")).ok());
    return ErrorOf(kTopologyName);
  };
  const std::string damaged = At(kTopologyName) + ": error: damaged: ";
  const std::map<std::string, std::vector<std::function<void(Message*)>>> cases = {
      {"its tables contradict",
       {[](Message* m) { m->mutable_gpus(0)->mutable_dense_flops_per_second()->RemoveLast(); },
        [](Message* m) { m->mutable_gpus(0)->add_protocols(); },
        [](Message* m) { m->mutable_link_a()->RemoveLast(); },
        [](Message* m) { m->add_cable_delay_ps(1); },
        [](Message* m) { m->set_link_cable(0, UINT32_MAX); },
        [](Message* m) { m->mutable_switch_tier()->RemoveLast(); }}},
      {"it names a file that the manifest lacks",
       {[](Message* m) { m->mutable_gpus(0)->set_name("tin"); },
        [](Message* m) { m->mutable_gpus(0)->set_reference("tin"); },
        [](Message* m) { m->mutable_host_kinds(0)->set_nccl_topology("crate.xml"); }}},
      {"its GPUs contradict the rules of cluster files",
       {[](Message* m) { m->mutable_gpus(0)->set_compute_capability(0); },
        [](Message* m) { m->mutable_gpus(0)->set_dense_flops_per_second(0, 0.0 / 0.0); },
        [](Message* m) { m->mutable_gpus(0)->set_pcie_bits_per_second(-1); },
        [](Message* m) {
          for (int i = 0; i < 9; ++i) m->mutable_gpus(0)->add_protocols();
        }}},
      {"its hosts contradict the rules of cluster files",
       {[](Message* m) { m->clear_hosts(); }, [](Message* m) { m->set_hosts(0, 1); },
        [](Message* m) { m->mutable_host_kinds(0)->set_gpu(UINT32_MAX); },
        [](Message* m) { m->mutable_host_kinds(0)->set_gpus(0); },
        [](Message* m) { m->mutable_host_kinds(0)->set_trays(0); },
        [](Message* m) { m->mutable_host_kinds(0)->mutable_scale_up()->set_kind(3); },
        [](Message* m) { m->mutable_host_kinds(0)->mutable_scale_up()->add_mesh(); },
        [](Message* m) { m->mutable_host_kinds(0)->mutable_board()->set_cpu("abacus"); },
        [](Message* m) { m->mutable_host_kinds(0)->mutable_memory()->set_remote_sharing(9); },
        [](Message* m) { m->mutable_host_kinds(0)->mutable_nics()->set_pcie_generation(7); },
        [](Message* m) { m->mutable_host_kinds(0)->mutable_nics()->set_message_ps(-1); }}},
      {"its transport settings contradict the rules of cluster files",
       {[](Message* m) { m->mutable_transport()->set_kind("pigeon"); },
        [](Message* m) { m->mutable_transport()->set_mtu_bytes(0); },
        [](Message* m) { m->mutable_transport()->add_attributes()->set_name("a"); }}},
      {"its switches or cables contradict the rules of cluster files",
       {[](Message* m) { m->set_fabric_kind("knot"); },
        [](Message* m) { m->set_switch_latency_ps(0, -1); },
        [](Message* m) { m->set_link_a(0, UINT32_MAX); },
        [](Message* m) { m->set_link_a_nic(0, 2); },
        [](Message* m) { m->set_cable_bits_per_second(0, 0); },
        [](Message* m) {
          m->mutable_link_a()->Clear(), m->mutable_link_a_nic()->Clear(),
              m->mutable_link_b()->Clear(), m->mutable_link_b_nic()->Clear(),
              m->mutable_link_cable()->Clear();
        }}},
      {"its NCCL settings contradict the rules of cluster files",
       {[](Message* m) { m->add_nccl_settings()->set_name("LANG"); }}},
      {"its faults contradict the rules of cluster files",
       {[](Message* m) { m->add_faults()->add_links(UINT32_MAX); },
        [](Message* m) { m->add_faults()->set_ends(true); },
        [](Message* m) { m->add_faults()->set_kind(3); }}},
      {"its slow GPUs or jitter contradict the rules of cluster files",
       {[](Message* m) { m->add_slow_gpus()->set_host(2); },
        [](Message* m) { m->set_jitter_compute(1); }}},
      {"its costs contradict the rules of cluster files",
       {[](Message* m) { m->mutable_cost(); },
        [](Message* m) { m->mutable_cost()->mutable_gpu_hour()->set_value(1); },
        [](Message* m) {
          m->mutable_cost()->set_currency("USD");
          m->mutable_cost()->mutable_gpu_hour()->set_value(-1);
          m->mutable_cost()->mutable_gpu_hour()->set_source("s");
        }}},
      {"its rates of storage contradict the rules of cluster files",
       {[](Message* m) { m->mutable_storage()->set_source("s"); }}}};
  for (const auto& [message, changes] : cases) {
    for (size_t i = 0; i < changes.size(); ++i) {
      EXPECT_EQ(error_after(changes[i]), damaged + message) << i;
    }
  }
}

}  // namespace
}  // namespace drydock
