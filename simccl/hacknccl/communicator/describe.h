// Describes a real NCCL communicator in the terms of core/nccl/hacknccl.h.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_DESCRIBE_H_
#define DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_DESCRIBE_H_

#include <string>

#include "comm.h"
#include "core/nccl/hacknccl.h"

namespace drydock {

hacknccl_shape Described(const ncclComm& comm);
// Returns "" if a communicator of this shape has the channel of this graph (HACKNCCL_GRAPH_*), else
// the reason. NCCL itself does not check: it divides by the number of channels.
std::string MissingChannel(const hacknccl_shape& shape, int graph, int channel);
hacknccl_tree Described(const ncclTree& tree);
hacknccl_nvls Described(const ncclNvls& nvls);
// Describes only the chain; NCCL connects the heads later.
hacknccl_collnet DescribedCollNet(const ncclComm& comm, const ncclChannel& channel);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_DESCRIBE_H_
