// The NICs of the session's host, as NCCL's network and collective network both list them.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_NET_H_
#define DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_NET_H_

#include "net.h"

namespace drydock {

ncclResult_t NicCount(int* count);
ncclResult_t NicProperties(int nic, ncclNetProperties_t* properties);

// CollNet as InfiniBand SHARP offers it; nullptr where the host has none.
ncclCollNet_t* CollNetOfHost();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_NET_H_
