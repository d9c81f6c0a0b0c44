// libnvidia-ml: what programs ask about the GPUs besides computing with them.
#include <cstdio>
#include <cstring>

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/gpu.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"

namespace drydock::hackcuda {
namespace {

enum Result : int { kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6 };

// A device is its number plus one, so that no handle is null.
void* HandleOf(int device) { return reinterpret_cast<void*>(static_cast<uintptr_t>(device) + 1); }
int DeviceOf(const void* handle) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(handle)) - 1;
}

struct MemoryInfo {
  unsigned long long total, free, used;
};

constexpr int kSwitch = 2;  // NVML_NVLINK_DEVICE_TYPE_SWITCH

}  // namespace

HACKCUDA_EXPORT int nvmlInit_v2() { return kSuccess; }
HACKCUDA_EXPORT int nvmlInit() { return kSuccess; }
HACKCUDA_EXPORT int nvmlInitWithFlags(unsigned) { return kSuccess; }
HACKCUDA_EXPORT int nvmlShutdown() { return kSuccess; }
HACKCUDA_EXPORT const char* nvmlErrorString(int error) {
  return error == kSuccess ? "success" : "not supported in a capture";
}
HACKCUDA_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(Process().gpus);
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  if (index >= static_cast<unsigned>(Process().gpus)) return kInvalidArgument;
  *handle = HandleOf(static_cast<int>(index));
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  for (int device = 0; device < Process().gpus; ++device) {
    char own[kPciText];
    PciText(device, own, sizeof own);
    // NVML writes the domain with eight digits, CUDA with four.
    const size_t length = strlen(text), tail = sizeof own - 1 - 4;
    if (length < tail || strcasecmp(text + length - tail, own + 4) != 0) continue;
    *handle = HandleOf(device);
    return kSuccess;
  }
  return kNotFound;
}
HACKCUDA_EXPORT int nvmlDeviceGetIndex(const void* handle, unsigned* index) {
  *index = static_cast<unsigned>(DeviceOf(handle));
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetName(const void*, char* text, unsigned bytes) {
  snprintf(text, bytes, "%s", Process().name);
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetCudaComputeCapability(const void*, int* major, int* minor) {
  *major = Process().compute_capability / 10;
  *minor = Process().compute_capability % 10;
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetMemoryInfo(const void* handle, MemoryInfo* info) {
  info->total = static_cast<unsigned long long>(Process().memory_bytes);
  info->free = UsableMemory() - UsedMemory(DeviceOf(handle));
  info->used = info->total - info->free;
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetComputeRunningProcesses(const void*, unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(const void*, unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetNvLinkState(const void*, unsigned, unsigned* is_active) {
  *is_active = static_cast<unsigned>(Process().nvlink);
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(const void*, unsigned, int* type) {
  if (Process().nvlink == 0) return kNotSupported;
  *type = kSwitch;
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(const void*, unsigned, void*) {
  return kNotSupported;
}
HACKCUDA_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = hackcuda_version;
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlSystemGetCudaDriverVersion(int* version) {
  *version = hackcuda_version;
  return kSuccess;
}
HACKCUDA_EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  snprintf(text, bytes, "%s", Process().driver);
  return kSuccess;
}

}  // namespace drydock::hackcuda
