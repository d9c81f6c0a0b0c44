// What NCCL built for a communicator, for people: rings, trees, NVLS heads, and the connections
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
  bool verbose = false;           // nothing is left out of long lists
};

// One line for all channels that are alike: "channels 0, 8: 0 1 2 3 8 9 10 11".
std::string RingsText(const ShownCommunicator& shown);
// A chain is "0 1 2"; where it parts, "0 (1 2 | 8 9)".
std::string TreesText(const ShownCommunicator& shown);
// Per channel the heads, and the tree over each head's hosts.
std::string NvlsText(const ShownCommunicator& shown);

// The connections from host to host on which an algorithm (HACKNCCL_RING, ...) sends, with NICs,
// PXN and GPUDirect; of PAT, and of messages (-1), those of communicator rank 0 on the first
// channel.
Result<std::string> NetworkText(const ShownCommunicator& shown, int algorithm);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_COMMUNICATOR_TEXT_H_
