// Does the log say what happened, and does nobody notice that it is kept?
#include <gtest/gtest.h>

#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/test_fabrics.h"

namespace drydock {
namespace {

constexpr int64_t kFullFrame = (4096 + 82) * 20;  // ps at 400 Gbps
constexpr int64_t kDelay = 500'000;

struct Watched {
  NetworkLog log;
  std::vector<std::vector<Notice>> notices;
};

Watched RunWatched(const Topology& topology, std::vector<Order> orders, Time interval,
                   int threads = 1) {
  const auto network = MakePacketNetwork(topology, {.threads = threads, .log_interval = interval});
  std::vector<ScriptedHost> hosts;
  for (HostId id = 0; id < topology.host_count(); ++id) {
    hosts.emplace_back(id);
    hosts.back().SetPort(network.value()->port(id));
  }
  for (size_t i = 0; i < orders.size(); ++i) {
    orders[i].message.id = i;
    hosts[static_cast<size_t>(orders[i].message.source)].orders.push_back(orders[i]);
  }
  std::vector<HostActor*> actors;
  for (ScriptedHost& host : hosts) actors.push_back(&host);
  EXPECT_TRUE(network.value()->Run(actors).ok());
  Watched watched;
  if (network.value()->Log() != nullptr) watched.log = *network.value()->Log();
  for (ScriptedHost& host : hosts) watched.notices.push_back(host.notices);
  return watched;
}

// Hosts 1 to 3 send to host 0, through a switch.
Topology Incast() {
  FabricShape shape;
  shape.transport.flow_control = "pfc";
  shape.transport.congestion_control = "dcqcn";
  shape.transport.attributes = {{"FabricSwitch::EcnMax", "20000"},
                                {"FabricSwitch::EcnMin", "5000"},
                                {"RdmaTransport::WindowBdp", "40"}};
  Topology topology = Star(4, shape);
  topology.fabric.switches[0].buffer = Bytes(3'000'000);
  return topology;
}

std::vector<Order> ThreeSend(int64_t packets) {
  return {Transfer(1, 0, 4096 * packets), Transfer(2, 0, 4096 * packets),
          Transfer(3, 0, 4096 * packets)};
}

TEST(NetworkLog, AnIdleNetworkDeliversInTheIdleTime) {
  const Watched seen =
      RunWatched(Star(2, FabricShape()), {Transfer(0, 1, 4096 * 50 + 7)}, Time::Us(1));
  ASSERT_EQ(seen.log.messages.size(), 1u);
  const MessageRecord& record = seen.log.messages[0];
  EXPECT_EQ(record.delivered, Time::Ps(51 * kFullFrame + (7 + 82) * 20 + 2 * kDelay));
  // The last packet, a small one, is through the second link sooner than a full one.
  EXPECT_LE(record.delivered, record.idle);
  EXPECT_GE(record.delivered.ps(), record.idle.ps() - kFullFrame);
}

TEST(NetworkLog, SamplesAddUpToWhatWasSent) {
  const Watched seen = RunWatched(Incast(), ThreeSend(1000), Time::Us(10));
  int64_t to_host0 = 0, marked = 0, queued = 0;
  Time paused;
  for (const LinkSample& sample : seen.log.samples) {
    const LinkName& link = seen.log.links[static_cast<size_t>(sample.link)];
    if (link.to == "host 0/nic0") {
      EXPECT_EQ(link.from, "switch0");
      to_host0 += sample.sent.count();
      marked += sample.marked;
      queued = std::max(queued, sample.queued.count());
    }
    if (link.from == "host 1/nic0") paused = paused + sample.paused;
  }
  EXPECT_EQ(to_host0, 3 * 1000 * (4096 + 82)) << "data alone goes there";
  EXPECT_GT(marked, 0);
  EXPECT_GT(queued, 100'000);
  EXPECT_GT(paused, Time::Us(10));
  for (const MessageRecord& record : seen.log.messages) {
    EXPECT_GT(record.delivered - record.message.sent, record.idle);
  }
}

TEST(NetworkLog, IsTheSameForAnyNumberOfThreadsAndChangesNothing) {
  const Watched one = RunWatched(Incast(), ThreeSend(500), Time::Us(3));
  const Watched unseen = RunWatched(Incast(), ThreeSend(500), Time());
  EXPECT_EQ(one.notices, unseen.notices);
  EXPECT_TRUE(unseen.log.samples.empty());
  for (const int threads : {2, 3}) {
    const Watched more = RunWatched(Incast(), ThreeSend(500), Time::Us(3), threads);
    EXPECT_EQ(more.notices, one.notices);
    ASSERT_EQ(more.log.samples.size(), one.log.samples.size());
    for (size_t i = 0; i < one.log.samples.size(); ++i) {
      const LinkSample &a = one.log.samples[i], &b = more.log.samples[i];
      EXPECT_TRUE(a.at == b.at && a.link == b.link && a.sent == b.sent && a.queued == b.queued &&
                  a.marked == b.marked && a.paused == b.paused);
    }
    ASSERT_EQ(more.log.messages.size(), one.log.messages.size());
    for (size_t i = 0; i < one.log.messages.size(); ++i) {
      EXPECT_EQ(more.log.messages[i].delivered, one.log.messages[i].delivered);
    }
  }
}

}  // namespace
}  // namespace drydock
