// Hooks that find the path between two ranks on a channel: NCCL's transport, NICs, GPU Direct and
// PXN, asked as the transports' own setup functions ask (transport/net.cc, transport/p2p.cc).
#include "simccl/hacknccl/solo/links.h"

#include <algorithm>

#include "checks.h"
#include "comm.h"
#include "graph.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/machine/fabric.h"
#include "simccl/hacknccl/session/far_ends.h"
#include "simccl/hacknccl/session/launch_capture.h"
#include "simccl/hacknccl/session/virtual_rank.h"
#include "topo.h"
#include "transport.h"

extern int64_t ncclParamNetSharedBuffers();

namespace drydock {
namespace {

// One end of a directed connection, as its own rank sees it.
struct End {
  int transport = -1;
  int nic = -1;
  bool gdr = false;
  int proxy = -1;  // rank that drives the NIC for a sender
  bool read = false;
  int relay = -1;
};

// Returns the index of the machine of `rank` in its domain, as NCCL counts machines.
int MachineOf(int rank) {
  const VirtualRank& self = CurrentRank();
  const Layout::Kind& kind = self.layout->kind_of(rank);
  const HostClass& host = (*self.classes)[static_cast<size_t>(kind.neighbors.host_class)];
  const int tray = host.TrayOf(self.layout->places[static_cast<size_t>(rank)].gpu);
  return static_cast<int>(std::find(kind.trays.begin(), kind.trays.end(), tray) -
                          kind.trays.begin());
}

// Makes a communicator answer for another rank of the same host; the destructor restores its own
// rank. For NVLS heads NCCL looks for the NIC of the communicator's own rank (search.cc:
// getNvlsNetDev), and for other ranks on its own machine (ncclTopoDevToRank).
class AsRank {
 public:
  AsRank(ncclComm* comm, int rank)
      : comm_(comm), rank_(comm->rank), machine_(comm->topo->systemId) {
    comm->rank = rank;
    comm->topo->systemId = MachineOf(rank);
  }
  ~AsRank() {
    comm_->rank = rank_;
    comm_->topo->systemId = machine_;
  }
  AsRank(const AsRank&) = delete;
  AsRank& operator=(const AsRank&) = delete;
  ncclResult_t NetDevice(ncclTopoGraph* graph, int channel, int peer, int64_t* id, int* device,
                         int* proxy) {
    return ncclTopoGetNetDev(comm_, comm_->rank, graph, channel, peer, id, device, proxy);
  }

 private:
  ncclComm* comm_;
  int rank_, machine_;
};

// Finds the end of `own`. REQUIRES: `own` lives on the host of comm's rank.
ncclResult_t ResolveEnd(ncclComm* comm, ncclTopoGraph* graph, int channel, int own, int peer,
                        bool send, End* end) {
  ncclPeerInfo* own_info = comm->peerInfo + own;
  ncclPeerInfo* peer_info = comm->peerInfo + peer;
  for (int t = 0; t < NTRANSPORTS; ++t) {
    int can = 0;
    // Asks in the order of this side, as selectTransport does.
    NCCLCHECK(ncclTransports[t]->canConnect(&can, comm, graph, own_info, peer_info));
    if (can == 0) continue;
    end->transport = t;
    break;
  }
  if (end->transport == TRANSPORT_NET) {
    int64_t id = 0;
    int proxy = own;
    // A receiver uses its own NIC, never a proxy on another GPU.
    const ncclResult_t found =
        AsRank(comm, own).NetDevice(graph, channel, send ? peer : own, &id, &end->nic, &proxy);
    NCCLCHECK(found);
    end->nic = NicOfHost(own, id, end->nic);
    ncclTopoGdrMode gdr = ncclTopoGdrModeDisable;
    NCCLCHECK(ncclTopoCheckGdr(comm->topo, own, id, send, &gdr));
    end->gdr = gdr != ncclTopoGdrModeDisable;
    if (send && proxy != own) end->proxy = proxy;
  } else if (end->transport == TRANSPORT_P2P) {
    int possible = 0, read = 0;
    NCCLCHECK(
        ncclTopoCheckP2p(comm, comm->topo, own, peer, &possible, &read, &end->relay, nullptr));
    end->read = read != 0;
  }
  if (end->transport == -1) {
    WARN("NCCL has no transport from rank %d to rank %d", own, peer);
    return ncclSystemError;
  }
  return ncclSuccess;
}

int NameOf(const ncclComm* comm, const ncclTopoGraph* graph) {
  if (graph == nullptr) return HACKNCCL_GRAPH_P2P;
  switch (graph - comm->graphs) {
    case NCCL_ALGO_TREE:
      return HACKNCCL_GRAPH_TREE;
    case NCCL_ALGO_NVLS:
    case NCCL_ALGO_NVLS_TREE:
      return HACKNCCL_GRAPH_NVLS;
    default:
      return HACKNCCL_GRAPH_RING;
  }
}

// Asks how the rank at the far end sees its end. If the far host is of this host's kind, asks about
// the rank's counterpart on this host. Assumes that hosts of other kinds serve their GPUs like this
// host.
ncclResult_t HasFarGdr(ncclComm* comm, ncclTopoGraph* graph, int channel, int peer, int index,
                       bool send, bool* gdr) {
  const Layout& layout = *CurrentRank().layout;
  const auto host = [&layout](int rank) { return layout.host_of_rank[static_cast<size_t>(rank)]; };
  const auto local = [&layout](int rank) {
    return layout.local_of_rank[static_cast<size_t>(rank)];
  };
  const int own = comm->rank;
  *gdr = true;
  if (layout.hosts[host(own)].kind != layout.hosts[host(peer)].kind) {
    CurrentFarEnds().unknown.push_back({NameOf(comm, graph), channel, peer, index, send});
    return ncclSuccess;
  }
  const auto [known, is_new] =
      CurrentFarEnds().gdr.try_emplace({graph, channel, local(own), local(peer), send}, true);
  if (is_new) {
    End far;
    NCCLCHECK(ResolveEnd(comm, graph, channel, layout.Counterpart(peer, host(own)),
                         layout.Counterpart(own, host(peer)), !send, &far));
    known->second = far.gdr;
  }
  *gdr = known->second;
  return ncclSuccess;
}

// Sets the fields of a connector that later decisions read (enqueue.cc, proxy.cc). The others stay
// 0.
void MarkConnected(ncclComm* comm, ncclConnector* connector, const End& end, bool far_gdr,
                   bool graph_given, int index, bool send) {
  ncclTransport* transport = ncclTransports[end.transport];
  connector->transportComm = send ? &transport->send : &transport->recv;
  const bool net = end.transport == TRANSPORT_NET;
  for (char*& buffer : connector->conn.buffs) buffer = reinterpret_cast<char*>(0x10);
  connector->conn.stepSize = comm->buffSizes[NCCL_PROTO_SIMPLE] / NCCL_STEPS;
  if (net) {
    const bool p2p = index == 1;
    const int64_t sharing = ncclParamNetSharedBuffers();
    connector->conn.shared = graph_given || !p2p ? 0 : sharing == -2 ? 1 : sharing;
    if (connector->conn.shared && !comm->allocP2pNetLLBuffers) {
      connector->conn.buffs[NCCL_PROTO_LL] = nullptr;
    }
    if (end.gdr && far_gdr) connector->conn.flags |= NCCL_DIRECT_NIC;
    if (!p2p && !end.gdr) comm->useGdr = false;
    if (!p2p && end.proxy != -1) comm->useNetPXN = true;
    connector->proxyConn.proxyProgress = connector->transportComm->proxyProgress;
    connector->proxyConn.sameProcess =
        end.proxy == -1;  // NCCL registers buffers with its own proxy only
  } else if (end.transport == TRANSPORT_P2P && end.relay == -1) {
    connector->conn.flags |= end.read ? NCCL_P2P_READ : NCCL_P2P_WRITE;
  }
  connector->connected = 1;
}

ncclResult_t ConnectChannels(ncclComm* comm, ncclTopoGraph* graph, int index, int peer,
                             uint64_t channels, bool send) {
  for (int c = 0; c < MAXCHANNELS; ++c) {
    if ((channels >> c & 1) == 0) continue;
    End end;
    NCCLCHECK(ResolveEnd(comm, graph, c, comm->rank, peer, send, &end));
    bool far_gdr = true;
    if (end.transport == TRANSPORT_NET) {
      NCCLCHECK(HasFarGdr(comm, graph, c, peer, index, send, &far_gdr));
    }
    ncclChannelPeer* channel_peer = comm->channels[c].peers[peer];
    ncclConnector* connector = (send ? channel_peer->send : channel_peer->recv) + index;
    MarkConnected(comm, connector, end, far_gdr, graph != nullptr, index, send);
  }
  return ncclSuccess;
}

ncclTopoGraph* GraphOf(ncclComm* comm, int graph) {
  switch (graph) {
    case HACKNCCL_GRAPH_RING:
      return &comm->graphs[NCCL_ALGO_RING];
    case HACKNCCL_GRAPH_TREE:
      return &comm->graphs[NCCL_ALGO_TREE];
    case HACKNCCL_GRAPH_NVLS:
      return &comm->graphs[NCCL_ALGO_NVLS];
    default:
      return nullptr;
  }
}

// Finds the end of `own` on any host. A communicator knows only its own host, so this asks about
// the counterpart of `own` there, and replaces `peer` by a rank at the same distance: on that host,
// on a neighbor's host, or elsewhere.
ncclResult_t ResolveElsewhere(const Layout& layout, ncclComm* comm, int graph, int channel, int own,
                              int peer, bool send, End* end) {
  const int host = layout.host_of_rank[static_cast<size_t>(own)];
  const int model = layout.host_of_rank[static_cast<size_t>(comm->rank)];
  const int peer_host = layout.host_of_rank[static_cast<size_t>(peer)];
  int asked_peer = peer;
  if (layout.AreNeighbors(peer_host, host)) {
    asked_peer = layout.Counterpart(peer, model);
  } else if (layout.AreNeighbors(peer_host, model)) {
    // The model host is of own's kind, so its neighbors have counterparts among own's neighbors.
    asked_peer = layout.Counterpart(peer, host);
  }
  NCCLCHECK(ResolveEnd(comm, GraphOf(comm, graph), channel, layout.Counterpart(own, model),
                       asked_peer, send, end));
  if (end->proxy != -1) end->proxy = layout.Counterpart(end->proxy, host);
  if (end->relay != -1) end->relay = layout.Counterpart(end->relay, host);
  return ncclSuccess;
}

}  // namespace

ncclResult_t ConnectPeers(ncclComm* comm, ncclTopoGraph* graph, int connection_index) {
  for (int r = 0; r < comm->nRanks; ++r) {
    if (r == comm->rank) continue;
    NCCLCHECK(ConnectChannels(comm, graph, connection_index, r, comm->connectRecv[r], false));
    NCCLCHECK(ConnectChannels(comm, graph, connection_index, r, comm->connectSend[r], true));
    comm->connectRecv[r] = comm->connectSend[r] = 0;
  }
  return ncclSuccess;
}

ncclResult_t ConnectProxy(ncclProxyConnector* connector, int rank) {
  connector->rank = rank;
  connector->initialized = true;
  return ncclSuccess;
}

ncclResult_t CallProxy(void* response, int response_bytes) {
  if (response == nullptr) return ncclSuccess;
  memset(response, 0, static_cast<size_t>(response_bytes));
  // Answers a request to register a buffer with a handle. Its value has no meaning.
  if (!CurrentLaunch().registered.empty() && response_bytes == sizeof(void*)) {
    *static_cast<uintptr_t*>(response) = 1;
  }
  return ncclSuccess;
}

ncclResult_t ResolveLink(const Layout& layout, ncclComm* from_comm, ncclComm* to_comm, int graph,
                         int channel, int from, int to, hacknccl_link* link) {
  End sender, receiver;
  NCCLCHECK(ResolveElsewhere(layout, from_comm, graph, channel, from, to, true, &sender));
  NCCLCHECK(ResolveElsewhere(layout, to_comm, graph, channel, to, from, false, &receiver));
  // Data towards the network is written (transport/p2p.cc: p2pSendSetup).
  if (graph == HACKNCCL_GRAPH_COLLNET_UP) sender.read = false;
  switch (sender.transport) {
    case TRANSPORT_P2P:
      link->kind = sender.read ? HACKNCCL_LINK_P2P_READ : HACKNCCL_LINK_P2P_WRITE;
      break;
    case TRANSPORT_SHM:
      link->kind = HACKNCCL_LINK_SHM;
      break;
    default:
      link->kind = HACKNCCL_LINK_NET;
  }
  link->send_nic = sender.nic;
  link->recv_nic = receiver.nic;
  link->send_gdr = sender.gdr;
  link->recv_gdr = receiver.gdr;
  link->proxy = sender.proxy;
  link->relay = sender.relay;
  return ncclSuccess;
}

}  // namespace drydock
