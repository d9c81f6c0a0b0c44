// Do capture files, link totals and trace sources show what happened in a run?
#include <gtest/gtest.h>

#include <map>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"
#include "ns3-backend/model/wire/frame.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"
#include "ns3/callback.h"
#include "ns3/config.h"

namespace drydock {
namespace {

constexpr int64_t kFullFrame = (4096 + 82) * 20;  // ps at 400 Gbps
constexpr int64_t kDelay = 500'000;

// A packet of a capture file, decoded as readers of such files do.
struct Packet {
  int64_t ns = 0;
  size_t length = 0;  // on the wire
  std::string bytes;

  uint64_t At(size_t from, size_t count) const {
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value = value << 8 | static_cast<uint8_t>(bytes.at(from + i));
    return value;
  }
  uint64_t ether_type() const { return At(12, 2); }
  uint64_t ecn() const { return At(15, 1) & 3; }
  uint64_t dscp() const { return At(15, 1) >> 2; }
  uint64_t source() const { return At(26, 4); }
  uint64_t source_port() const { return At(34, 2); }
  uint64_t opcode() const { return At(42, 1); }
  uint64_t psn() const { return At(51, 3); }
};

std::vector<Packet> ReadPcap(const std::string& path) {
  const Result<std::string> read = ReadFile(path);
  const std::string& file = read.value();
  const auto little = [&file](size_t from) {
    uint32_t value = 0;
    for (size_t i = 4; i-- > 0;) value = value << 8 | static_cast<uint8_t>(file.at(from + i));
    return value;
  };
  EXPECT_EQ(little(0), 0xa1b23c4d) << "times in nanoseconds, little endian";
  EXPECT_EQ(little(20), 1U) << "Ethernet";
  std::vector<Packet> packets;
  for (size_t at = 24; at < file.size();) {
    Packet packet;
    packet.ns = int64_t{little(at)} * 1'000'000'000 + little(at + 4);
    packet.length = little(at + 12);
    packet.bytes = file.substr(at + 16, little(at + 8));
    EXPECT_LE(packet.bytes.size(), packet.length);
    at += 16 + packet.bytes.size();
    packets.push_back(packet);
  }
  return packets;
}

struct Captured {
  Status status = OkStatus();
  std::vector<LinkTotal> links;
  std::vector<std::vector<Notice>> notices;
};

Captured RunCaptured(const Topology& topology, std::vector<Order> orders,
                     const std::vector<CaptureOptions>& captures, int threads = 1) {
  auto network = MakePacketNetwork(topology, {.threads = threads, .captures = captures});
  if (!network.ok()) return {network.error(), {}, {}};
  Captured run;
  run.status = RunOrders(topology, network->get(), std::move(orders), &run.notices);
  run.links = network.value()->BusiestLinks();
  return run;
}

TEST(Capture, HasTheFramesOnTheCable) {
  const testing::TemporaryDirectory folder;
  const std::string file = folder.path() + "/nic.pcap";
  FabricShape shape;
  shape.transport.packets_per_ack = 2;
  const Captured run =
      RunCaptured(Star(2, shape), {Transfer(0, 1, 3 * 4096 + 100)}, {{"host 0/nic0", "", file}});
  ASSERT_TRUE(run.status.ok());
  const std::vector<Packet> packets = ReadPcap(file);
  ASSERT_EQ(packets.size(), 6U) << "four packets there, two acknowledgements back";
  for (const Packet& packet : packets) {
    EXPECT_EQ(packet.ether_type(), 0x0800U);
    EXPECT_EQ(packet.dscp(), 24U) << "class 3";
    EXPECT_EQ(packet.At(36, 2), 4791U) << "RoCE v2";
    uint64_t sum = 0;
    for (size_t at = 14; at < 34; at += 2) sum += packet.At(at, 2);
    EXPECT_EQ((sum & 0xffff) + (sum >> 16), 0xffffU) << "checksum of the IP header";
    EXPECT_EQ(packet.At(16, 2) + 14, packet.length);
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(packets[i].ns, static_cast<int64_t>(i) * kFullFrame / 1000);
    EXPECT_EQ(packets[i].psn(), i);
    EXPECT_EQ(packets[i].opcode(), 7U) << "RDMA WRITE Middle";
    EXPECT_EQ(packets[i].source(), 0x0a000001U);
    EXPECT_EQ(packets[i].source_port(), packets[0].source_port());
    EXPECT_EQ(packets[i].length, 14U + 20 + 8 + 12 + (i < 3 ? 4096 : 100) + 4);
  }
  EXPECT_EQ(packets[4].opcode(), 0x11U);
  EXPECT_EQ(packets[4].psn(), 1U) << "the last packet that arrived";
  EXPECT_EQ(packets[4].source(), 0x0a000101U);
  EXPECT_EQ(packets[5].psn(), 3U);
  // The switch forwards the first acknowledgement, of packet 1.
  EXPECT_EQ(packets[4].ns, (4 * kFullFrame - kFullFrame + 3 * kDelay + 84 * 20) / 1000);
}

TEST(Capture, ChangesNoResultAndIsTheSameForAnyNumberOfThreads) {
  const testing::TemporaryDirectory folder;
  FabricShape shape;
  shape.transport.flow_control = FlowControl::kPfc;
  shape.transport.congestion_control = CongestionControl::kDcqcn;
  shape.transport.attributes = {{"FabricSwitch::EcnMin", "3000"}, {"FabricSwitch::EcnMax", "9000"}};
  Topology topology = RailFabric(8, 1, 4, 2, shape);
  for (auto& node : topology.fabric.switches) node.buffer = Bytes(2'000'000);
  std::vector<Order> orders;
  for (int i = 0; i < 4; ++i) orders.push_back(Transfer(i, 4, 4096 * 200));
  const auto plain = RunCaptured(topology, orders, {}).notices;
  const std::string leaf = topology.fabric.switches[2].name,
                    spine = topology.fabric.switches[0].name;
  std::vector<std::string> files;
  for (const int threads : {1, 3}) {
    files.push_back(folder.path() + "/" + std::to_string(threads));
    const Captured run = RunCaptured(
        topology, orders, {{leaf, spine, files.back()}, {"host 4/nic0", "", files.back() + "nic"}},
        threads);
    EXPECT_EQ(run.notices, plain) << threads;
  }
  for (const char* which : {"", "nic"}) {
    EXPECT_EQ(ReadFile(files[0] + which).value(), ReadFile(files[1] + which).value());
  }
  std::map<uint64_t, int> opcodes;
  int marked = 0;
  for (const Packet& packet : ReadPcap(files[0] + "nic")) {
    ++opcodes[packet.opcode()];
    marked += packet.opcode() == 7 && packet.ecn() == 3 ? 1 : 0;
  }
  EXPECT_EQ(opcodes[7], 4 * 200);
  EXPECT_GT(opcodes[0x81], 0) << "notifications";
  EXPECT_GT(marked, 0);
}

TEST(Capture, ShowsPauses) {
  const testing::TemporaryDirectory folder;
  const std::string file = folder.path() + "/nic.pcap";
  FabricShape shape;
  shape.transport.flow_control = FlowControl::kPfc;
  shape.transport.attributes = {{"RdmaTransport::WindowBdp", "40"}};
  Topology topology = Star(4, shape);
  topology.fabric.switches[0].buffer = Bytes(900'000);
  const Captured run = RunCaptured(
      topology,
      {Transfer(1, 0, 4096 * 400), Transfer(2, 0, 4096 * 400), Transfer(3, 0, 4096 * 400)},
      {{"host 1/nic0", "", file}});
  int stops = 0, resumes = 0;
  for (const Packet& packet : ReadPcap(file)) {
    if (packet.ether_type() != 0x8808) continue;
    EXPECT_EQ(packet.At(14, 2), 0x0101U);
    EXPECT_EQ(packet.At(16, 2), 1U << 3);
    ++(packet.At(18 + 2 * 3, 2) > 0 ? stops : resumes);
  }
  EXPECT_GT(stops, 0);
  EXPECT_GT(resumes, 0);
  // The link to host 0 is the busiest link, and full. NICs are paused, the switch is not.
  ASSERT_GE(run.links.size(), 4U);
  EXPECT_EQ(run.links[0].from, "switch0");
  EXPECT_EQ(run.links[0].to, "host 0/nic0");
  EXPECT_GE(run.links[0].sent, Bytes(1200 * 4178));
  EXPECT_GT(run.links[0].max_queued, Bytes(0));
  EXPECT_GT(run.links[0].Utilization(Time::Ps(1200 * kFullFrame + 3 * kDelay)), 0.98);
  EXPECT_EQ(run.links[0].paused, Time());
  EXPECT_EQ(run.links[1].to, "switch0");
  EXPECT_GT(run.links[1].paused, Time());
}

TEST(Capture, IsWrittenIfTheRunFails) {
  const testing::TemporaryDirectory folder;
  const std::string file = folder.path() + "/nic.pcap";
  FabricShape shape;
  shape.transport.attributes = {{"RdmaTransport::AckTimeout", "100 us"}};
  Topology topology = Star(2, shape);
  Fault down;
  down.at = Time::Us(5);
  down.links = {0};
  topology.faults = {down};
  const Captured run =
      RunCaptured(topology, {Transfer(0, 1, 4096 * 1000)}, {{"host 0/nic0", "", file}});
  ASSERT_FALSE(run.status.ok());
  EXPECT_NE(run.status.error().message().find("gave up"), std::string::npos);
  const std::vector<Packet> packets = ReadPcap(file);
  ASSERT_FALSE(packets.empty());
  EXPECT_GT(packets.back().ns, 100'000) << "lost frames are captured as well";
}

TEST(LinkTotals, ASlowedLinkIsInUseForLonger) {
  Topology topology = Star(2, FabricShape());
  Fault slow;
  slow.kind = Fault::Kind::kRate;
  slow.links = {1};
  slow.rate = Bandwidth::BitsPerSecond(40'000'000'000);
  topology.faults = {slow};
  const Captured run = RunCaptured(topology, {Transfer(0, 1, 4096 * 200)}, {});
  ASSERT_TRUE(run.status.ok());
  ASSERT_GE(run.links.size(), 2U);
  EXPECT_EQ(run.links[0].from, "switch0") << "the slow one is in use for longest";
  EXPECT_EQ(run.links[0].to, "host 1/nic0");
  EXPECT_EQ(run.links[0].busy, Time::Ps(200 * 10 * kFullFrame));
  EXPECT_EQ(run.links[0].rate, Bandwidth::BitsPerSecond(400'000'000'000));
  const Time end = Time::Ps(200 * 10 * kFullFrame + kFullFrame + 2 * kDelay);
  EXPECT_GT(run.links[0].Utilization(end), 0.99);
  EXPECT_EQ(run.links[1].from, "host 0/nic0");
  EXPECT_EQ(run.links[1].busy, Time::Ps(200 * kFullFrame));
}

TEST(Capture, UnknownEndsAreErrors) {
  const auto message = [](const CaptureOptions& options) {
    const auto network = MakePacketNetwork(Star(2, {}), {.captures = {options}});
    return network.ok() ? "" : network.error().message();
  };
  EXPECT_EQ(message({"host 0/nic1", "", "x"}),
            "no cable of the fabric ends at 'host 0/nic1'; did you mean 'host 0/nic0'?");
  EXPECT_EQ(message({"host 0/nic0", "host 1/nic0", "x"}),
            "no cable connects 'host 0/nic0' and 'host 1/nic0'");
  EXPECT_EQ(message({"switch0", "host 1/nic0", "x"}), "");
}

struct Seen {
  int drops = 0, trims = 0, marks = 0, pauses = 0, repeats = 0;
};

void SeeFrame(int* count, const ns3::rdma::Frame&, uint16_t, int64_t) { ++*count; }
void SeeRepeat(int* count, const ns3::rdma::Frame&, int64_t) { ++*count; }

TEST(TraceSources, AgreeWithTheCounters) {
  for (const auto control : {FlowControl::kNone, FlowControl::kTrim, FlowControl::kPfc}) {
    SCOPED_TRACE(ToString(control));
    FabricShape shape;
    shape.transport.flow_control = control;
    shape.transport.congestion_control = CongestionControl::kDctcp;
    shape.transport.retransmission = Retransmission::kSelectiveRepeat;
    shape.transport.attributes = {{"RdmaTransport::WindowBdp", "40"},
                                  {"RdmaTransport::AckTimeout", "1 ms"},
                                  {"FabricSwitch::EcnMin", "1000"}};
    Topology topology = Star(5, shape);
    topology.fabric.switches[0].buffer = Bytes(control == FlowControl::kPfc ? 1'000'000 : 100'000);
    auto network = MakePacketNetwork(topology, {});
    Seen seen;
    const std::string at = "/NodeList/*/$ns3::rdma::FabricSwitch/";
    const auto listen = [&](const std::string& name, int* count) {
      ns3::Config::ConnectWithoutContext(at + name, ns3::MakeBoundCallback(&SeeFrame, count));
    };
    listen("Drop", &seen.drops);
    listen("Trim", &seen.trims);
    listen("Mark", &seen.marks);
    listen("Pause", &seen.pauses);
    ns3::Config::ConnectWithoutContext("/NodeList/*/$ns3::rdma::RdmaHost/Repeat",
                                       ns3::MakeBoundCallback(&SeeRepeat, &seen.repeats));
    std::vector<Order> orders;
    for (HostId id = 1; id < 5; ++id) orders.push_back(Transfer(id, 0, 4096 * 300));
    ASSERT_TRUE(RunOrders(topology, network->get(), orders).ok());
    std::map<std::string, int64_t> counted;
    for (const auto& [name, value] : network.value()->Counters()) counted[name] = value;
    EXPECT_EQ(seen.marks, counted["marked frames"]);
    EXPECT_GT(seen.marks, 0);
    EXPECT_EQ(seen.drops, counted["dropped frames"]);
    EXPECT_EQ(seen.trims, counted["trimmed frames"]);
    EXPECT_EQ(seen.repeats, counted["repeated packets"]);
    EXPECT_EQ(control == FlowControl::kNone, seen.drops > 0);
    EXPECT_EQ(control == FlowControl::kTrim, seen.trims > 0);
    EXPECT_EQ(control == FlowControl::kPfc, seen.pauses > 0);
    EXPECT_GE(seen.pauses, counted["pause frames"]);
  }
}

}  // namespace
}  // namespace drydock
