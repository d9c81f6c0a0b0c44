// Copies the cluster that the caller describes.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_WORLD_H_
#define DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_WORLD_H_

#include <string>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "simccl/hacknccl/cluster/host_class.h"

namespace drydock {

// Copies the host classes and fixes NCCL's settings. Returns "" or the reason of the failure.
std::string OpenWorld(const hacknccl_host_class* classes, size_t class_count,
                      const hacknccl_setting* settings, size_t setting_count,
                      std::vector<HostClass>* out);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_CLUSTER_WORLD_H_
