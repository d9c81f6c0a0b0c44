// Resolves links between ranks on behalf of ranks that are absent.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SOLO_LINKS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SOLO_LINKS_H_

#include "core/nccl/hacknccl.h"
#include "nccl.h"
#include "simccl/hacknccl/cluster/layout.h"

struct ncclComm;

namespace drydock {

// Finds which NICs, proxy and transport the directed connection from -> to uses on a channel.
// `graph` is one of HACKNCCL_GRAPH_*. `from_comm` and `to_comm` are communicators on the models of
// the two ranks' kinds.
ncclResult_t ResolveLink(const Layout& layout, ncclComm* from_comm, ncclComm* to_comm, int graph,
                         int channel, int from, int to, hacknccl_link* link);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SOLO_LINKS_H_
