// What the ranks of a communicator tell each other while it is split.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_SPLIT_EXCHANGE_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_SPLIT_EXCHANGE_H_

#include <vector>

#include "simccl/hacknccl/cluster/layout.h"

namespace drydock {

struct SplitExchange {
  const void* over = nullptr;  // the parent's bootstrap; null: no split is under way
  const std::vector<SplitRequest>* requests = nullptr;  // by rank of the parent
};

// Returns the exchange of the current session (session.h).
const SplitExchange& CurrentSplit();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_SPLIT_EXCHANGE_H_
