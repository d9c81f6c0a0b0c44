#ifndef DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_SHARES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_SHARES_H_

#include "ns3-backend/model/simulator/partition.h"

#include <cstdint>
#include <vector>

namespace ns3::rdma
{

/// How partitions are dealt out to processes, and those of a process to its threads. Never changes
/// a result.
enum Assignment
{
    NEIGHBOURS, //!< of each layer a contiguous share: those next to each other talk to one another
    IN_TURNS,   //!< one after another
    BY_LAYER,   //!< whole layers
};

/**
 * Who of \p parts gets which partition: by layer, in the order of \p layers. Layers may be empty.
 */
std::vector<std::vector<uint32_t>> DealOut(const std::vector<std::vector<Partition*>>& layers,
                                           uint32_t parts,
                                           Assignment assignment);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_SIMULATOR_PARTITION_SHARES_H_
