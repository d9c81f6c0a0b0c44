// How the ranks of this rank's host are joined to CollNet.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_COLLNET_RANKS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_COLLNET_RANKS_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace drydock {

struct CollNetNic {
  int nic = -1;
  bool gdr = false;
  int rail = -1;
};

struct CollNetRanks {
  std::vector<CollNetNic> nics;  // by local index
  // Memory that NCCL's proxy would free; must outlive the communicator.
  std::unique_ptr<void, void (*)(void*)> resources{nullptr, free};

  // Returns the NIC of a rank of the host. A part of a split communicator may use what its parent
  // joined: then no NIC is known.
  CollNetNic Of(size_t local) const { return local < nics.size() ? nics[local] : CollNetNic(); }
};

// Returns the ranks of the current session (session.h).
CollNetRanks& CurrentCollNet();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_COLLNET_RANKS_H_
