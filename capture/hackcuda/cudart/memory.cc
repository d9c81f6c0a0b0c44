#include "capture/hackcuda/device/memory.h"

#include <cstring>

#include "capture/hackcuda/cudart/runtime.h"
#include "capture/hackcuda/device/copies.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"

namespace drydock::hackcuda::cudart {
namespace {

int64_t Number(const void* address) { return reinterpret_cast<int64_t>(address); }

}  // namespace

HACKCUDA_EXPORT int cudaMalloc(void** address, size_t bytes) {
  *address = AllocateDevice(bytes);
  if (*address == nullptr) return Return(kMemoryAllocation);
  Log(EntryKind::kAllocate, {Number(*address), static_cast<int64_t>(bytes)});
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMallocManaged(void** address, size_t bytes, unsigned) {
  return cudaMalloc(address, bytes);
}
HACKCUDA_EXPORT int cudaFree(void* address) {
  if (address == nullptr) return kSuccess;
  if (!FreeDevice(address)) return Return(kInvalidValue);
  Log(EntryKind::kFree, {Number(address)});
  return kSuccess;
}
// Memory pools: a device has one, which keeps nothing that is free.
HACKCUDA_EXPORT int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  static char pools[capture::CapturedProcess::kMaxGpus];
  if (device < 0 || device >= Process().gpus) return Return(kInvalidDevice);
  *pool = &pools[device];
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMallocAsync(void** address, size_t bytes, void*) {
  return cudaMalloc(address, bytes);
}
HACKCUDA_EXPORT int cudaFreeAsync(void* address, void*) { return cudaFree(address); }
HACKCUDA_EXPORT int cudaMemPoolTrimTo(void*, size_t) { return kSuccess; }
HACKCUDA_EXPORT int cudaMemPoolSetAccess(void*, const void*, size_t) { return kSuccess; }
HACKCUDA_EXPORT int cudaMemPoolSetAttribute(void*, int, void*) { return kSuccess; }
HACKCUDA_EXPORT int cudaMemPoolGetAttribute(void*, int attribute, void* value) {
  const uint64_t used = UsedMemory(Device());
  if (attribute < 1 || attribute > kPoolUsedHigh) return Return(kInvalidValue);
  if (attribute < kPoolReleaseThreshold) {
    *static_cast<int*>(value) = 1;  // blocks are used again
  } else {
    *static_cast<uint64_t*>(value) = attribute == kPoolReleaseThreshold ? 0 : used;
  }
  return kSuccess;
}

HACKCUDA_EXPORT int cudaMemGetInfo(size_t* left, size_t* total) {
  *total = static_cast<size_t>(Process().memory_bytes);
  *left = UsableMemory() - UsedMemory(Device());
  return kSuccess;
}

HACKCUDA_EXPORT int cudaHostAlloc(void** address, size_t bytes, unsigned) {
  *address = AllocateHost(bytes);
  if (*address == nullptr) return Return(kMemoryAllocation);
  Log(EntryKind::kAllocateHost, {Number(*address), static_cast<int64_t>(bytes)});
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMallocHost(void** address, size_t bytes) {
  return cudaHostAlloc(address, bytes, 0);
}
HACKCUDA_EXPORT int cudaFreeHost(void* address) {
  if (address == nullptr || FreeHost(address)) return kSuccess;
  return Return(kInvalidValue);
}
HACKCUDA_EXPORT int cudaHostRegister(void* address, size_t bytes, unsigned) {
  PinHost(address, bytes);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaHostUnregister(void* address) {
  UnpinHost(address);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaPointerGetAttributes(PointerAttributes* attributes, const void* address) {
  const Place place = PlaceOf(address);
  memset(attributes, 0, sizeof *attributes);
  void* own = const_cast<void*>(address);
  switch (place.side) {
    case capture::Side::kDevice:
      *attributes = {kMemoryDevice, place.device, own, nullptr};
      break;
    case capture::Side::kPinned:
      *attributes = {kMemoryHost, Device(), own, own};
      break;
    case capture::Side::kHost:
      *attributes = {kMemoryUnregistered, -1, nullptr, own};
      break;
  }
  return kSuccess;
}

HACKCUDA_EXPORT int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int, void* stream) {
  Copy(to, from, bytes, stream, Waits::kIfNotPinned);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemcpy(void* to, const void* from, size_t bytes, int) {
  Copy(to, from, bytes, nullptr, Waits::kAlways);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                        void* stream) {
  Copy(to, from, bytes, stream, Waits::kNever);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                      size_t from_pitch, size_t width, size_t rows, int,
                                      void* stream) {
  CopyRows(to, to_pitch, from, from_pitch, width, rows, stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemsetAsync(void* to, int value, size_t bytes, void* stream) {
  Fill(to, value, bytes, stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemset(void* to, int value, size_t bytes) {
  Fill(to, value, bytes, nullptr);
  return kSuccess;
}

}  // namespace drydock::hackcuda::cudart
