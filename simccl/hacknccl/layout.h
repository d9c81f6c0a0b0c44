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

// Requires CheckPlaces() == "".
Layout MakeLayout(const std::vector<hacknccl_place>& places);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_LAYOUT_H_
