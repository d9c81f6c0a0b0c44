#include "core/model/fabric/placement_pattern.h"

#include <map>

namespace drydock {

std::vector<Placement::Slot> SlotsOf(const std::vector<int>& ranks, const Placement& placement) {
  std::vector<Placement::Slot> slots;
  slots.reserve(ranks.size());
  for (const int rank : ranks) slots.push_back(placement.of(rank));
  return slots;
}

PlacementPattern PlacementPatternOf(const std::vector<int>& ranks, const Topology& topology,
                                    const Placement& placement) {
  PlacementPattern pattern;
  pattern.reserve(ranks.size());
  std::map<int, int> seen;
  for (const int rank : ranks) {
    const Placement::Slot& slot = placement.of(rank);
    const int host = seen.emplace(slot.host, static_cast<int>(seen.size())).first->second;
    pattern.push_back({host, topology.hosts[static_cast<size_t>(slot.host)], slot.gpu});
  }
  return pattern;
}

}  // namespace drydock
