// The hooks of patches/nccl when no rank is absent: each hook does the work of the line that its
// patch replaces.
#include "simccl/hacknccl/hooks.h"

#include "bootstrap.h"
#include "comm.h"
#include "simccl/hacknccl/session/launch_capture.h"
#include "simccl/hacknccl/session/virtual_rank.h"
#include "topo.h"
#include "transport.h"
#include "xml.h"

namespace drydock {

ncclResult_t GatherPeers(ncclComm* comm) {
  return bootstrapAllGather(comm->bootstrap, comm->peerInfo, sizeof(ncclPeerInfo));
}

ncclResult_t GatherGraphs(ncclComm* comm, ncclTopoGraph**, void* entries, size_t stride,
                          ncclTopoRanks*) {
  return bootstrapAllGather(comm->bootstrap, entries, static_cast<int>(stride));
}

// NCCL's own fusion adds them.
ncclResult_t AddLocalGpus(ncclComm*, ncclXml*) { return ncclSuccess; }

ncclResult_t GatherTopologies(ncclComm* comm, int* ranks, int own, int count, char* records) {
  return bootstrapIntraNodeAllGather(comm->bootstrap, ranks, own, count, records,
                                     static_cast<int>(xmlMemSize(NCCL_TOPO_XML_MAX_NODES)));
}

// Every rank searches for itself.
struct GraphSearch::Key {};
GraphSearch::GraphSearch(ncclTopoSystem* system, ncclTopoGraph* graph)
    : key_(nullptr), system_(system), graph_(graph) {}
GraphSearch::~GraphSearch() = default;
bool GraphSearch::Recall() { return false; }

ncclResult_t ConnectAllTrees(ncclComm* comm, ncclTopoGraph**, ConnectTreesFunction connect,
                             int* to_parent, int* to_child0, int* to_child1, int* patterns) {
  return connect(comm, to_parent, to_child0, to_child1, patterns);
}
ncclResult_t ConnectAllNvls(ncclComm* comm, ConnectNvlsFunction connect, int* heads,
                            int head_count) {
  return connect(comm, heads, head_count);
}
ncclResult_t ConnectAllCollNet(ncclComm* comm, ncclTopoGraph** graphs,
                               ConnectCollNetFunction connect) {
  return connect(comm, graphs[NCCL_ALGO_COLLNET_DIRECT]);
}
void CopyTrees(ncclComm*, int, int) {}

// No proxy runs: a proxy would only move data.
ncclResult_t ConnectProxy(ncclProxyConnector* connector, int rank) {
  connector->rank = rank;
  connector->sameProcess = rank == CurrentRank().rank;  // each rank is a process
  connector->initialized = true;
  return ncclSuccess;
}
ncclResult_t CallProxy(void* response, int response_bytes) {
  if (response == nullptr) return ncclSuccess;
  memset(response, 0, static_cast<size_t>(response_bytes));
  // NCCL reads only the answer for P2P: a buffer, beginning with its address.
  void* const address = reinterpret_cast<void*>(0x10);
  if (response_bytes > static_cast<int>(sizeof address)) memcpy(response, &address, sizeof address);
  // Answers a request to register a buffer with a handle. Its value has no meaning.
  if (!CurrentLaunch().registered.empty() && response_bytes == static_cast<int>(sizeof address)) {
    memcpy(response, &address, sizeof address);
  }
  return ncclSuccess;
}

}  // namespace drydock
