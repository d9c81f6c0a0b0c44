// Describes what NCCL built for a communicator: rings, trees, NVLS heads, and the connections
// between hosts with their NICs. Ranks are those of the cluster.
#ifndef DRYDOCK_SIMCCL_EXPLAIN_COMMUNICATOR_TEXT_H_
#define DRYDOCK_SIMCCL_EXPLAIN_COMMUNICATOR_TEXT_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/nccl_library.h"

namespace drydock {

struct ShownCommunicator {
  const NcclCommunicator& communicator;
  const std::vector<int>& ranks;  // of the cluster, by communicator rank
  bool verbose = false;           // prints long lists in full
};

// Returns one line for all channels with the same ring: "channels 0, 8: 0 1 2 3 8 9 10 11".
std::string RingsText(const ShownCommunicator& shown);
// A chain is "0 1 2", a branch "0 (1 2 | 8 9)".
std::string TreesText(const ShownCommunicator& shown);
// Returns the heads of each channel, and the tree of each head over the hosts.
std::string NvlsText(const ShownCommunicator& shown);

// Returns the connections between hosts on which an algorithm (HACKNCCL_RING, ...) sends, with
// NICs, PXN and GPUDirect. For PAT and for messages (-1) these are the connections of communicator
// rank 0 on the first channel.
Result<std::string> NetworkText(const ShownCommunicator& shown, int algorithm);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_COMMUNICATOR_TEXT_H_
