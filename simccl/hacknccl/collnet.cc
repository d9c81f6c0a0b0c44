// The collective network of a host whose NICs offer one, and how ranks are joined to it. Stands in
// for NVIDIA's SHARP plugin (github.com/Mellanox/nccl-rdma-sharp-plugins, sharp_plugin.c) and for
// the set-up half of NCCL's transport/coll_net.cc.
//
// It has the three operations that a plugin may have: all-reduce, all-gather, reduce-scatter.
#include "checks.h"
#include "comm.h"
#include "simccl/hacknccl/machine/fabric.h"
#include "simccl/hacknccl/machine/fake_net.h"
#include "graph.h"
#include "simccl/hacknccl/hooks.h"
#include "simccl/hacknccl/session.h"
#include "transport.h"

extern ncclTransport collNetTransport;

namespace drydock {
namespace {

ncclResult_t Init(void** context, uint64_t, ncclDebugLogger_t) {
  *context = nullptr;
  return ncclSuccess;
}
ncclResult_t Finalize(void*) { return ncclSuccess; }

// What the plugin says of switches from the third generation of SHARP on (bfloat16 and the 8-bit
// integers; typeConvert and opConvert).
ncclResult_t ReduceSupport(ncclDataType_t type, ncclRedOp_t op, int* supported) {
  const bool known_type = type != ncclFloat8e4m3 && type != ncclFloat8e5m2;
  *supported = known_type && (op == ncclSum || op == ncclMax || op == ncclMin);
  return ncclSuccess;
}

template <class... Arguments>
ncclResult_t NoDataPath(Arguments...) {
  WARN("the data path of a virtual collective network was called");
  return ncclInternalError;
}

ncclCollNet_t MakeCollNet() {
  ncclCollNet_t net = {};
  net.name = "SHARP";
  net.init = Init;
  net.devices = NicCount;
  net.getProperties = NicProperties;
  net.listen = NoDataPath;
  net.connect = NoDataPath;
  net.reduceSupport = ReduceSupport;
  net.regMr = NoDataPath;
  net.deregMr = NoDataPath;
  net.iallreduce = NoDataPath;
  net.iallgather = NoDataPath;
  net.ireducescatter = NoDataPath;
  net.iflush = NoDataPath;
  net.test = NoDataPath;
  net.closeColl = NoDataPath;
  net.closeListen = NoDataPath;
  net.finalize = Finalize;
  return net;
}

// The questions of coll_net.cc's sendSetup and recvSetup.
ncclResult_t FindNic(ncclComm* comm, ncclTopoGraph* graph, int head, int head_index, bool send,
                     Session::CollNetNic* out) {
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
  Session& session = Current();
  const std::vector<int>& ranks = session.layout->host_of(comm->rank).ranks;
  session.collnet_nics.resize(ranks.size());
  if (session.collnet_resources == nullptr) session.collnet_resources.reset(comm->collNetSharedRes);

  const bool send = type == collNetSend;
  Session::CollNetNic joined;
  NCCLCHECK(FindNic(comm, graph, head, head_index, send, &joined));
  const int local = session.layout->local_of_rank[static_cast<size_t>(head)];
  session.collnet_nics[static_cast<size_t>(local)] = joined;
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

ncclCollNet_t* CollNetOfHost() {
  static ncclCollNet_t net = MakeCollNet();
  return Current().host_class().collnet ? &net : nullptr;
}

bool ConnectCollNet(ncclComm* comm, ncclTopoGraph* graph, ncclChannel* channel, int head,
                    int head_index, int type) {
  return Join(comm, graph, channel, head, head_index, type) != ncclSuccess;
}

}  // namespace drydock
