// What a real NCCL communicator holds, in the terms of core/nccl/hacknccl.h.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_DESCRIBE_H_
#define DRYDOCK_SIMCCL_HACKNCCL_DESCRIBE_H_

#include "comm.h"
#include "core/nccl/hacknccl.h"
#include "simccl/hacknccl/session.h"

namespace drydock {

hacknccl_shape Described(const ncclComm& comm);
// "" if a communicator of this shape has the channel of this graph (HACKNCCL_GRAPH_*), else why
// not.
std::string MissingChannel(const hacknccl_shape& shape, int graph, int channel);
hacknccl_tree Described(const ncclTree& tree);
hacknccl_nvls Described(const ncclNvls& nvls);
// The chain only; NCCL connects the heads later.
hacknccl_collnet DescribedCollNet(const ncclComm& comm, const ncclChannel& channel);

// Points into `plan`.
hacknccl_plan Published(const CapturedPlan& plan);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_DESCRIBE_H_
