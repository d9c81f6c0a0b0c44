#ifndef DRYDOCK_NS3_BACKEND_HELPER_CONGESTION_TABLE_H_
#define DRYDOCK_NS3_BACKEND_HELPER_CONGESTION_TABLE_H_

#include "core/model/topology.h"
#include "ns3-backend/model/congestion/congestion-control.h"

namespace ns3::rdma
{

/// Returns the algorithm with its default attributes, or null for `kNone`.
Ptr<CongestionControl> MakeCongestionControl(drydock::CongestionControl control);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_HELPER_CONGESTION_TABLE_H_
