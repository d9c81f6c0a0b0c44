#ifndef DRYDOCK_NS3_BACKEND_HELPER_FABRIC_CHECK_H_
#define DRYDOCK_NS3_BACKEND_HELPER_FABRIC_CHECK_H_

#include "core/base/result.h"
#include "core/model/topology.h"

namespace ns3::rdma
{

/// Whether frames may be lost, to switches that drop them or to faults.
bool LosesFrames(const drydock::Topology& topology);

/// Returns an error if the packet network cannot simulate \p topology. The error says where in the
/// topology.
drydock::Status ValidateFabric(const drydock::Topology& topology);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_HELPER_FABRIC_CHECK_H_
