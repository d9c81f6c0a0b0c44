#include "exec-engine/transfer/link_shares.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace drydock {
namespace {

bool SharesLinks(const LocalPlan& plan, const LocalConnection& c) {
  if (plan.works[c.work].pass_bytes > 0 || c.path.out == kNoPort) return false;
  return c.remote_host < 0 || c.gpu_dma != kNoPort;  // otherwise staged in this host's memory
}

template <typename Visit>
void ForEachPort(const PortPath& path, const Visit& visit) {
  visit(path.out);
  for (const PortId port : path.between) {
    if (port != kNoPort) visit(port);
  }
  if (path.in != kNoPort) visit(path.in);
}

// The share of a connection's slices in the slices of the program that moves them, which is the
// receiver's or the sender's.
double PartOf(const LocalPlan& plan, const LocalConnection& c, bool receives) {
  const uint32_t runner = receives ? c.receiver : c.sender;
  if (runner == kElsewhere || plan.runners[runner].slices == 0) return 0;
  return static_cast<double>(receives ? c.received : c.sent) /
         static_cast<double>(plan.runners[runner].slices);
}

// Returns true if several GPUs send to one GPU.
bool HasSeveralPeers(const LocalPlan& plan) {
  std::vector<std::pair<PortId, PortId>> paths;
  for (const LocalConnection& c : plan.connections) {
    if (c.link == LinkKind::kNvls || c.path.in == kNoPort || !SharesLinks(plan, c)) continue;
    paths.emplace_back(c.path.in, c.path.out);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return std::adjacent_find(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
           return a.first == b.first;
         }) != paths.end();
}

}  // namespace

void ShareLinks(const PortMap& ports, double several_peers, LocalPlan* plan) {
  // Works run one after another, so each has the ports for itself.
  std::vector<double> loads(ports.count() * plan->works.size());
  const auto load = [&](const LocalConnection& c, PortId port) -> double& {
    return loads[ports.count() * c.work + static_cast<size_t>(port)];
  };
  const auto members = static_cast<double>(plan->members.size());
  for (const LocalConnection& c : plan->connections) {
    if (!SharesLinks(*plan, c)) continue;
    // NVLS: one sum arrives for the contributions of all members, one multicast store leaves for
    // all.
    const PortId once = c.link != LinkKind::kNvls ? kNoPort
                        : c.contribution          ? c.path.in
                                                  : c.path.out;
    const double part = PartOf(*plan, c, c.link == LinkKind::kPeerRead || c.contribution);
    ForEachPort(c.path, [&](PortId p) { load(c, p) += p == once ? part / members : part; });
  }
  const double reachable = HasSeveralPeers(*plan) ? several_peers : 1;
  for (LocalConnection& c : plan->connections) {
    if (!SharesLinks(*plan, c)) continue;
    ForEachPort(c.path, [&](PortId p) {
      c.crossing = std::max(c.crossing, ports.cost(p).Times(std::max(load(c, p), 1.0) / reachable));
    });
  }
}

void ShareNics(const PortMap& ports, LocalPlan* plan) {
  std::vector<double> loads(ports.count() * plan->works.size());
  const auto load = [&](const LocalConnection& c) -> double& {
    return loads[ports.count() * c.work + static_cast<size_t>(c.nic)];
  };
  for (const LocalConnection& c : plan->connections) {
    if (c.nic != kNoPort) load(c) += PartOf(*plan, c, c.sender == kElsewhere);
  }
  for (LocalConnection& c : plan->connections) {
    if (c.nic == kNoPort) continue;
    const double share = std::max(load(c), 1.0);
    c.nic_pace = ports.nic_wire().Times(share);
    c.nic_gap =
        Time::Ps(static_cast<int64_t>(static_cast<double>(ports.nic_message().ps()) * share));
  }
}

}  // namespace drydock
