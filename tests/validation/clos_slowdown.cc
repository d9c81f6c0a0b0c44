// Measures how much longer flows take in a loaded data centre than in an empty one, by size.
//
//   clos_slowdown CONTROL LOAD MILLISECONDS
//
// The fabric and the load of the simulations of HPCC (Li et al., SIGCOMM 2019, 5.1): 320 hosts of
// 100 Gb/s under 20 leaves, 20 switches above those and 16 at the top, joined at 400 Gb/s, 1 us a
// cable, 32 MB a switch, PFC, packets of 1000 B with an acknowledgement each. Flows begin at random
// (Poisson) between random hosts for MILLISECONDS, with sizes as in web search, so that hosts send
// at LOAD times their line rate. Prints for each tenth of the flows by size: the largest size, the
// number of flows, and the minimum, median, 95th and 99th percentile of their slowdown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/network/network_log.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

constexpr int kHosts = 320, kPods = 5, kLeaves = 4, kUppers = 4, kTops = 4, kHostsOfLeaf = 16;
constexpr double kLine = 100e9;

// Sizes of flows of a web search cluster (Alizadeh et al., DCTCP, SIGCOMM 2010, figure 4), as the
// simulations of HPCC sample them: pairs of bytes and the per cent of flows up to that size, linear
// in between.
struct Point {
  double bytes, percent;
};
constexpr Point kWebSearch[] = {{0, 0},     {10e3, 15}, {20e3, 20},  {30e3, 30},
                                {50e3, 40}, {80e3, 53}, {200e3, 60}, {1e6, 70},
                                {2e6, 80},  {5e6, 90},  {10e6, 97},  {30e6, 100}};

double MeanSize() {
  double mean = 0;
  for (size_t i = 1; i < std::size(kWebSearch); ++i) {
    const Point &a = kWebSearch[i - 1], &b = kWebSearch[i];
    mean += (b.percent - a.percent) / 100 * (a.bytes + b.bytes) / 2;
  }
  return mean;
}

int64_t SizeAt(double percent) {
  size_t i = 1;
  while (kWebSearch[i].percent < percent) ++i;
  const Point &a = kWebSearch[i - 1], &b = kWebSearch[i];
  const double share = (percent - a.percent) / (b.percent - a.percent);
  return std::max<int64_t>(1, std::llround(a.bytes + share * (b.bytes - a.bytes)));
}

Topology Clos(const std::string& control) {
  const FabricShape shape = HpccPaperShape(control);
  FabricShape upper = shape;
  upper.rate = Bandwidth::BitsPerSecond(400'000'000'000);
  Topology topology = Hosts(kHosts, 1, shape);
  std::vector<LinkEnd> tops;
  for (int i = 0; i < kUppers * kTops; ++i) tops.push_back(AddSwitch(topology, 2, shape));
  for (int pod = 0; pod < kPods; ++pod) {
    std::vector<LinkEnd> uppers;
    for (int i = 0; i < kUppers; ++i) {
      uppers.push_back(AddSwitch(topology, 1, shape));
      for (int j = 0; j < kTops; ++j) {
        Cable(topology, uppers.back(), tops[static_cast<size_t>(i * kTops + j)], upper);
      }
    }
    for (int leaf = 0; leaf < kLeaves; ++leaf) {
      const LinkEnd end = AddSwitch(topology, 0, shape);
      for (const LinkEnd& each : uppers) Cable(topology, end, each, upper);
      const int first = (pod * kLeaves + leaf) * kHostsOfLeaf;
      for (int h = 0; h < kHostsOfLeaf; ++h) Cable(topology, NicOf(first + h, 0), end, shape);
    }
  }
  for (FabricSwitch& each : topology.fabric.switches) each.buffer = Bytes(32'000'000);
  return topology;
}

// Every congestion control gets the same flows.
std::vector<std::vector<Order>> Load(double load, double seconds) {
  std::mt19937_64 random(1);  // the standard defines its sequence
  const auto uniform = [&random] {
    return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
  };
  const double flows_per_second = kHosts * load * kLine / 8 / MeanSize();
  std::vector<std::vector<Order>> orders(kHosts);
  uint32_t number = 0;
  for (double at = 0;;) {
    at -= std::log(uniform()) / flows_per_second;
    if (at >= seconds) return orders;
    const int from = static_cast<int>(uniform() * kHosts);
    const int to = (from + 1 + static_cast<int>(uniform() * (kHosts - 1))) % kHosts;
    Order order = Transfer(from, to, SizeAt(100 * uniform()),
                           Time::Ps(static_cast<int64_t>(at * 1e12)), number);
    order.message.id = number++;
    orders[static_cast<size_t>(from)].push_back(order);
  }
}

class Sender : public HostActor {
 public:
  Sender(HostPort* port, const std::vector<Order>* orders) : port_(port), orders_(orders) {}
  void Start() override {
    for (size_t i = 0; i < orders_->size(); ++i) port_->At((*orders_)[i].at, i);
  }
  void OnTimer(TimerId id) override { port_->Send((*orders_)[id].message); }
  void OnSent(const Message&) override {}
  void OnDelivered(const Message&) override {}

 private:
  HostPort* port_;
  const std::vector<Order>* orders_;
};

struct Flow {
  int64_t bytes;
  double slowdown;
};

void Print(std::vector<Flow> flows) {
  std::sort(flows.begin(), flows.end(), [](const Flow& a, const Flow& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.slowdown < b.slowdown;
  });
  fmt::print("bytes_up_to,flows,least,p50,p95,p99\n");
  for (size_t tenth = 0; tenth < 10; ++tenth) {
    const size_t begin = flows.size() * tenth / 10, end = flows.size() * (tenth + 1) / 10;
    std::vector<double> slowdowns;
    for (size_t i = begin; i < end; ++i) slowdowns.push_back(flows[i].slowdown);
    std::sort(slowdowns.begin(), slowdowns.end());
    const auto at = [&slowdowns](double share) {
      return slowdowns[static_cast<size_t>(share * static_cast<double>(slowdowns.size() - 1))];
    };
    fmt::print("{},{},{},{:.3f},{:.3f},{:.3f}\n", flows[end - 1].bytes, end - begin,
               slowdowns.front(), at(0.5), at(0.95), at(0.99));
  }
}

int Run(const std::string& control, double load, double milliseconds) {
  const std::vector<std::vector<Order>> orders = Load(load, milliseconds * 1e-3);
  // Only the messages of the log are used, so one sample of the links is enough.
  const auto network =
      MakePacketNetwork(Clos(control), {.threads = 1, .log_interval = Time::Us(1'000'000)});
  if (!network.ok()) {
    fmt::print(stderr, "{}\n", network.error().ToString());
    return 1;
  }
  std::vector<Sender> senders;
  for (HostId host = 0; host < kHosts; ++host) {
    senders.emplace_back(network.value()->port(host), &orders[static_cast<size_t>(host)]);
  }
  std::vector<HostActor*> actors;
  for (Sender& sender : senders) actors.push_back(&sender);
  if (const Status done = network.value()->Run(actors); !done.ok()) {
    fmt::print(stderr, "{}\n", done.error().ToString());
    return 1;
  }
  std::vector<Flow> flows;
  for (const MessageRecord& record : network.value()->Log()->messages) {
    const Time took = record.delivered - record.message.sent;
    flows.push_back({record.message.size.count(),
                     static_cast<double>(took.ps()) / static_cast<double>(record.idle.ps())});
  }
  CHECK_NOTE(flows.size() >= 100, "too few flows for tenths");
  Print(std::move(flows));
  return 0;
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  const double load = argc == 4 ? std::atof(argv[2]) : 0;
  const double milliseconds = argc == 4 ? std::atof(argv[3]) : 0;
  if (!(load > 0 && load < 1) || !(milliseconds > 0)) {
    fmt::print(stderr, "usage: clos_slowdown CONTROL LOAD MILLISECONDS\n");
    return 2;
  }
  return drydock::Run(argv[1], load, milliseconds);
}
