// The collective network of a host whose NICs offer one. Stands in for NVIDIA's SHARP plugin
// (github.com/Mellanox/nccl-rdma-sharp-plugins, sharp_plugin.c), and has the three operations that
// a plugin may have: all-reduce, all-gather, reduce-scatter.
#include "comm.h"
#include "debug.h"
#include "simccl/hacknccl/machine/fake_net.h"
#include "simccl/hacknccl/session/virtual_rank.h"

namespace drydock {
namespace {

ncclResult_t Init(void** context, uint64_t, ncclDebugLogger_t) {
  *context = nullptr;
  return ncclSuccess;
}
ncclResult_t Finalize(void*) { return ncclSuccess; }

// The plugin's answer for switches of the third generation of SHARP and later (bfloat16 and the
// 8-bit integers; typeConvert and opConvert).
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

}  // namespace

ncclCollNet_t* CollNetOfHost() {
  static ncclCollNet_t net = MakeCollNet();
  return CurrentRank().host_class().collnet ? &net : nullptr;
}

}  // namespace drydock
