#ifndef DRYDOCK_NS3_BACKEND_CONNECTION_SHAPE_H
#define DRYDOCK_NS3_BACKEND_CONNECTION_SHAPE_H

#include "core/base/result.h"
#include "core/model/topology.h"

#include <cstdint>

namespace ns3::rdma
{

/// What NCCL's settings make of a connection: NCCL_IB_QPS_PER_CONNECTION,
/// NCCL_IB_SPLIT_DATA_ON_QPS.
struct ConnectionShape
{
    uint32_t queuePairs = 1;
    bool splitData = false;
};

/// An error if a value is none that NCCL can work with.
drydock::Result<ConnectionShape> ConnectionShapeOf(const drydock::Topology& topology);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_CONNECTION_SHAPE_H
