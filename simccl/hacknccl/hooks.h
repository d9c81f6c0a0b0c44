// What the patches of patches/nccl call. Included before every NCCL source (compiler option
// -include), so that a patch is the call alone.
//
// Contract: each hook stands in for an exchange with ranks, threads or devices that do not exist,
// and leaves the communicator as the real exchange would have left it. All work on the session that
// api.cc has made current; never called outside one, but for the last few.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_HOOKS_H_
#define DRYDOCK_SIMCCL_HACKNCCL_HOOKS_H_

#include <stddef.h>

#include "nccl.h"

struct ncclChannel;
struct ncclComm;
struct ncclInfo;
struct ncclKernelPlan;
struct ncclProxyConnector;
struct ncclTaskColl;
struct ncclTopoGraph;
struct ncclTopoRanks;
struct ncclTopoSystem;
struct ncclXml;

namespace drydock {

// init.cc, first AllGather: fills comm->peerInfo of all ranks.
ncclResult_t GatherPeers(ncclComm* comm);

// init.cc, third AllGather: `entries` is one record of `stride` bytes a rank, of which NCCL filled
// that of its own rank; `first_ranks` is the place of the ring and tree ends inside record 0.
ncclResult_t GatherGraphs(ncclComm* comm, ncclTopoGraph** graphs, void* entries, size_t stride,
                          ncclTopoRanks* first_ranks);

// graph/topo.cc: keeps the other GPUs of this machine or rack that belong to the communicator.
ncclResult_t AddLocalGpus(ncclComm* comm, ncclXml* xml);

// graph/topo.cc: the topologies that `count` neighbours tell one another, each with its own
// GPU alone. `records` is one XML for each, pointers as offsets, of which NCCL filled this rank's.
ncclResult_t GatherTopologies(ncclComm* comm, int* ranks, int own, int count, char* records);

// graph/search.cc: remembers the outcome of a search. Recall() fills `graph` from memory if the
// same search ran before; otherwise the destructor stores what the search left in `graph`.
class GraphSearch {
 public:
  GraphSearch(ncclTopoSystem* system, ncclTopoGraph* graph);
  ~GraphSearch();
  GraphSearch(const GraphSearch&) = delete;
  GraphSearch& operator=(const GraphSearch&) = delete;
  bool Recall();

 private:
  struct Key;
  Key* key_;
  ncclTopoSystem* system_;
  ncclTopoGraph* graph_;
};

// graph/connect.cc: lets NCCL's own function connect the tree of every rank, records each, and
// leaves this rank's in the communicator.
using ConnectTreesFunction = ncclResult_t (*)(ncclComm*, int* to_parent, int* to_child0,
                                              int* to_child1, int* patterns);
ncclResult_t ConnectAllTrees(ncclComm* comm, ncclTopoGraph** graphs, ConnectTreesFunction connect,
                             int* to_parent, int* to_child0, int* to_child1, int* patterns);
using ConnectNvlsFunction = ncclResult_t (*)(ncclComm*, int* heads, int head_count);
ncclResult_t ConnectAllNvls(ncclComm* comm, ConnectNvlsFunction connect, int* heads,
                            int head_count);
// ... the chains and heads of CollNet; the list of a rank is empty before NCCL fills it.
using ConnectCollNetFunction = ncclResult_t (*)(ncclComm*, ncclTopoGraph* graph);
ncclResult_t ConnectAllCollNet(ncclComm* comm, ncclTopoGraph** graphs,
                               ConnectCollNetFunction connect);
// NCCL copied channel `from` to `to`: the recorded trees follow.
void CopyTrees(ncclComm* comm, int to, int from);

// transport.cc: chooses the transport of every wanted connection and marks it connected. NCCL goes
// on to connect what is still wanted.
ncclResult_t ConnectPeers(ncclComm* comm, ncclTopoGraph* graph, int connection_index);

// transport.cc: joins `head`, a rank of this host, to CollNet; false as NCCL's own: no failure.
bool ConnectCollNet(ncclComm* comm, ncclTopoGraph* graph, ncclChannel* channel, int head,
                    int head_index, int type);

// channel.cc: how many peers of a channel to allocate so that the counts of their users find room
// behind them, and the count of one.
int PeersAndUsers(int ranks);
int* UsersOfPeer(ncclComm* comm, int channel, int rank);

// proxy.cc: what a proxy that does nothing answers.
ncclResult_t ConnectProxy(ncclProxyConnector* connector, int rank);
ncclResult_t CallProxy(void* response, int response_bytes);

// enqueue.cc: records what the tuner is about to choose from: the predicted time of each algorithm
// and protocol, `times[algorithm * NCCL_NUM_PROTOCOLS + protocol]`, below 0 where it is left out.
void NoteDecision(const ncclComm* comm, const ncclTaskColl* task, size_t bytes, int calls,
                  const float* times);
// enqueue.cc: records the plan just before it would be launched.
ncclResult_t CapturePlan(ncclComm* comm, ncclKernelPlan* plan);

// The hooks below are for a recorded program (recorder.h), where Recording() is true.
bool Recording();
// init.cc: in place of the search for a topology, meets the other ranks and completes the
// communicator.
ncclResult_t JoinRecorded(ncclComm* comm);
// enqueue.cc: in place of a task for a kernel, notes a call that NCCL has found valid. It counts
// once its group ends well: group.cc commits those of all communicators of the list that starts at
// *head, which then are out of their group, or drops those of one when the group fails.
// `simulated`: the program asked for an estimate; nothing is issued.
ncclResult_t RecordCall(const ncclInfo* info);
ncclResult_t CommitCalls(ncclComm** head, bool simulated);
void DropCalls(ncclComm* comm);
// dev_runtime.cc: in place of ncclCommWindowRegister and ncclCommWindowDeregister.
ncclResult_t RecordWindow(ncclComm* comm, void* buffer, size_t bytes, ncclWindow_t* window,
                          int flags);
ncclResult_t DropWindow(ncclComm* comm, ncclWindow_t window);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_HOOKS_H_
