// Does the log show what happened, and does keeping it change no result?
#include "core/network/network_log.h"

#include <gtest/gtest.h>

#include <map>

#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

constexpr int64_t kFullFrame = (4096 + 82) * 20;  // ps at 400 Gbps
constexpr int64_t kDelay = 500'000;

struct Watched {
  NetworkLog log;
  std::vector<std::vector<Notice>> notices;
  std::map<std::string, int64_t> counters;
  std::vector<LinkTotal> links;
};

Watched RunWatched(const Topology& topology, std::vector<Order> orders, Time interval,
                   int threads = 1) {
  const auto network = MakePacketNetwork(topology, {.threads = threads, .log_interval = interval});
  Watched watched;
  EXPECT_TRUE(RunOrders(topology, network->get(), std::move(orders), &watched.notices).ok());
  for (const auto& [name, value] : network.value()->Counters()) watched.counters[name] = value;
  watched.links = network.value()->BusiestLinks();
  if (network.value()->Log() != nullptr) watched.log = *network.value()->Log();
  return watched;
}

// Hosts 1 to 3 send to host 0 through a switch.
Topology Incast() {
  FabricShape shape;
  shape.transport.flow_control = FlowControl::kPfc;
  shape.transport.congestion_control = CongestionControl::kDcqcn;
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
  EXPECT_EQ(record.delivered, record.idle);
}

TEST(NetworkLog, IdleTimesAreExactOnAnyPath) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const char* head : {"0", "128"}) {
      FabricShape shape;
      shape.nic_latency = Time::Ns(300);
      shape.transport.attributes = {{"FabricSwitch::CutThrough", head}};
      const Topology topology = RandomFabric(seed, shape);
      const HostId last = topology.host_count() - 1;
      for (const int64_t bytes : {1, 4096, 4097, 40'000, 1'000'001}) {
        const Watched seen = RunWatched(topology, {Transfer(0, last, bytes)}, Time::Us(1000));
        ASSERT_EQ(seen.log.messages.size(), 1u);
        EXPECT_EQ(seen.log.messages[0].delivered, seen.log.messages[0].idle)
            << seed << " " << head << " " << bytes;
      }
    }
  }
}

// Two hosts of 400 Gb/s on leaves that spines connect over cables of 100 Gb/s.
TEST(NetworkLog, NoMessageInPartsIsFasterThanOnAnIdleNetwork) {
  Topology topology = RailFabric(2, 1, 1, 16, FabricShape());
  for (FabricLink& link : topology.fabric.links) {
    if (link.a.is_switch && link.b.is_switch) {
      link.rate = Bandwidth::BitsPerSecond(100'000'000'000);
    }
  }
  for (const int queue_pairs : {1, 2, 4, 8}) {
    for (const char* split : {"0", "1"}) {
      topology.nccl_settings = {{"NCCL_IB_QPS_PER_CONNECTION", std::to_string(queue_pairs)},
                                {"NCCL_IB_SPLIT_DATA_ON_QPS", split}};
      std::vector<Order> orders;
      for (int i = 0; i < 10; ++i) {
        orders.push_back(
            Transfer(0, 1, (i % 3 == 0 ? 100 : 300'000) * (i + 1), Time::Us(2000 * i)));
      }
      const Watched seen = RunWatched(topology, orders, Time::Us(1000));
      ASSERT_EQ(seen.log.messages.size(), orders.size());
      for (const MessageRecord& record : seen.log.messages) {
        const Time took = record.delivered - record.message.sent;
        EXPECT_GE(took, record.idle) << queue_pairs << split << record.message.id;
        // The idle time of parts that share a link does not include their path to that link.
        const bool parts = queue_pairs > 1 && *split == '1';
        EXPECT_LE(took.ps(), record.idle.ps() * (parts ? 106 : 100) / 100)
            << queue_pairs << split << record.message.id;
      }
    }
  }
}

TEST(NetworkLog, SamplesAddUpToTheBytesSent) {
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
  EXPECT_EQ(to_host0, 3 * 1000 * (4096 + 82)) << "only data crosses this link";
  EXPECT_GT(marked, 0);
  EXPECT_GT(queued, 100'000);
  EXPECT_GT(paused, Time::Us(10));
  for (const MessageRecord& record : seen.log.messages) {
    EXPECT_GT(record.delivered - record.message.sent, record.idle);
  }
}

TEST(NetworkLog, RepeatedPacketsAreCountedAtTheLinkOfTheirNic) {
  Topology topology = Incast();
  topology.transport.flow_control = FlowControl::kNone;
  topology.transport.attributes.emplace_back("RdmaTransport::AckTimeout", "1 ms");
  topology.fabric.switches[0].buffer = Bytes(60'000);
  const Watched seen = RunWatched(topology, ThreeSend(300), Time::Us(10));
  std::map<std::string, int64_t> sampled, dropped;
  for (const LinkSample& sample : seen.log.samples) {
    const LinkName& link = seen.log.links[static_cast<size_t>(sample.link)];
    sampled[link.from] += sample.repeated;
    dropped[link.from] += sample.dropped;
  }
  int64_t all = 0;
  for (const LinkTotal& link : seen.links) {
    EXPECT_EQ(link.repeated, sampled[link.from]) << link.from;
    all += link.repeated;
  }
  EXPECT_GT(all, 0);
  EXPECT_EQ(all, seen.counters.at("repeated packets"));
  EXPECT_EQ(sampled["switch0"] + sampled["host 0/nic0"], 0) << "neither sends data";
  EXPECT_EQ(dropped["switch0"], seen.counters.at("dropped frames"));
}

TEST(NetworkLog, PausesOfAllLinksAddUpToTheirTotal) {
  const Watched seen = RunWatched(Incast(), ThreeSend(1000), Time::Us(10));
  Time sampled, totals;
  for (const LinkSample& sample : seen.log.samples) sampled = sampled + sample.paused;
  for (const LinkTotal& link : seen.links) totals = totals + link.paused;
  EXPECT_GT(totals, Time::Us(10));
  EXPECT_EQ(sampled, totals);
  EXPECT_EQ(seen.counters.at("ns of paused links"), totals.ps() / 1000);
}

TEST(NetworkLog, IsTheSameForAnyNumberOfThreadsAndChangesNoResult) {
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
