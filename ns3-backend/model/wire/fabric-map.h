#ifndef DRYDOCK_NS3_BACKEND_MODEL_WIRE_FABRIC_MAP_H_
#define DRYDOCK_NS3_BACKEND_MODEL_WIRE_FABRIC_MAP_H_

#include "core/model/fabric/fabric_map.h"

namespace ns3::rdma
{

using drydock::FabricDirection;
using drydock::FabricMap;

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_WIRE_FABRIC_MAP_H_
