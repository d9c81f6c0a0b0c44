// The links of a fabric as the fluid network has them: what they can carry, and what they did.
#ifndef DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_LINKS_H_
#define DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_LINKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/fabric/fabric_map.h"
#include "core/model/link_total.h"

namespace drydock {

// Bits per second. What has no limit, as the way into a switch that reduces, has one that no flow
// comes near.
int64_t FluidCapacity(Bandwidth rate);
// By link.
std::vector<int64_t> FluidCapacities(const FabricMap& map);

// The `most` links that carried something for the longest time, the longest first; `bits` by link,
// headers and acknowledgements included.
std::vector<LinkTotal> FluidLinkTotals(const FabricMap& map, std::span<const int64_t> bits,
                                       size_t most);

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_NETWORKS_FLUID_FLUID_LINKS_H_
