// NVML of the current rank's host. GPUs are identified by bus id, all GPUs are healthy, and all
// peers are reachable. NVLinks come from the topology XML, not from here. Stands in for NCCL's
// misc/nvmlwrap.cc.
#include <strings.h>

#include <cstring>

#include "nvmlwrap.h"
#include "simccl/hacknccl/machine/fabric.h"
#include "simccl/hacknccl/session/virtual_rank.h"

int ncclNvmlDeviceCount = 0;
ncclNvmlDeviceInfo ncclNvmlDevices[ncclNvmlMaxDevices];
// All zero: NVML_P2P_STATUS_OK.
ncclNvmlDevicePairInfo ncclNvmlDevicePairs[ncclNvmlMaxDevices][ncclNvmlMaxDevices];

namespace {

// A handle is the GPU's index plus one: never null.
nvmlDevice_t Handle(size_t index) { return reinterpret_cast<nvmlDevice_t>(index + 1); }
unsigned Index(nvmlDevice_t device) {
  return static_cast<unsigned>(reinterpret_cast<uintptr_t>(device) - 1);
}

}  // namespace

ncclResult_t ncclNvmlEnsureInitialized() { return ncclSuccess; }

ncclResult_t ncclNvmlDeviceGetHandleByPciBusId(const char* bus_id, nvmlDevice_t* device) {
  const auto& gpus = drydock::CurrentRank().host_class().gpu_bus_ids;
  for (size_t i = 0; i < gpus.size(); ++i) {
    if (strcasecmp(bus_id, gpus[i].c_str()) != 0) continue;
    *device = Handle(i);
    return ncclSuccess;
  }
  return ncclInvalidArgument;
}

ncclResult_t ncclNvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t* device) {
  *device = Handle(index);
  return ncclSuccess;
}
ncclResult_t ncclNvmlDeviceGetIndex(nvmlDevice_t device, unsigned* index) {
  *index = Index(device);
  return ncclSuccess;
}
ncclResult_t ncclNvmlDeviceGetNvLinkState(nvmlDevice_t, unsigned, nvmlEnableState_t* state) {
  *state = NVML_FEATURE_DISABLED;
  return ncclSuccess;
}
ncclResult_t ncclNvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t, unsigned, nvmlPciInfo_t*) {
  return ncclSystemError;
}
ncclResult_t ncclNvmlDeviceGetNvLinkCapability(nvmlDevice_t, unsigned, nvmlNvLinkCapability_t,
                                               unsigned* capability) {
  *capability = 0;
  return ncclSuccess;
}
ncclResult_t ncclNvmlDeviceGetCudaComputeCapability(nvmlDevice_t, int* major, int* minor) {
  const int capability = drydock::CurrentRank().host_class().compute_capability;
  *major = capability / 10;
  *minor = capability % 10;
  return ncclSuccess;
}
ncclResult_t ncclNvmlDeviceGetP2PStatus(nvmlDevice_t, nvmlDevice_t, nvmlGpuP2PCapsIndex_t,
                                        nvmlGpuP2PStatus_t* status) {
  *status = NVML_P2P_STATUS_OK;
  return ncclSuccess;
}
ncclResult_t ncclNvmlDeviceGetFieldValues(nvmlDevice_t, int, nvmlFieldValue_t*) {
  return ncclSystemError;
}
namespace drydock {

void FillFabricInfo(const HostClass& host, int domain, nvmlGpuFabricInfoV_t* info) {
  memset(info, 0, sizeof *info);
  info->state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
  if (host.trays == 1) return;
  info->state = NVML_GPU_FABRIC_STATE_COMPLETED;
  // Any number except 0: NCCL only compares it.
  const uint64_t uuid = 1 + static_cast<uint64_t>(domain);
  memcpy(info->clusterUuid, &uuid, sizeof uuid);
  info->cliqueId = 1;
}

}  // namespace drydock

ncclResult_t ncclNvmlDeviceGetGpuFabricInfoV(nvmlDevice_t, nvmlGpuFabricInfoV_t* info) {
  const drydock::VirtualRank& self = drydock::CurrentRank();
  drydock::FillFabricInfo(self.host_class(), self.place().host, info);
  return ncclSuccess;
}
ncclResult_t ncclNvmlDeviceGetPlatformInfo(nvmlDevice_t, nvmlPlatformInfo_t*) {
  return ncclSystemError;
}
ncclResult_t ncclNvmlGetCCStatus(ncclNvmlCCStatus* status) {
  memset(status, 0, sizeof *status);
  return ncclSuccess;
}
