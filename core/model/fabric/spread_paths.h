// The paths of packets that spread over equally short paths (routing: adaptive, spray): each switch
// divides a flow equally among its ports. The fluid and the analytical network share it.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_SPREAD_PATHS_H_
#define DRYDOCK_CORE_MODEL_FABRIC_SPREAD_PATHS_H_

#include <cstdint>
#include <vector>

#include "core/model/fabric/fabric_map.h"
#include "core/model/topology.h"

namespace drydock {

// Whether packets of one flow spread over equal paths.
bool Spreads(const Topology& topology);

struct LinkShare {
  uint32_t link = 0;
  int64_t share = 0;  // of the flow, in units that the caller chooses
};

// Returns the links of a flow of `whole` units and its share on each, from the first link to the
// last. A part that reaches a switch without a path is lost. Empty if all parts are.
std::vector<LinkShare> SpreadShares(const FabricMap& map, FabricMap::AccessPair ends,
                                    int64_t whole);

// Returns, by link, whether equally spread flows can fill a link between two switches. They cannot
// where a switch has as much capacity above as the NICs have below: NICs limit what enters the
// links above, and what leaves them downwards. Links of other fabrics than trees count as narrow.
std::vector<bool> NarrowLinks(const FabricMap& map);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_SPREAD_PATHS_H_
