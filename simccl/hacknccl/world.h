// From the cluster as the caller describes it to the session's host classes.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_WORLD_H_
#define DRYDOCK_SIMCCL_HACKNCCL_WORLD_H_

#include <string>
#include <vector>

#include "simccl/hacknccl/session.h"

namespace drydock {

// Copies the host classes and fixes NCCL's settings. "" or the reason of the failure.
std::string OpenWorld(const hacknccl_host_class* classes, size_t class_count,
                      const hacknccl_setting* settings, size_t setting_count,
                      std::vector<HostClass>* out);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_WORLD_H_
