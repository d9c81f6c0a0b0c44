// What this rank assumes about the far ends of its connections.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_FAR_ENDS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_FAR_ENDS_H_

#include <map>
#include <tuple>
#include <vector>

namespace drydock {

// A connection to a host of another kind. This rank cannot know whether the far NIC reads and
// writes GPU memory. It assumes that the NIC does until Communicator::Launch asks a rank of that
// host.
struct UnknownEnd {
  int graph = 0;  // HACKNCCL_GRAPH_*
  int channel = 0, peer = 0, index = 0;
  bool send = false;
};

struct FarEnds {
  // Whether the far NIC reads or writes its GPU's memory: by graph, channel, the local indices of
  // both ranks, and whether this end sends.
  std::map<std::tuple<const void*, int, int, int, bool>, bool> gdr;
  std::vector<UnknownEnd> unknown;
};

// Returns the far ends of the current session (session.h).
FarEnds& CurrentFarEnds();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_FAR_ENDS_H_
