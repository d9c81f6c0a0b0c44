// Describes the cluster of a Topology to libhacknccl.
#ifndef DRYDOCK_CORE_NCCL_TOPOLOGY_WORLD_H_
#define DRYDOCK_CORE_NCCL_TOPOLOGY_WORLD_H_

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/nccl/nccl_library.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock {

// Loads the library (NcclLibrary::Find(library_path)) and describes every kind of host to it.
Result<NcclWorld> WorldOf(const Topology& topology, const std::string& library_path);

// Returns the places of a communicator's ranks, in rank order.
std::vector<hacknccl_place> PlacesOf(std::span<const Placement::Slot> ranks,
                                     const Topology& topology);

// Checks the cluster's NCCL settings against NCCL's own. The error lists every mistake with its
// place. Returns the settings that have no effect here, each with the reason.
Result<std::vector<std::string>> CheckSettings(const ClusterInput& cluster,
                                               const std::string& library_path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_TOPOLOGY_WORLD_H_
