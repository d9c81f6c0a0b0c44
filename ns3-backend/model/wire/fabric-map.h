#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_FABRIC_MAP_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_FABRIC_MAP_H_

#include "core/model/fabric/fabric_map.h"

namespace ns3::rdma
{

using drydock::FabricDirection;
using drydock::FabricMap;

/// Whether frames may get lost: switches drop them, or faults lose them.
bool LosesFrames(const drydock::Topology& topology);

/// What the packet network cannot simulate, each with the place in the topology.
drydock::Status ValidateFabric(const drydock::Topology& topology);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_FABRIC_MAP_H_
