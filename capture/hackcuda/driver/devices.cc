#include <cstdio>
#include <cstring>

#include "capture/hackcuda/device/entry_points.h"
#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/gpu.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"
#include "capture/hackcuda/driver/abi.h"

namespace drydock::hackcuda::driver {
namespace {

// A context is a device; programs only pass it on.
constexpr uintptr_t kFirstContext = 0x1000;
void* ContextOf(int device) {
  return reinterpret_cast<void*>(kFirstContext + static_cast<uintptr_t>(device));
}
int DeviceOf(const void* context) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(context) - kFirstContext);
}

bool Exists(int device) { return device >= 0 && device < Process().gpus; }

constexpr struct {
  Result result;
  const char *name, *text;
} kTexts[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED",
     "operation not supported: a capture does not know this function"},
};

}  // namespace

HACKCUDA_EXPORT int cuInit(unsigned) { return Process().gpus > 0 ? kSuccess : kNoDevice; }
HACKCUDA_EXPORT int cuDriverGetVersion(int* version) {
  *version = hackcuda_version;
  return kSuccess;
}
HACKCUDA_EXPORT int cuDeviceGetCount(int* count) {
  *count = Process().gpus;
  return kSuccess;
}
HACKCUDA_EXPORT int cuDeviceGet(int* device, int ordinal) {
  if (!Exists(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
HACKCUDA_EXPORT int cuDeviceGetName(char* text, int bytes, int) {
  snprintf(text, static_cast<size_t>(bytes), "%s", Process().name);
  return kSuccess;
}
HACKCUDA_EXPORT int cuDeviceGetUuid_v2(void* uuid, int device) {
  memset(uuid, 0x40 + device, 16);
  return kSuccess;
}
HACKCUDA_EXPORT int cuDeviceGetUuid(void* uuid, int device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
HACKCUDA_EXPORT int cuDeviceGetPCIBusId(char* text, int bytes, int device) {
  if (!Exists(device)) return kInvalidDevice;
  PciText(device, text, static_cast<size_t>(bytes));
  return kSuccess;
}
HACKCUDA_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = static_cast<size_t>(Process().memory_bytes);
  return kSuccess;
}
HACKCUDA_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (!Exists(device)) return kInvalidDevice;
  if (AttributeOf(attribute, device, value)) return kSuccess;
  char name[64];
  snprintf(name, sizeof name, "cuDeviceGetAttribute(%d)", attribute);
  Refuse("libcuda", name);
  return kInvalidValue;
}
HACKCUDA_EXPORT int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer && Process().nvlink != 0 ? 1 : 0;
  return kSuccess;
}

HACKCUDA_EXPORT int cuCtxGetCurrent(void** context) {
  *context = ContextOf(Device());
  return kSuccess;
}
HACKCUDA_EXPORT int cuCtxSetCurrent(const void* context) {
  if (context != nullptr && Exists(DeviceOf(context))) SetDevice(DeviceOf(context));
  return kSuccess;
}
HACKCUDA_EXPORT int cuCtxGetDevice(int* device) {
  *device = Device();
  return kSuccess;
}
HACKCUDA_EXPORT int cuCtxPushCurrent_v2(const void* context) { return cuCtxSetCurrent(context); }
HACKCUDA_EXPORT int cuCtxPopCurrent_v2(void** context) {
  if (context != nullptr) *context = ContextOf(Device());
  return kSuccess;
}
HACKCUDA_EXPORT int cuCtxSynchronize() {
  Log(EntryKind::kSyncDevice, {});
  return kSuccess;
}
HACKCUDA_EXPORT int cuCtxSetLimit(int, size_t) { return kSuccess; }
HACKCUDA_EXPORT int cuCtxGetLimit(size_t* value, int) {
  *value = 1 << 20;
  return kSuccess;
}
HACKCUDA_EXPORT int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return kSuccess;
}
HACKCUDA_EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (!Exists(device)) return kInvalidDevice;
  *context = ContextOf(device);
  return kSuccess;
}
HACKCUDA_EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
HACKCUDA_EXPORT int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* is_active) {
  *flags = 0;
  *is_active = 1;
  return kSuccess;
}

HACKCUDA_EXPORT int cuGetErrorName(int error, const char** name) {
  *name = "CUDA_ERROR_UNKNOWN";
  for (const auto& text : kTexts) {
    if (text.result == error) *name = text.name;
  }
  return kSuccess;
}
HACKCUDA_EXPORT int cuGetErrorString(int error, const char** message) {
  *message = "unknown error";
  for (const auto& text : kTexts) {
    if (text.result == error) *message = text.text;
  }
  return kSuccess;
}

HACKCUDA_EXPORT int cuGetProcAddress_v2(const char* name, void** function, int, uint64_t,
                                        int* found) {
  *function = DriverFunction(name);
  if (found != nullptr) *found = *function != nullptr ? 0 : 1;
  return *function != nullptr ? kSuccess : kNotFound;
}

}  // namespace drydock::hackcuda::driver
