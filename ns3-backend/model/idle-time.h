#ifndef DRYDOCK_NS3_BACKEND_IDLE_TIME_H
#define DRYDOCK_NS3_BACKEND_IDLE_TIME_H

#include "ns3-backend/model/fabric-map.h"

#include <cstdint>
#include <span>

namespace ns3::rdma
{

/// What one queue pair carries of a message: full frames, then one with the rest. Bytes on the
/// wire.
struct PartOnWire
{
    FabricMap::AccessPair ends; //!< of the unbroken map
    uint32_t path;
    int64_t nFull;
    int64_t full;
    int64_t last;
};

/**
 * \brief How long a message takes where nothing else is about and nothing is broken: from first bit
 * out to last bit in, ps.
 *
 * Of one part, exactly. Parts that share links wait for each other there: of several, the most that
 * is certain. None is sooner than it would be alone; a link that some of them share is done with
 * all of their frames no sooner than the first can begin there, and the last has the rest of a way
 * to go.
 */
int64_t MeasureIdle(const FabricMap& map, std::span<const PartOnWire> parts);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_IDLE_TIME_H
