// Builds an idle fabric of 4096 hosts and three tiers of switches, to measure its memory.
//
//   idle_fabric NICS
//
// Each host has NICS NICs, each on its own rail. A rail has 16 pods, each of 8 leaves (32 hosts
// each) and 8 switches above them, and 64 switches at the top. The program builds the fabric, runs
// the simulation, which ends at once, and destroys the fabric. The caller measures the memory.
#include <cstdlib>
#include <vector>

#include "core/base/check.h"
#include "ns3-backend/packet_network.h"
#include "ns3-backend/test/fabrics_testing.h"

namespace drydock {
namespace {

constexpr int kPods = 16, kLeaves = 8, kHostsOfLeaf = 32, kUppers = 8, kOfUpper = 8;
constexpr int kHosts = kPods * kLeaves * kHostsOfLeaf;

void AddRail(Topology& topology, int rail, const FabricShape& shape) {
  std::vector<LinkEnd> tops;
  for (int i = 0; i < kUppers * kOfUpper; ++i) tops.push_back(AddSwitch(topology, 2, shape));
  for (int pod = 0; pod < kPods; ++pod) {
    std::vector<LinkEnd> uppers;
    for (int i = 0; i < kUppers; ++i) {
      uppers.push_back(AddSwitch(topology, 1, shape));
      for (int j = 0; j < kOfUpper; ++j) {
        Cable(topology, uppers.back(), tops[static_cast<size_t>(i * kOfUpper + j)], shape);
      }
    }
    for (int leaf = 0; leaf < kLeaves; ++leaf) {
      const LinkEnd end = AddSwitch(topology, 0, shape);
      for (const LinkEnd& upper : uppers) Cable(topology, end, upper, shape);
      for (int host = 0; host < kHostsOfLeaf; ++host) {
        Cable(topology, NicOf((pod * kLeaves + leaf) * kHostsOfLeaf + host, rail), end, shape);
      }
    }
  }
}

class Idler : public HostActor {
 public:
  void Start() override {}
  void OnTimer(TimerId) override {}
  void OnSent(const Message&) override {}
  void OnDelivered(const Message&) override {}
};

int Run(int nics) {
  FabricShape shape;
  shape.transport.flow_control = FlowControl::kPfc;
  shape.transport.congestion_control = CongestionControl::kDcqcn;
  Topology topology = Hosts(kHosts, nics, shape);
  for (int rail = 0; rail < nics; ++rail) AddRail(topology, rail, shape);
  auto network = MakePacketNetwork(topology, {});
  CHECK_NOTE(network.ok(), network.error().message());
  Idler idler;
  const std::vector<HostActor*> actors(kHosts, &idler);
  return network.value()->Run(actors).ok() ? 0 : 1;
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) { return drydock::Run(argc > 1 ? std::atoi(argv[1]) : 1); }
