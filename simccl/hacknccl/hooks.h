// The functions that the patches of patches/nccl call. The compiler includes this header before
// every NCCL source (-include), so that a patch is only the call.
//
// Contract: each hook stands in for an exchange with ranks, threads or devices that do not exist,
// and leaves the communicator as the real exchange would leave it. The hooks work on the current
// session (session/session.h). Only the hooks for recorded programs, at the end, may be called
// outside a session.
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

// init.cc, third AllGather: `entries` has one record of `stride` bytes per rank; NCCL has filled in
// the record of its own rank. `first_ranks` points to the ring and tree ends inside record 0.
ncclResult_t GatherGraphs(ncclComm* comm, ncclTopoGraph** graphs, void* entries, size_t stride,
                          ncclTopoRanks* first_ranks);

// graph/topo.cc: keeps the other GPUs of this machine or rack that belong to the communicator.
ncclResult_t AddLocalGpus(ncclComm* comm, ncclXml* xml);

// graph/topo.cc: the topologies that `count` neighbors exchange, each with only its own GPU.
// `records` has one XML for each, with offsets as pointers; NCCL has filled in this rank's.
ncclResult_t GatherTopologies(ncclComm* comm, int* ranks, int own, int count, char* records);

// graph/search.cc: remembers the result of a search. Recall() fills in `graph` if the same search
// ran before. Otherwise the destructor stores the result that the search left in `graph`.
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

// graph/connect.cc: lets NCCL's own function connect the tree of every rank, records each tree, and
// leaves this rank's tree in the communicator.
using ConnectTreesFunction = ncclResult_t (*)(ncclComm*, int* to_parent, int* to_child0,
                                              int* to_child1, int* patterns);
ncclResult_t ConnectAllTrees(ncclComm* comm, ncclTopoGraph** graphs, ConnectTreesFunction connect,
                             int* to_parent, int* to_child0, int* to_child1, int* patterns);
using ConnectNvlsFunction = ncclResult_t (*)(ncclComm*, int* heads, int head_count);
ncclResult_t ConnectAllNvls(ncclComm* comm, ConnectNvlsFunction connect, int* heads,
                            int head_count);
// The same for the chains and heads of CollNet. A rank's list is empty before NCCL fills it.
using ConnectCollNetFunction = ncclResult_t (*)(ncclComm*, ncclTopoGraph* graph);
ncclResult_t ConnectAllCollNet(ncclComm* comm, ncclTopoGraph** graphs,
                               ConnectCollNetFunction connect);
// NCCL copied channel `from` to `to`: copies the recorded trees as well.
void CopyTrees(ncclComm* comm, int to, int from);

// transport.cc: chooses the transport of every wanted connection and marks it connected. NCCL then
// connects the connections that are still wanted.
ncclResult_t ConnectPeers(ncclComm* comm, ncclTopoGraph* graph, int connection_index);

// transport.cc: joins `head`, a rank of this host, to CollNet. Returns false on success, as NCCL
// does.
bool ConnectCollNet(ncclComm* comm, ncclTopoGraph* graph, ncclChannel* channel, int head,
                    int head_index, int type);

// channel.cc: returns how many peers of a channel to allocate, with room for the counts of their
// users after them; and the count of one peer.
int PeersAndUsers(int ranks);
int* UsersOfPeer(ncclComm* comm, int channel, int rank);

// proxy.cc: the answers of a proxy that does nothing.
ncclResult_t ConnectProxy(ncclProxyConnector* connector, int rank);
ncclResult_t CallProxy(void* response, int response_bytes);

// enqueue.cc: records what the tuner chooses from: the predicted time of each algorithm and
// protocol, `times[algorithm * NCCL_NUM_PROTOCOLS + protocol]`. A time below 0 means that it is
// excluded.
void NoteDecision(const ncclComm* comm, const ncclTaskColl* task, size_t bytes, int calls,
                  const float* times);
// enqueue.cc: records the plan just before it would be launched.
ncclResult_t CapturePlan(ncclComm* comm, ncclKernelPlan* plan);

// The hooks below are for a recorded program (recorder.h).

// Returns true if the calling code runs for a recorded program: outside a session, with a launcher.
bool Recording();
// init.cc: meets the other ranks and completes the communicator, instead of a topology search.
ncclResult_t JoinRecorded(ncclComm* comm);
// enqueue.cc: holds a call that NCCL has found valid, instead of making a task for a kernel. When
// the group ends, group.cc commits the calls of all communicators in the list that starts at *head,
// which leave the group; when the group fails, it drops the calls of each communicator.
// `simulated`: the program asked only for an estimate, so nothing is issued.
ncclResult_t RecordCall(const ncclInfo* info);
ncclResult_t CommitCalls(ncclComm** head, bool simulated);
void DropCalls(ncclComm* comm);
// dev_runtime.cc: replace ncclCommWindowRegister and ncclCommWindowDeregister.
ncclResult_t RecordWindow(ncclComm* comm, void* buffer, size_t bytes, ncclWindow_t* window,
                          int flags);
ncclResult_t DropWindow(ncclComm* comm, ncclWindow_t window);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_HOOKS_H_
