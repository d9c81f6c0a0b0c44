// From a list of places to hosts and kinds of hosts.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_LAYOUT_H_
#define DRYDOCK_SIMCCL_HACKNCCL_LAYOUT_H_

#include <string>
#include <vector>

#include "session.h"

namespace drydock {

// "" if the places can form a communicator, else what is wrong with them.
std::string CheckPlaces(const std::vector<HostClass>& classes,
                        const std::vector<hacknccl_place>& places);

// Requires CheckPlaces() == "". The trays of a rack are one host where NCCL uses multi-node NVLink:
// if all ranks are in racks and the settings do not forbid it; else each is a host of its own.
Layout MakeLayout(const std::vector<HostClass>& classes, const std::vector<hacknccl_place>& places);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LAYOUT_H_
