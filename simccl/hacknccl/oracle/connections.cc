// Connections between real ranks. NCCL chooses each end in its transports' `setup`, tells the other
// end, and logs its choice. The oracle keeps those lines.
//
// Replaces only the last step of two transports: `connect` of net and shm asks a proxy for buffers.
#include "comm.h"
#include "core/nccl/hacknccl.h"
#include "net.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/log/log.h"
#include "simccl/hacknccl/oracle/oracle_session.h"
#include "transport.h"

namespace drydock {
namespace {

int graph_being_connected = HACKNCCL_GRAPH_P2P;

std::vector<LoggedConnection>& Connections() {
  static std::vector<LoggedConnection> connections;
  return connections;
}

int NumberOf(const ncclComm* comm, const ncclTopoGraph* graph, int connection_index) {
  if (graph == nullptr) return HACKNCCL_GRAPH_P2P;
  switch (graph - comm->graphs) {
    case NCCL_ALGO_RING:
      return HACKNCCL_GRAPH_RING;
    case NCCL_ALGO_TREE:
      return HACKNCCL_GRAPH_TREE;
    case NCCL_ALGO_COLLNET_DIRECT:
    case NCCL_ALGO_COLLNET_CHAIN:
      return connection_index == 1 ? HACKNCCL_GRAPH_COLLNET_UP : HACKNCCL_GRAPH_COLLNET_DOWN;
    default:
      return HACKNCCL_GRAPH_NVLS;
  }
}

void KeepConnection(const char* line) {
  if (strncmp(line, "Channel ", 8) != 0 || strstr(line, " via ") == nullptr) return;
  Connections().push_back({graph_being_connected, line});
}

// Sets fields that NCCL's host code reads later, as transport/net.cc and transport/shm.cc do.
void HaveBuffers(const ncclComm* comm, ncclConnector* connector) {
  for (char*& buffer : connector->conn.buffs) buffer = reinterpret_cast<char*>(0x10);
  if (connector->conn.shared && !comm->allocP2pNetLLBuffers) {
    connector->conn.buffs[NCCL_PROTO_LL] = nullptr;
  }
  connector->conn.stepSize = comm->buffSizes[NCCL_PROTO_SIMPLE] / NCCL_STEPS;
  connector->proxyConn.proxyProgress = connector->transportComm->proxyProgress;
}

ncclResult_t ConnectNet(ncclComm* comm, ncclConnect* peer, int, int, ncclConnector* connector) {
  int peer_gdr = 0;
  memcpy(&peer_gdr, reinterpret_cast<char*>(peer) + sizeof(ncclNetHandle_t), sizeof peer_gdr);
  if (peer_gdr == 0) connector->conn.flags &= ~NCCL_DIRECT_NIC;
  HaveBuffers(comm, connector);
  return ncclSuccess;
}

ncclResult_t ConnectShm(ncclComm* comm, ncclConnect*, int, int, ncclConnector* connector) {
  HaveBuffers(comm, connector);
  return ncclSuccess;
}

}  // namespace

const std::vector<LoggedConnection>& LoggedConnections() { return Connections(); }
void ForgetConnections() { Connections().clear(); }

void WatchConnections() {
  netTransport.send.connect = netTransport.recv.connect = ConnectNet;
  shmTransport.send.connect = shmTransport.recv.connect = ConnectShm;
  ListenToLog(KeepConnection);
}

// NCCL continues and connects all wanted connections.
ncclResult_t ConnectPeers(ncclComm* comm, ncclTopoGraph* graph, int connection_index) {
  graph_being_connected = NumberOf(comm, graph, connection_index);
  return ncclSuccess;
}

}  // namespace drydock
