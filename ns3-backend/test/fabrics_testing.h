// Fabrics and traffic for the tests and benchmarks of the packet network.
#ifndef DRYDOCK_NS3_BACKEND_TEST_FABRICS_TESTING_H_
#define DRYDOCK_NS3_BACKEND_TEST_FABRICS_TESTING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/topology.h"
#include "core/network/network.h"

namespace drydock {

// The defaults of the fabrics below.
struct FabricShape {
  Bandwidth rate = Bandwidth::BitsPerSecond(400'000'000'000);
  Time delay = Time::Ns(500);
  Time switch_latency;
  Time nic_latency;
  Transport transport;
};

// As in the simulations of HPCC (Li et al., SIGCOMM 2019, 5.1): 100 Gb/s, 1 us a cable, packets of
// 1000 B with an acknowledgement each, PFC.
// REQUIRES: `control` names a congestion control.
FabricShape HpccPaperShape(const std::string& control);

Topology Hosts(int count, int nics, const FabricShape& shape);
// Adds a switch and returns its end; Cable adds a link between two ends.
LinkEnd AddSwitch(Topology& topology, int tier, const FabricShape& shape);
LinkEnd NicOf(int host, int nic);
void Cable(Topology& topology, LinkEnd a, LinkEnd b, const FabricShape& shape);

Topology TwoHosts(const FabricShape& shape);             // one cable, no switch
Topology Chain(int switches, const FabricShape& shape);  // host - switches - host
Topology Star(int hosts, const FabricShape& shape);      // one switch
Topology FatTree(int k, const FabricShape& shape);       // k^3/4 hosts of one NIC
// `rails` NICs per host; one leaf connects rail r of `hosts_per_leaf` hosts; every spine connects
// all leaves.
Topology RailFabric(int hosts, int rails, int hosts_per_leaf, int spines, const FabricShape& shape);
// A connected random graph of switches, with hosts at random switches.
Topology RandomFabric(uint64_t seed, const FabricShape& shape);

// A transfer to be sent at a given time.
struct Order {
  Time at;
  Message message;
};

// A callback of an actor.
struct Notice {
  enum Kind { kTimer, kDelivered, kSent } kind;
  Time time;
  HostId host;  // of the actor
  HostId source;
  uint64_t id;
  bool operator==(const Notice&) const = default;
};

// Sends its orders and records its callbacks.
class ScriptedHost : public HostActor {
 public:
  explicit ScriptedHost(HostId host) : host_(host) {}
  void SetPort(HostPort* port) { port_ = port; }
  void Start() override;
  void OnTimer(TimerId id) override;
  void OnSent(const Message& message) override;
  void OnDelivered(const Message& message) override;

  std::vector<Order> orders;
  std::vector<Notice> notices;

 private:
  void Note(Notice::Kind kind, HostId source, uint64_t id);
  HostId host_;
  HostPort* port_ = nullptr;
};

struct Outcome {
  std::vector<std::vector<Notice>> notices;  // by host, in order
  std::vector<std::pair<std::string, int64_t>> counters;

  int64_t Counter(const std::string& name) const;
  // Returns when message `id` of `source` was delivered or sent; -1 if never.
  int64_t TimeOf(Notice::Kind kind, HostId source, uint64_t id) const;
  // Returns a hash of every notice of every host, in order.
  uint64_t Hash() const;
};

// Runs a network whose hosts send their orders. Sets the id of each order to its index. Fills
// `notices`, if not null, for each host, even if the run fails.
Status RunOrders(const Topology& topology, Network* network, std::vector<Order> orders,
                 std::vector<std::vector<Notice>>* notices = nullptr);
// Makes and runs the packet network; fails the test on an error.
Outcome RunPackets(const Topology& topology, std::vector<Order> orders, int threads = 1);

// Returns an order from host to host over NIC 0.
Order Transfer(HostId from, HostId to, int64_t bytes, Time at = Time(), uint32_t flow = 0);

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_TEST_FABRICS_TESTING_H_
