// The capacities of links in the fluid network, and the totals that it reports for them.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_LINKS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/fabric/fabric_map.h"
#include "core/model/link_total.h"

namespace drydock {

// Returns the capacity of a link, bits per second. A link without a limit, such as the link into a
// switch that reduces, gets a capacity that no flow reaches.
int64_t FluidCapacity(Bandwidth rate);
// Returns the capacity of each link.
std::vector<int64_t> FluidCapacities(const FabricMap& map);

// Returns the `max` links that were busy for the longest time, the longest first. `bits`, by link,
// include headers and acknowledgements.
std::vector<LinkTotal> FluidLinkTotals(const FabricMap& map, std::span<const int64_t> bits,
                                       size_t max);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_LINKS_H_
