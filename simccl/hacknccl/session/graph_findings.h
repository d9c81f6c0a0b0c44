// What NCCL builds from topologies: the graphs of each kind of host, and the trees of all ranks.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_SESSION_GRAPH_FINDINGS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_SESSION_GRAPH_FINDINGS_H_

#include <memory>
#include <vector>

#include "core/nccl/hacknccl.h"
#include "graph.h"
#include "simccl/hacknccl/cluster/layout.h"

namespace drydock {

// The outcome of NCCL's searches on a kind of host, with local indices in place of ranks.
struct KindGraphs {
  std::unique_ptr<ncclTopoGraph[]> graphs;  // NCCL_NUM_ALGORITHMS of them, some equal
  int channels = 0;
  int nvls_channels = 0;     // 0: no NVLS
  int p2p_channels = 0;      // per peer: the minimum over the ranks of the host
  std::vector<char> record;  // what a rank of this kind contributes to the third AllGather
};

// The trees of all ranks, recorded by the hooks when NCCL connects them.
struct ConnectedTrees {
  std::vector<std::vector<hacknccl_tree>> trees;  // [channel][rank]
  std::vector<std::vector<hacknccl_nvls>> nvls;
  std::vector<std::vector<hacknccl_collnet>> collnet;  // without NICs
};

struct GraphFindings {
  std::vector<std::unique_ptr<KindGraphs>>* kinds = nullptr;  // by kind, of the communicator
  bool survey = false;  // NCCL stops as soon as the graphs of this rank's kind are known
  Correction correction;
  ConnectedTrees connected;
};

// Returns the findings of the current session (session.h).
GraphFindings& CurrentGraphs();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_SESSION_GRAPH_FINDINGS_H_
