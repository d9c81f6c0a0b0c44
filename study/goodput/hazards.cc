#include "study/goodput/hazards.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "study/goodput/time_units.h"

namespace drydock {
namespace {

// Parts by the hosts that they take out of service.
using CountByHosts = std::map<int, int64_t>;

CountByHosts CablesOf(const Fabric& fabric) {
  CountByHosts out;
  for (const FabricLink& link : fabric.links) ++out[link.a.is_switch && link.b.is_switch ? 0 : 1];
  return out;
}

CountByHosts SwitchesOf(const Fabric& fabric) {
  std::vector<std::set<int>> hosts(fabric.switches.size());
  for (const FabricLink& link : fabric.links) {
    if (link.a.is_switch == link.b.is_switch) continue;
    const LinkEnd& at = link.a.is_switch ? link.a : link.b;
    const LinkEnd& nic = link.a.is_switch ? link.b : link.a;
    hosts[static_cast<size_t>(at.index)].insert(nic.index);
  }
  CountByHosts out;
  for (const std::set<int>& each : hosts) ++out[static_cast<int>(each.size())];
  return out;
}

CountByHosts PartsOf(FailingPart part, const Topology& topology) {
  const int64_t hosts = topology.host_count();
  switch (part) {
    case FailingPart::kGpu:
    case FailingPart::kHbm:
      return {{1, topology.gpu_count()}};
    case FailingPart::kNic: {
      int64_t nics = 0;
      for (int host = 0; host < topology.host_count(); ++host) {
        nics += topology.kind_of_host(host).nics.count;
      }
      return {{1, nics}};
    }
    case FailingPart::kSwitch:
      return SwitchesOf(topology.fabric);
    case FailingPart::kCable:
      return CablesOf(topology.fabric);
    case FailingPart::kHost:
      return {{1, hosts}};
    case FailingPart::kSoftware:
      return {{0, hosts}};
  }
  return {};
}

}  // namespace

std::vector<Hazard> HazardsOf(const Topology& topology, const FailureModel& model) {
  std::vector<Hazard> hazards;
  for (size_t i = 0; i < kFailingParts; ++i) {
    const auto part = static_cast<FailingPart>(i);
    const double each = model.of(part).per_year.value.value_or(0) / kSecondsOfYear;
    for (const auto& [hosts, count] : PartsOf(part, topology)) {
      if (count == 0) continue;
      hazards.push_back({part, hosts, count, each * static_cast<double>(count)});
    }
  }
  return hazards;
}

double SumOf(const std::vector<Hazard>& hazards) {
  double sum = 0;
  for (const Hazard& hazard : hazards) sum += hazard.per_second;
  return sum;
}

}  // namespace drydock
