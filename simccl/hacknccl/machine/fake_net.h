// The NICs of the current rank's host, as NCCL's network and collective network list them.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_NET_H_
#define DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_NET_H_

#include "net.h"

namespace drydock {

ncclResult_t NicCount(int* count);
ncclResult_t NicProperties(int nic, ncclNetProperties_t* properties);

// Returns CollNet as InfiniBand SHARP offers it, or null if the host has none.
ncclCollNet_t* CollNetOfHost();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_NET_H_
