// Where the members of a group are placed. NCCL cannot tell groups of one placement pattern apart.
// Hosts are numbered by first appearance, so only their kinds and the order of GPUs matter.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_PLACEMENT_PATTERN_H_
#define DRYDOCK_CORE_MODEL_FABRIC_PLACEMENT_PATTERN_H_

#include <vector>

#include "core/model/topology.h"

namespace drydock {

struct MemberPlacement {
  int host = 0;  // of the group's hosts, by first appearance
  int kind = 0;  // Topology::host_kinds
  int gpu = 0;
  friend auto operator<=>(const MemberPlacement&, const MemberPlacement&) = default;
};
using PlacementPattern = std::vector<MemberPlacement>;  // by member

std::vector<Placement::Slot> SlotsOf(const std::vector<int>& ranks, const Placement& placement);
PlacementPattern PlacementPatternOf(const std::vector<int>& ranks, const Topology& topology,
                                    const Placement& placement);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_PLACEMENT_PATTERN_H_
