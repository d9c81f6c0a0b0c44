// comm->bootstrap: how a rank reaches the others of its communicator.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_PEERS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_PEERS_H_

#include <cstdint>

#include "nccl.h"

struct ncclComm;

namespace drydock {

class Peers {
 public:
  virtual ~Peers() = default;
  // comm->bootstrap becomes what a part of `parent`, whose peers these are, needs: `members` are
  // its ranks in the parent, in order.
  virtual ncclResult_t Split(uint64_t hash, ncclComm* comm, ncclComm* parent,
                             const int* members) = 0;
  // `data` is one record of `bytes` bytes a rank; one's own is there, the others' are filled in.
  virtual ncclResult_t AllGather(void* data, int bytes) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_PEERS_H_
