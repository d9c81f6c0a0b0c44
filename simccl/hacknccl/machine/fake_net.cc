// The NICs of the current rank's host, without a data path. Stands in for NCCL's plugin/net.cc
// (which would look for plugins, InfiniBand and sockets) and transport/net_ib.
//
// NCCL's own loader counts the NICs once per process; here every communicator sees the NICs of its
// own host class. A class without NICs shows one 10 Gb/s device without a place, like a host that
// has only Ethernet. The API accepts such a class only for communicators of one host, where NCCL
// uses no network.
#include "simccl/hacknccl/machine/fake_net.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "checks.h"
#include "comm.h"
#include "debug.h"
#include "gin.h"
#include "net.h"
#include "simccl/hacknccl/machine/fabric.h"
#include "simccl/hacknccl/session/virtual_rank.h"

namespace drydock {

// Counts the NICs of this machine.
ncclResult_t NicCount(int* count) {
  *count = std::max(1, CurrentRank().host_class().nics_per_tray());
  return ncclSuccess;
}

ncclResult_t NicProperties(int device, ncclNetProperties_t* properties) {
  const auto& nics = CurrentRank().host_class().nics;
  // NCCL keeps the pointers while it reads them, under its own lock.
  static std::string name, path;
  memset(properties, 0, sizeof *properties);
  name = "eth0";
  path.clear();
  properties->speed = 10000;
  if (!nics.empty()) {
    const Nic& nic = nics[static_cast<size_t>(device)];
    name = nic.name;
    path = "/sys/class/pci_bus/" + nic.bus_id.substr(0, 7) + "/../../" + nic.bus_id;
    properties->speed = nic.speed_mbps;
  }
  properties->name = name.data();
  properties->pciPath = path.empty() ? nullptr : path.data();
  properties->guid = drydock::NicGuid(CurrentRank().tray(), device);
  properties->ptrSupport = NCCL_PTR_HOST | NCCL_PTR_CUDA;
  properties->regIsGlobal = 1;
  properties->port = 1;
  properties->maxComms = 131072;
  properties->maxRecvs = 8;
  properties->netDeviceType = NCCL_NET_DEVICE_HOST;
  properties->maxP2pBytes = NCCL_MAX_NET_SIZE_BYTES;
  properties->maxCollBytes = MAX_COLLNET_SIZE;
  properties->vProps.ndevs = 1;
  properties->vProps.devs[0] = device;
  properties->maxMultiRequestSize = 1;
  return ncclSuccess;
}

}  // namespace drydock

namespace {

using drydock::CurrentRank;

ncclResult_t Init(void** context, uint64_t, ncclNetCommConfig_t*, ncclDebugLogger_t,
                  ncclProfilerCallback_t) {
  *context = nullptr;
  return ncclSuccess;
}
ncclResult_t Finalize(void*) { return ncclSuccess; }

template <class... Arguments>
ncclResult_t NoDataPath(Arguments...) {
  WARN("the data path of a virtual NIC was called");
  return ncclInternalError;
}

ncclNet_t MakeNet() {
  ncclNet_t net = {};
  net.name = "IB";
  net.init = Init;
  net.devices = drydock::NicCount;
  net.getProperties = drydock::NicProperties;
  net.listen = NoDataPath;
  net.connect = NoDataPath;
  net.accept = NoDataPath;
  net.regMr = NoDataPath;
  net.deregMr = NoDataPath;
  net.isend = NoDataPath;
  net.irecv = NoDataPath;
  net.iflush = NoDataPath;
  net.test = NoDataPath;
  net.closeSend = NoDataPath;
  net.closeRecv = NoDataPath;
  net.closeListen = NoDataPath;
  net.finalize = Finalize;
  return net;
}
ncclNet_t net = MakeNet();

// GPU-initiated networking is absent.
ncclResult_t NoGinInit(void**, uint64_t, ncclDebugLogger_t) { return ncclInternalError; }
ncclResult_t NoGinDevices(int* count) {
  *count = 0;
  return ncclSuccess;
}

}  // namespace

ncclGin_t ncclGinIb = {"none", NoGinInit, NoGinDevices};
ncclGin_t ncclGinIbGdaki = {"none", NoGinInit, NoGinDevices};
ncclGin_t ncclGinIbProxy = {"none", NoGinInit, NoGinDevices};
int64_t ncclParamIbDataDirect() { return 0; }

ncclResult_t ncclNetInit(ncclComm* comm) {
  comm->ncclNet = &net;
  comm->ncclNetVer = 11;
  comm->ncclCollNet = drydock::CollNetOfHost();
  comm->netPluginIndex = 0;
  return ncclSuccess;
}
ncclResult_t ncclNetInitFromParent(ncclComm* comm, ncclComm*) { return ncclNetInit(comm); }
ncclResult_t ncclNetFinalize(ncclComm*) { return ncclSuccess; }

ncclResult_t ncclNetGetDevCount(int, int* physical, int* virtual_count) {
  *virtual_count = 0;
  return drydock::NicCount(physical);
}
// Called only for a host with a collective network, to which all its NICs belong.
ncclResult_t ncclCollNetGetDevCount(int index, int* physical, int* virtual_count) {
  return ncclNetGetDevCount(index, physical, virtual_count);
}
ncclResult_t ncclNetSetVirtDevCount(int, int) { return ncclSuccess; }
ncclResult_t ncclCollNetSetVirtDevCount(int, int) { return ncclSuccess; }
ncclResult_t ncclNetCheckDeviceVersion(ncclComm*, ncclNet_t*, int) { return ncclSuccess; }

// The NICs can register GPU memory. NCCL itself decides whether the path is short enough.
ncclResult_t ncclGpuGdrSupport(ncclComm*, int* supported) {
  *supported = CurrentRank().host_class().nics.empty() ? 0 : 1;
  return ncclSuccess;
}
