#include <cstdio>
#include <cstring>

#include "capture/hackcuda/cudart/runtime.h"
#include "capture/hackcuda/device/gpu.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"

namespace drydock::hackcuda::cudart {
namespace {

Error CheckDevice(int device) {
  if (Process().gpus == 0) return kNoDevice;
  return device >= 0 && device < Process().gpus ? kSuccess : kInvalidDevice;
}

int Known(int attribute, int device) {
  int value = 0;
  AttributeOf(attribute, device, &value);
  return value;
}

// The fields that both versions have.
template <typename Properties>
void Fill(int device, Properties* p) {
  const auto known = [device](int attribute) { return Known(attribute, device); };
  const auto size = [&known](int attribute) { return static_cast<size_t>(known(attribute)); };
  snprintf(p->name, sizeof p->name, "%s", Process().name);
  memset(p->uuid, 0x40 + device, sizeof p->uuid);
  p->total_memory = static_cast<size_t>(Process().memory_bytes);
  p->shared_per_block = size(kSharedPerBlock);
  p->registers_per_block = known(kRegistersPerBlock);
  p->warp_size = known(kWarpSize);
  p->memory_pitch = size(kMaxPitch);
  p->max_threads_per_block = known(kMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    p->max_threads[i] = known(kMaxBlockX + i);
    p->max_grid[i] = known(kMaxGridX + i);
  }
  p->constant_memory = size(kConstantMemory);
  p->major = known(kMajor);
  p->minor = known(kMinor);
  p->texture_alignment = size(kTextureAlignment);
  p->sms = known(kSms);
  p->can_map_host_memory = known(kCanMapHostMemory);
  p->concurrent_kernels = known(kConcurrentKernels);
  p->ecc = known(kEcc);
  p->pci_bus = known(kPciBus);
  p->async_engines = known(kAsyncEngines);
  p->unified_addressing = known(kUnifiedAddressing);
  p->memory_bus_width = known(kMemoryBusWidth);
  p->l2_bytes = known(kL2Bytes);
  p->max_persisting_l2 = known(kMaxPersistingL2);
  p->max_threads_per_sm = known(kMaxThreadsPerSm);
  p->stream_priorities = known(kStreamPriorities);
  p->global_l1 = known(kGlobalL1);
  p->local_l1 = known(kLocalL1);
  p->shared_per_sm = size(kSharedPerSm);
  p->registers_per_sm = known(kRegistersPerSm);
  p->managed_memory = known(kManagedMemory);
  p->concurrent_managed_access = known(kConcurrentManagedAccess);
  p->compute_preemption = known(kComputePreemption);
  p->host_pointer_for_registered = known(kHostPointerForRegistered);
  p->cooperative_launch = known(kCooperativeLaunch);
  p->shared_per_block_optin = size(kSharedPerBlockOptin);
  p->max_blocks_per_sm = known(kMaxBlocksPerSm);
  p->access_policy_window = known(kAccessPolicyWindow);
  p->reserved_shared_per_block = size(kReservedSharedPerBlock);
  p->host_register = known(kHostRegister);
  p->read_only_host_register = known(kReadOnlyHostRegister);
  p->timeline_semaphores = known(kTimelineSemaphores);
  p->ipc_events = known(kIpcEvents);
  p->cluster_launch = known(kClusterLaunch);
  p->unified_functions = known(kUnifiedFunctions);
}

Error GetProperties(void* properties, int device) {
  if (const Error error = CheckDevice(device); error != kSuccess) return Return(error);
  if (hackcuda_version >= 13000) {
    Properties13 p = {};
    Fill(device, &p);
    p.numa_id = p.host_numa_id = -1;
    memcpy(properties, &p, sizeof p);
  } else {
    Properties12 p = {};
    Fill(device, &p);
    p.clock_khz = Known(kClockKhz, device);
    p.memory_clock_khz = Known(kMemoryClockKhz, device);
    p.device_overlap = Known(kGpuOverlap, device);
    p.fp32_per_fp64 = Known(kFp32PerFp64, device);
    memcpy(properties, &p, sizeof p);
  }
  return kSuccess;
}

}  // namespace

HACKCUDA_EXPORT int cudaGetDeviceCount(int* count) {
  *count = Process().gpus;
  return Return(*count == 0 ? kNoDevice : kSuccess);
}
HACKCUDA_EXPORT int cudaGetDevice(int* device) {
  *device = Device();
  return kSuccess;
}
HACKCUDA_EXPORT int cudaSetDevice(int device) {
  const Error error = CheckDevice(device);
  if (error == kSuccess) SetDevice(device);
  return Return(error);
}
HACKCUDA_EXPORT int cudaDriverGetVersion(int* version) {
  *version = hackcuda_version;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaRuntimeGetVersion(int* version) {
  *version = hackcuda_version;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaGetDeviceProperties(void* properties, int device) {
  return GetProperties(properties, device);
}
HACKCUDA_EXPORT int cudaGetDeviceProperties_v2(void* properties, int device) {
  return GetProperties(properties, device);
}
HACKCUDA_EXPORT int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (const Error error = CheckDevice(device); error != kSuccess) return Return(error);
  if (AttributeOf(attribute, device, value)) return kSuccess;
  char name[64];
  snprintf(name, sizeof name, "cudaDeviceGetAttribute(%d)", attribute);
  Refuse("libcudart", name);
  return Return(kInvalidValue);
}
HACKCUDA_EXPORT int cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  if (const Error error = CheckDevice(device); error != kSuccess) return Return(error);
  PciText(device, text, static_cast<size_t>(bytes));
  return kSuccess;
}
HACKCUDA_EXPORT int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  for (int i = 0; i < Process().gpus; ++i) {
    char own[kPciText];
    PciText(i, own, sizeof own);
    if (strcasecmp(own, text) != 0) continue;
    *device = i;
    return kSuccess;
  }
  return Return(kInvalidDevice);
}
HACKCUDA_EXPORT int cudaDeviceSynchronize() {
  Log(EntryKind::kSyncDevice, {});
  return kSuccess;
}
HACKCUDA_EXPORT int cudaDeviceReset() { return cudaDeviceSynchronize(); }
HACKCUDA_EXPORT int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer && Process().nvlink != 0 ? 1 : 0;
  return Return(CheckDevice(device) != kSuccess ? CheckDevice(device) : CheckDevice(peer));
}
HACKCUDA_EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return Return(CheckDevice(peer));
}
HACKCUDA_EXPORT int cudaProfilerStart() { return kSuccess; }
HACKCUDA_EXPORT int cudaProfilerStop() { return kSuccess; }
HACKCUDA_EXPORT int cudaDeviceSetLimit(int, size_t) { return kSuccess; }
HACKCUDA_EXPORT int cudaDeviceGetLimit(size_t* value, int) {
  *value = 1024;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaDeviceSetCacheConfig(int) { return kSuccess; }
HACKCUDA_EXPORT int cudaSetDeviceFlags(unsigned) { return kSuccess; }
HACKCUDA_EXPORT int cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return kSuccess;
}

}  // namespace drydock::hackcuda::cudart
