// comm->bootstrap: how a rank reaches the other ranks of its communicator.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_PEERS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_PEERS_H_

#include <cstdint>

#include "nccl.h"

struct ncclComm;

namespace drydock {

class Peers {
 public:
  virtual ~Peers() = default;
  // Sets comm->bootstrap for `comm`, a part of `parent` whose peers these are. `members` are the
  // part's ranks in the parent, in order.
  virtual ncclResult_t Split(uint64_t hash, ncclComm* comm, ncclComm* parent,
                             const int* members) = 0;
  // `data` is one record of `bytes` bytes per rank. The caller fills in its own record; the call
  // fills in the others.
  virtual ncclResult_t AllGather(void* data, int bytes) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_COMMUNICATOR_PEERS_H_
