// Where a group's members sit. Groups that sit alike are one to NCCL: hosts count by first
// appearance, so that only their kinds and the order of GPUs tell groups apart.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_SEATING_H_
#define DRYDOCK_CORE_MODEL_FABRIC_SEATING_H_

#include <vector>

#include "core/model/topology.h"

namespace drydock {

struct Seat {
  int host = 0;  // of the group's, by first appearance
  int kind = 0;  // Topology::host_kinds
  int gpu = 0;
  friend auto operator<=>(const Seat&, const Seat&) = default;
};
using Seating = std::vector<Seat>;  // by member

std::vector<Placement::Slot> SlotsOf(const std::vector<int>& ranks, const Placement& placement);
Seating SeatingOf(const std::vector<int>& ranks, const Topology& topology,
                  const Placement& placement);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_SEATING_H_
