#include "exec-engine/networks/analytical_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/fabric/connection_shape.h"
#include "core/model/fabric/fabric_map.h"
#include "core/model/fabric/fabric_paths.h"
#include "core/network/forgetful_network.h"
#include "exec-engine/testing/replay_testing.h"

namespace drydock {
namespace {

// Records its callbacks, and acts in them.
class Recorder final : public HostActor {
 public:
  void Start() override {
    if (on_start) on_start();
  }
  void OnTimer(TimerId id) override {
    Note("timer", id);
    if (on_timer) on_timer(id);
  }
  void OnSent(const Message& m) override { Note("sent", m.id); }
  void OnDelivered(const Message& m) override { Note("delivered", m.id); }

  void Note(const std::string& what, uint64_t id) {
    log.push_back(std::to_string(port->Now().ps()) + " " + what + " " + std::to_string(id));
  }
  HostPort* port = nullptr;
  std::function<void()> on_start;
  std::function<void(TimerId)> on_timer;
  std::vector<std::string> log;
};

struct World {
  explicit World(Topology t) : topology(std::move(t)) {
    network = std::move(MakeAnalyticalNetwork(topology, {})).value();
    actors.resize(topology.hosts.size());
    for (size_t i = 0; i < actors.size(); ++i) {
      actors[i].port = network->port(static_cast<HostId>(i));
    }
  }
  Status Try() {
    std::vector<HostActor*> pointers;
    for (Recorder& actor : actors) pointers.push_back(&actor);
    return network->Run(pointers);
  }
  void Run() { ASSERT_TRUE(Try().ok()); }
  void Send(HostId from, HostId to, MessageId id, int64_t bytes, int nic = 0, uint32_t flow = 0) {
    Message m;
    m.flow = flow;
    m.id = id;
    m.source = from;
    m.destination = to;
    m.source_nic = m.destination_nic = static_cast<int16_t>(nic);
    m.size = Bytes(bytes);
    actors[static_cast<size_t>(from)].port->Send(m);
  }
  Topology topology;
  std::unique_ptr<Network> network;
  std::vector<Recorder> actors;
};

// One packet of 4096 + 82 B at 200 Gbps takes 167,120 ps. A message: 500 ns NIC, wire, 50 + 300 +
// 50 ns of fabric, one packet stored by the switch, 500 ns NIC.
constexpr int64_t kPacket = 167120;
constexpr int64_t kLatency = 500000 + 400000 + 500000;

// Eight messages that were not sent at 10 us are sent at 30 us after all, as of 10 us. Some of them
// have been delivered by then, some are on their way.
TEST(AnalyticalNetworkTest, CatchingUpGivesTheCallbacksOfMessagesSentInTime) {
  std::vector<std::string> expected[2];
  std::vector<std::pair<std::string, int64_t>> counters;
  for (const bool late : {false, true}) {
    World world(testing::SmallCluster(2, 2));
    const auto send = [&world] {
      for (MessageId id = 1; id <= 8; ++id) world.Send(0, 1, id, 200'000, id % 2 == 0 ? 1 : 0);
    };
    for (Recorder& actor : world.actors) {
      actor.on_start = [&actor] {
        for (const int at : {10, 30, 31}) actor.port->At(Time::Us(at), static_cast<TimerId>(at));
      };
    }
    int delivered = 0;
    if (late) {
      world.actors[1].on_timer = [&](TimerId id) {
        if (id != 30) return;
        auto* network = dynamic_cast<ForgetfulNetwork*>(world.network.get());
        ASSERT_TRUE(network != nullptr && network->Forgets());
        network->CatchUp(Time::Us(10), [&] {
          EXPECT_EQ(world.actors[0].port->Now(), Time::Us(10));
          send();
        });
        EXPECT_EQ(world.actors[1].port->Now(), Time::Us(30));
        for (const std::string& line : world.actors[1].log) {
          delivered += line.find("delivered") != std::string::npos;
        }
      };
    } else {
      world.actors[0].on_timer = [&](TimerId id) {
        if (id == 10) send();
      };
    }
    world.Run();
    for (size_t host = 0; host < 2; ++host) {
      std::vector<std::string>& log = world.actors[host].log;
      std::stable_sort(log.begin(), log.end(), [](const std::string& a, const std::string& b) {
        return std::stoll(a) < std::stoll(b);
      });
      if (!late) {
        expected[host] = log;
      } else {
        EXPECT_EQ(log, expected[host]) << "host " << host;
        EXPECT_GT(delivered, 1);
        EXPECT_LT(delivered, 7);
      }
    }
    if (!late) counters = world.network->Counters();
    EXPECT_EQ(world.network->Counters(), counters);
  }
}

TEST(AnalyticalNetworkTest, MessageTakesWireAndLatency) {
  World world(testing::SmallCluster(2, 1));
  world.actors[0].on_start = [&] { world.Send(0, 1, 7, 4096 * 10); };
  world.Run();
  EXPECT_EQ(world.actors[1].log,
            std::vector<std::string>{std::to_string(kLatency + 11 * kPacket) + " delivered 7"});
  EXPECT_EQ(world.actors[0].log,
            std::vector<std::string>{std::to_string(kLatency + 11 * kPacket + 400000) + " sent 7"})
      << "acknowledged over the same path";
}

TEST(AnalyticalNetworkTest, TwoNicsOfAHostTalkOverTheSwitch) {
  World world(testing::SmallCluster(1, 2));
  world.actors[0].on_start = [&] {
    Message m;
    m.id = 7;
    m.destination_nic = 1;
    m.size = Bytes(4096 * 10);
    world.actors[0].port->Send(m);
  };
  world.Run();
  const int64_t there = kLatency + 11 * kPacket;
  EXPECT_EQ(world.actors[0].log,
            (std::vector<std::string>{std::to_string(there) + " delivered 7",
                                      std::to_string(there + 400000) + " sent 7"}));
}

TEST(AnalyticalNetworkTest, MessagesQueueAtBothNics) {
  World world(testing::SmallCluster(3, 1));
  world.actors[0].on_start = [&] {
    world.Send(0, 2, 1, 4096);
    world.Send(0, 2, 2, 4096);
  };
  world.actors[1].on_start = [&] { world.Send(1, 2, 1, 4096); };
  world.Run();
  const auto at = [](int packets) { return std::to_string(kLatency + packets * kPacket); };
  EXPECT_EQ(world.actors[2].log,
            (std::vector<std::string>{at(2) + " delivered 1", at(3) + " delivered 1",
                                      at(4) + " delivered 2"}))
      << "two that arrive together are served in the order of their hosts, then the third";
}

// Behind a switch with a slower cable, the short message could arrive first.
TEST(AnalyticalNetworkTest, MessagesOfAFlowStayInOrder) {
  Topology t = testing::SmallCluster(2, 1);
  t.fabric.links[1].rate = Bandwidth::BitsPerSecond(10'000'000'000);
  World world(t);
  world.actors[0].on_start = [&] {
    world.Send(0, 1, 1, 4096);
    world.Send(0, 1, 2, 64);
  };
  world.Run();
  ASSERT_EQ(world.actors[1].log.size(), 2u);
  EXPECT_TRUE(world.actors[1].log[0].ends_with("delivered 1")) << world.actors[1].log[0];
}

TEST(AnalyticalNetworkTest, TimersRunBeforeDeliveriesOfTheSameTimeAndById) {
  World world(testing::SmallCluster(2, 1));
  const Time when = Time::Ps(kLatency + 2 * kPacket);
  world.actors[0].on_start = [&] { world.Send(0, 1, 9, 4096); };
  world.actors[1].on_start = [&] {
    world.actors[1].port->At(when, 5);
    world.actors[1].port->At(when, 3);
  };
  world.Run();
  const std::string at = std::to_string(when.ps());
  EXPECT_EQ(world.actors[1].log,
            (std::vector<std::string>{at + " timer 3", at + " timer 5", at + " delivered 9"}));
}

TEST(AnalyticalNetworkTest, SettingATimerAgainMovesIt) {
  World world(testing::SmallCluster(2, 1));
  world.actors[0].on_start = [&] {
    world.actors[0].port->At(Time::Us(5), 1);
    world.actors[0].port->At(Time::Us(2), 1);
    world.actors[0].port->At(Time::Us(9), 2);
    world.actors[0].port->At(Time::Us(12), 2);
  };
  world.Run();
  EXPECT_EQ(world.actors[0].log, (std::vector<std::string>{"2000000 timer 1", "12000000 timer 2"}));
}

// Two leaves with two hosts each, joined by `spines` switches. Every cable has the rate of a NIC.
Topology TwoLeaves(int spines) {
  Topology t = testing::SmallCluster(4, 1);
  const Bandwidth rate = t.fabric.links[0].rate;
  t.fabric.switches.push_back({"leaf1", 0, Time::Ns(300), Bytes(1 << 24)});
  t.fabric.links[2].b.index = t.fabric.links[3].b.index = 1;
  for (int spine = 0; spine < spines; ++spine) {
    const auto node = static_cast<int>(t.fabric.switches.size());
    t.fabric.switches.push_back({"spine", 1, Time::Ns(300), Bytes(1 << 24)});
    for (const int leaf : {0, 1}) {
      t.fabric.links.push_back({{true, leaf, 0}, {true, node, 0}, rate, Time::Ns(50)});
    }
  }
  return t;
}

// Returns when the later of two messages of `bytes` arrives, which leave hosts 0 and 1 for hosts 2
// and 3.
Time LaterOfTwo(Topology topology, int64_t bytes, uint32_t flow = 0) {
  World world(std::move(topology));
  Time last;
  for (const int from : {0, 1}) {
    world.actors[static_cast<size_t>(from)].on_start = [&world, from, bytes, flow] {
      world.Send(from, from + 2, 1, bytes, 0, flow);
    };
  }
  world.Run();
  for (const size_t to : {2, 3}) {
    EXPECT_EQ(world.actors[to].log.size(), 1u);
    last = std::max(last, Time::Ps(std::stoll(world.actors[to].log.at(0))));
  }
  return last;
}

TEST(AnalyticalNetworkTest, MessagesOfTwoHostsShareACableBetweenSwitches) {
  constexpr int64_t kBytes = 4096 * 10;
  Topology spread = TwoLeaves(2);
  spread.fabric.routing = Routing::kSpray;
  const Time alone = LaterOfTwo(spread, kBytes);
  for (const Routing routing : {Routing::kEcmp, Routing::kSpray, Routing::kAdaptive}) {
    Topology topology = TwoLeaves(1);
    topology.fabric.routing = routing;
    EXPECT_EQ(LaterOfTwo(topology, kBytes) - alone, Time::Ps(10 * kPacket))
        << "the other message's bytes";
  }
}

// Three spines at half the rate of a NIC have three quarters of the rate of two NICs.
TEST(AnalyticalNetworkTest, SpreadPacketsShareTheCapacityOfANarrowTier) {
  constexpr int64_t kBytes = 4096 * 600;
  const auto last = [](int spines, int64_t part, Routing routing) {
    Topology topology = TwoLeaves(spines);
    topology.fabric.routing = routing;
    for (FabricLink& link : topology.fabric.links) {
      if (!link.a.is_switch) continue;
      link.rate = Bandwidth::BitsPerSecond(link.rate.bits_per_second() / part);
    }
    return LaterOfTwo(topology, kBytes).us();
  };
  const double whole = last(2, 1, Routing::kSpray);
  EXPECT_NEAR(last(3, 2, Routing::kSpray) / whole, 4.0 / 3, 0.02);
  EXPECT_EQ(last(3, 2, Routing::kAdaptive), last(3, 2, Routing::kSpray));
}

// Returns the first cable behind the leaf that a flow from host `from` to the host two ahead takes.
uint32_t CableOf(const FabricMap& map, uint32_t from, uint32_t flow) {
  const auto source = static_cast<int32_t>(from);
  const uint32_t hash = PathHash(source, 0, source + 2, 0, flow);
  return map.LinksOf(*map.PickAccess(from, 0, from + 2, 0, hash), hash)[1];
}

// Flows of two hosts share one of four spines, or they do not: as in the packet network, whose map
// the test asks.
TEST(AnalyticalNetworkTest, QueuePairsAreHashedOntoEqualPaths) {
  constexpr int64_t kBytes = 4096 * 10;
  const Topology t = TwoLeaves(4);
  const FabricMap map(t);
  Topology spread = t;
  spread.fabric.routing = Routing::kAdaptive;
  const Time alone = LaterOfTwo(spread, kBytes, 0);
  int met = 0;
  for (uint32_t flow = 0; flow < 16; ++flow) {
    const bool meet = CableOf(map, 0, flow) == CableOf(map, 1, flow);
    EXPECT_EQ(LaterOfTwo(t, kBytes, flow) - alone, meet ? Time::Ps(10 * kPacket) : Time()) << flow;
    met += meet ? 1 : 0;
  }
  EXPECT_GT(met, 0);
  EXPECT_LT(met, 16);
}

// Two queue pairs that meet have half of a cable each. Eight queue pairs each take turns, so only
// some of their messages meet.
TEST(AnalyticalNetworkTest, QueuePairsOfAConnectionTakeTurns) {
  const FabricMap map(TwoLeaves(4));
  uint32_t flow = 0;
  while (CableOf(map, 0, flow) != CableOf(map, 1, flow)) ++flow;
  const auto last = [flow](const char* queue_pairs, Routing routing) {
    Topology t = TwoLeaves(4);
    t.nccl_settings = {{"NCCL_IB_QPS_PER_CONNECTION", queue_pairs}};
    t.fabric.routing = routing;
    World world(t);
    Time end;
    for (const int from : {0, 1}) {
      world.actors[static_cast<size_t>(from)].on_start = [&world, from, flow] {
        for (MessageId id = 1; id <= 64; ++id) world.Send(from, from + 2, id, 40960, 0, flow);
      };
    }
    world.Run();
    for (const size_t to : {2, 3}) {
      end = std::max(end, Time::Ps(std::stoll(world.actors[to].log.back())));
    }
    return end.us();
  };
  const double alone = last("1", Routing::kSpray);
  EXPECT_GT(last("1", Routing::kEcmp), 1.9 * alone);
  EXPECT_LT(last("8", Routing::kEcmp), 1.6 * alone);
}

// Two messages whose first queue pairs meet. Divided among eight queue pairs, they fill no cable
// before the NICs are done; over one spine they share its cable, divided or not.
TEST(AnalyticalNetworkTest, MessagesMayBeDividedAmongQueuePairs) {
  constexpr int64_t kBytes = 8 * 40960;
  constexpr int kPackets = 8 * 10;
  const auto waits = [](int spines, const char* split, uint32_t flow) {
    Topology t = TwoLeaves(spines);
    t.nccl_settings = {{"NCCL_IB_QPS_PER_CONNECTION", "8"}, {"NCCL_IB_SPLIT_DATA_ON_QPS", split}};
    Topology spread = TwoLeaves(4);
    spread.fabric.routing = Routing::kSpray;
    return LaterOfTwo(t, kBytes, flow) - LaterOfTwo(spread, kBytes, flow);
  };
  const FabricMap map(TwoLeaves(4));
  const auto fullest = [&map](uint32_t flow) {
    std::map<uint32_t, int> parts;  // by cable
    for (uint32_t pair = 0; pair < 8; ++pair) {
      for (const uint32_t from : {0, 1}) ++parts[CableOf(map, from, FlowOfQueuePair(flow, pair))];
    }
    int most = 0;
    for (const auto& [cable, count] : parts) most = std::max(most, count);
    return most;
  };
  uint32_t flow = 0;
  while (CableOf(map, 0, flow) != CableOf(map, 1, flow) || fullest(flow) > 8) ++flow;
  EXPECT_EQ(waits(4, "0", flow), Time::Ps(kPackets * kPacket));
  EXPECT_EQ(waits(4, "1", flow), Time());
  EXPECT_EQ(waits(1, "1", flow), Time::Ps(kPackets * kPacket));
}

// Separate rails: a NIC reaches only NICs of its own rail.
TEST(AnalyticalNetworkTest, AMessageWithoutAPathEndsTheRun) {
  Topology t = testing::SmallCluster(2, 2);
  t.fabric.switches.push_back({"rail1", 0, Time::Ns(300), Bytes(1 << 24)});
  t.fabric.links[1].b.index = t.fabric.links[3].b.index = 1;
  World world(t);
  world.actors[0].on_start = [&] {
    world.Send(0, 1, 1, 4096, 1);
    world.actors[0].port->At(Time::Us(3), 0);
  };
  world.actors[0].on_timer = [&](TimerId) {
    Message m;
    m.id = 2;
    m.destination = 1;
    m.destination_nic = 1;
    m.size = Bytes(1);
    world.actors[0].port->Send(m);
  };
  const Status status = world.Try();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message(),
            "NIC 0 of host 0 cannot reach NIC 1 of host 1 over the fabric, but has a message for "
            "it at 3 us");
  EXPECT_EQ(world.actors[1].log.size(), 1u) << "the message on the rail arrived earlier";
}

TEST(AnalyticalNetworkTest, RefusesFaults) {
  Topology topology = testing::SmallCluster(2, 1);
  topology.faults.resize(1);
  const auto network = MakeAnalyticalNetwork(topology, {});
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().message(),
            "the cluster has 'faults', which the analytical network does not simulate; use the "
            "packet network");
}

TEST(FabricPathsTest, ShortestPathAddsCablesAndSwitches) {
  Topology t = testing::SmallCluster(2, 1);
  // Host 1 is behind a second switch, over a slower cable.
  t.fabric.switches.push_back({"far", 1, Time::Ns(200), Bytes(1 << 24)});
  t.fabric.links[1].b.index = 1;
  t.fabric.links.push_back(
      {{true, 0, 0}, {true, 1, 0}, Bandwidth::BitsPerSecond(100000000000), Time::Ns(30)});
  FabricPaths paths(t);
  const FabricPath& path = paths.Between(paths.NicNode(0, 0), paths.NicNode(1, 0));
  EXPECT_EQ(path.switches, 2);
  EXPECT_EQ(path.latency, Time::Ns(50 + 300 + 30 + 200 + 50));
  EXPECT_EQ(path.bottleneck, Bandwidth::BitsPerSecond(100000000000));
}

}  // namespace
}  // namespace drydock
