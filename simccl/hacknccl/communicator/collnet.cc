// Joins ranks to the collective network. Stands in for the set-up half of NCCL's
// transport/coll_net.cc.
#include "checks.h"
#include "comm.h"
#include "graph.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/machine/fabric.h"
#include "simccl/hacknccl/session/collnet_ranks.h"
#include "simccl/hacknccl/session/virtual_rank.h"
#include "transport.h"

extern ncclTransport collNetTransport;

namespace drydock {
namespace {

// Asks NCCL as sendSetup and recvSetup of coll_net.cc do.
ncclResult_t FindNic(ncclComm* comm, ncclTopoGraph* graph, int head, int head_index, bool send,
                     CollNetNic* out) {
  int64_t id = 0;
  int proxy = -1;
  // For NVLS heads NCCL looks for the NIC of the communicator's own rank (links.cc).
  const int rank = comm->rank;
  comm->rank = head;
  const ncclResult_t found =
      ncclTopoGetNetDev(comm, head, graph, head_index, -1, &id, &out->nic, &proxy);
  comm->rank = rank;
  NCCLCHECK(found);
  out->nic = NicOfHost(head, id, out->nic);
  ncclTopoGdrMode gdr = ncclTopoGdrModeDisable;
  NCCLCHECK(ncclTopoCheckGdr(comm->topo, head, id, send, &gdr));
  out->gdr = gdr != ncclTopoGdrModeDisable;
  out->rail = head_index;
  return ncclSuccess;
}

ncclResult_t Join(ncclComm* comm, ncclTopoGraph* graph, ncclChannel* channel, int head,
                  int head_index, int type) {
  const Layout& layout = *CurrentRank().layout;
  CollNetRanks& collnet = CurrentCollNet();
  collnet.nics.resize(layout.host_of(comm->rank).ranks.size());
  if (collnet.resources == nullptr) collnet.resources.reset(comm->collNetSharedRes);

  const bool send = type == collNetSend;
  CollNetNic joined;
  NCCLCHECK(FindNic(comm, graph, head, head_index, send, &joined));
  const int local = layout.local_of_rank[static_cast<size_t>(head)];
  collnet.nics[static_cast<size_t>(local)] = joined;
  if (head != comm->rank) return ncclSuccess;

  ncclChannelPeer* network = channel->peers[comm->nRanks];
  ncclConnector* connector = (send ? network->send : network->recv) + type;
  connector->transportComm = send ? &collNetTransport.send : &collNetTransport.recv;
  connector->proxyConn.proxyProgress = connector->transportComm->proxyProgress;
  for (char*& buffer : connector->conn.buffs) buffer = reinterpret_cast<char*>(0x10);
  if (joined.gdr) connector->conn.flags |= NCCL_DIRECT_NIC;
  return ncclSuccess;
}

}  // namespace

bool ConnectCollNet(ncclComm* comm, ncclTopoGraph* graph, ncclChannel* channel, int head,
                    int head_index, int type) {
  return Join(comm, graph, channel, head, head_index, type) != ncclSuccess;
}

}  // namespace drydock
