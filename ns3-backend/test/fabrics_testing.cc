#include "ns3-backend/test/fabrics_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "core/base/check.h"
#include "core/containers/hash.h"
#include "ns3-backend/packet_network.h"

namespace drydock {

FabricShape HpccPaperShape(const std::string& control) {
  const std::vector<std::string>& names = CongestionControlNames();
  const auto found = std::find(names.begin(), names.end(), control);
  CHECK_NOTE(found != names.end(), control);
  FabricShape shape;
  shape.rate = Bandwidth::BitsPerSecond(100'000'000'000);
  shape.delay = Time::Us(1);
  shape.transport.mtu = Bytes(1000);
  shape.transport.header = Bytes(48);
  shape.transport.ack = Bytes(60);
  shape.transport.packets_per_ack = 1;
  shape.transport.flow_control = FlowControl::kPfc;
  shape.transport.congestion_control = static_cast<CongestionControl>(found - names.begin());
  return shape;
}

Topology Hosts(int count, int nics, const FabricShape& shape) {
  Topology topology;
  HostKind kind;
  kind.gpus = 1;
  kind.nics.count = nics;
  kind.nics.rate = shape.rate;
  kind.nics.latency = shape.nic_latency;
  topology.host_kinds.push_back(kind);
  topology.hosts.assign(static_cast<size_t>(count), 0);
  topology.transport = shape.transport;
  return topology;
}

LinkEnd AddSwitch(Topology& topology, int tier, const FabricShape& shape) {
  const auto index = static_cast<int>(topology.fabric.switches.size());
  topology.fabric.switches.push_back(
      {fmt::format("switch{}", index), tier, shape.switch_latency, Bytes(64 << 20)});
  return {true, index, 0};
}

LinkEnd NicOf(int host, int nic) { return {false, host, nic}; }

void Cable(Topology& topology, LinkEnd a, LinkEnd b, const FabricShape& shape) {
  topology.fabric.links.push_back({a, b, shape.rate, shape.delay});
}

Topology TwoHosts(const FabricShape& shape) {
  Topology topology = Hosts(2, 1, shape);
  Cable(topology, NicOf(0, 0), NicOf(1, 0), shape);
  return topology;
}

Topology Chain(int switches, const FabricShape& shape) {
  Topology topology = Hosts(2, 1, shape);
  LinkEnd last = NicOf(0, 0);
  for (int i = 0; i < switches; ++i) {
    const LinkEnd next = AddSwitch(topology, 0, shape);
    Cable(topology, last, next, shape);
    last = next;
  }
  Cable(topology, last, NicOf(1, 0), shape);
  return topology;
}

Topology Star(int hosts, const FabricShape& shape) {
  Topology topology = Hosts(hosts, 1, shape);
  const LinkEnd hub = AddSwitch(topology, 0, shape);
  for (int host = 0; host < hosts; ++host) Cable(topology, NicOf(host, 0), hub, shape);
  return topology;
}

Topology FatTree(int k, const FabricShape& shape) {
  const int half = k / 2;
  Topology topology = Hosts(k * half * half, 1, shape);
  std::vector<LinkEnd> cores;
  for (int i = 0; i < half * half; ++i) cores.push_back(AddSwitch(topology, 2, shape));
  for (int pod = 0; pod < k; ++pod) {
    std::vector<LinkEnd> aggregations;
    for (int i = 0; i < half; ++i) aggregations.push_back(AddSwitch(topology, 1, shape));
    for (int e = 0; e < half; ++e) {
      const LinkEnd edge = AddSwitch(topology, 0, shape);
      for (int h = 0; h < half; ++h) {
        Cable(topology, NicOf((pod * half + e) * half + h, 0), edge, shape);
      }
      for (const LinkEnd& aggregation : aggregations) Cable(topology, edge, aggregation, shape);
    }
    for (int i = 0; i < half * half; ++i) {
      Cable(topology, aggregations[static_cast<size_t>(i / half)], cores[static_cast<size_t>(i)],
            shape);
    }
  }
  return topology;
}

Topology RailFabric(int hosts, int rails, int hosts_per_leaf, int spines,
                    const FabricShape& shape) {
  Topology topology = Hosts(hosts, rails, shape);
  std::vector<LinkEnd> upper;
  for (int i = 0; i < spines; ++i) upper.push_back(AddSwitch(topology, 1, shape));
  for (int first = 0; first < hosts; first += hosts_per_leaf) {
    for (int rail = 0; rail < rails; ++rail) {
      const LinkEnd leaf = AddSwitch(topology, 0, shape);
      for (int host = first; host < std::min(hosts, first + hosts_per_leaf); ++host) {
        Cable(topology, NicOf(host, rail), leaf, shape);
      }
      for (const LinkEnd& spine : upper) Cable(topology, leaf, spine, shape);
    }
  }
  return topology;
}

Topology RandomFabric(uint64_t seed, const FabricShape& shape) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  Topology topology = Hosts(2 + below(10), 1 + below(3), shape);
  const int nics = topology.host_kinds[0].nics.count;
  const int switches = 1 + below(8);
  std::vector<LinkEnd> ends;
  for (int i = 0; i < switches; ++i) ends.push_back(AddSwitch(topology, below(3), shape));
  const auto some = [&](int n) { return ends[static_cast<size_t>(below(n))]; };
  for (int i = 1; i < switches; ++i) {
    Cable(topology, some(i), ends[static_cast<size_t>(i)], shape);
  }
  for (int i = below(2 * switches); i > 0; --i) {
    const LinkEnd a = some(switches), b = some(switches);
    if (a.index != b.index) Cable(topology, a, b, shape);
  }
  for (int host = 0; host < topology.host_count(); ++host) {
    for (int nic = 0; nic < nics; ++nic) {
      Cable(topology, NicOf(host, nic), some(switches), shape);
      if (below(4) == 0) Cable(topology, NicOf(host, nic), some(switches), shape);
    }
  }
  const int64_t rates[] = {100, 200, 400, 75,
                           33};  // Gbps; at 33 a byte does not take a whole number of ps
  for (FabricLink& link : topology.fabric.links) {
    link.rate = Bandwidth::BitsPerSecond(rates[below(5)] * 1'000'000'000);
    link.delay = Time::Ns(100 + below(900));
  }
  return topology;
}

void ScriptedHost::Start() {
  for (size_t i = 0; i < orders.size(); ++i) port_->At(orders[i].at, i);
}

void ScriptedHost::OnTimer(TimerId id) {
  Note(Notice::kTimer, host_, id);
  port_->Send(orders[id].message);
}

void ScriptedHost::OnSent(const Message& message) {
  CHECK(message.source == host_);
  Note(Notice::kSent, message.source, message.id);
}

void ScriptedHost::OnDelivered(const Message& message) {
  CHECK(message.destination == host_);
  Note(Notice::kDelivered, message.source, message.id);
}

void ScriptedHost::Note(Notice::Kind kind, HostId source, uint64_t id) {
  notices.push_back({kind, port_->Now(), host_, source, id});
}

int64_t Outcome::Counter(const std::string& name) const {
  for (const auto& [key, value] : counters) {
    if (key == name) return value;
  }
  CHECK_NOTE(false, name);
}

int64_t Outcome::TimeOf(Notice::Kind kind, HostId source, uint64_t id) const {
  for (const auto& host : notices) {
    for (const Notice& notice : host) {
      if (notice.kind == kind && notice.source == source && notice.id == id) {
        return notice.time.ps();
      }
    }
  }
  return -1;
}

uint64_t Outcome::Hash() const {
  uint64_t hash = 0;
  const auto add = [&](uint64_t value) { hash = HashCombine(hash, value); };
  for (const auto& host : notices) {
    for (const Notice& notice : host) {
      add(static_cast<uint64_t>(notice.kind));
      add(static_cast<uint64_t>(notice.time.ps()));
      add(static_cast<uint64_t>(notice.host));
      add(static_cast<uint64_t>(notice.source));
      add(notice.id);
    }
  }
  return hash;
}

Status RunOrders(const Topology& topology, Network* network, std::vector<Order> orders,
                 std::vector<std::vector<Notice>>* notices) {
  std::vector<ScriptedHost> hosts;
  for (HostId id = 0; id < topology.host_count(); ++id) {
    hosts.emplace_back(id);
    hosts.back().SetPort(network->port(id));
  }
  for (size_t i = 0; i < orders.size(); ++i) {
    orders[i].message.id = i;
    hosts[static_cast<size_t>(orders[i].message.source)].orders.push_back(orders[i]);
  }
  std::vector<HostActor*> actors;
  for (ScriptedHost& host : hosts) actors.push_back(&host);
  const Status status = network->Run(actors);
  if (notices == nullptr) return status;
  for (ScriptedHost& host : hosts) notices->push_back(std::move(host.notices));
  return status;
}

Outcome RunPackets(const Topology& topology, std::vector<Order> orders, int threads) {
  const auto network = MakePacketNetwork(topology, {.threads = threads});
  Outcome outcome;
  const Status status = RunOrders(topology, network->get(), std::move(orders), &outcome.notices);
  CHECK_NOTE(status.ok(), status.ok() ? "" : status.error().message());
  outcome.counters = network.value()->Counters();
  return outcome;
}

Order Transfer(HostId from, HostId to, int64_t bytes, Time at, uint32_t flow) {
  Message message;
  message.source = from;
  message.destination = to;
  message.size = Bytes(bytes);
  message.flow = flow;
  return {at, message};
}

}  // namespace drydock
