#include "capture/hackcuda/device/memory.h"

#include <cstring>

#include "capture/hackcuda/device/copies.h"
#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"
#include "capture/hackcuda/driver/abi.h"

namespace drydock::hackcuda::driver {
namespace {

using capture::Side;

constexpr size_t kGranularity = size_t{2} << 20;

// Memory without addresses.
struct Piece {
  size_t bytes = 0;
  int device = 0;
};

void* Pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

HACKCUDA_EXPORT int cuMemAlloc_v2(uintptr_t* address, size_t bytes) {
  void* at = AllocateDevice(bytes);
  if (at == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<uintptr_t>(at);
  Log(EntryKind::kAllocate, {static_cast<int64_t>(*address), static_cast<int64_t>(bytes)});
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemFree_v2(uintptr_t address) {
  if (address == 0) return kSuccess;
  if (!FreeDevice(Pointer(address))) return kInvalidValue;
  Log(EntryKind::kFree, {static_cast<int64_t>(address)});
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemGetInfo_v2(size_t* left, size_t* total) {
  *total = static_cast<size_t>(Process().memory_bytes);
  *left = UsableMemory() - UsedMemory(Device());
  return kSuccess;
}

// Virtual memory, which PyTorch's expandable segments use.
HACKCUDA_EXPORT int cuMemGetAllocationGranularity(size_t* bytes, const void*, int) {
  *bytes = kGranularity;
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemAddressReserve(uintptr_t* address, size_t bytes, size_t, uintptr_t,
                                        unsigned long long) {
  void* at = ReserveAddresses(bytes);
  if (at == nullptr) return kOutOfMemory;
  *address = reinterpret_cast<uintptr_t>(at);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemAddressFree(uintptr_t address, size_t) {
  return FreeAddresses(Pointer(address)) ? kSuccess : kInvalidValue;
}
HACKCUDA_EXPORT int cuMemCreate(uintptr_t* handle, size_t bytes,
                                const AllocationProperties* properties, unsigned long long) {
  if (!TakeMemory(properties->location_id, bytes)) return kOutOfMemory;
  *handle = reinterpret_cast<uintptr_t>(new Piece{bytes, properties->location_id});
  Log(EntryKind::kAllocate, {static_cast<int64_t>(*handle), static_cast<int64_t>(bytes)});
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemRelease(uintptr_t handle) {
  auto* piece = reinterpret_cast<Piece*>(handle);
  GiveMemory(piece->device, piece->bytes);
  Log(EntryKind::kFree, {static_cast<int64_t>(handle)});
  delete piece;
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemMap(uintptr_t, size_t, size_t, uintptr_t, unsigned long long) {
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemUnmap(uintptr_t, size_t) { return kSuccess; }
HACKCUDA_EXPORT int cuMemSetAccess(uintptr_t, size_t, const void*, size_t) { return kSuccess; }

HACKCUDA_EXPORT int cuMemcpyHtoD_v2(uintptr_t to, const void* from, size_t bytes) {
  Copy(Pointer(to), from, bytes, nullptr, Waits::kAlways);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemcpyDtoH_v2(void* to, uintptr_t from, size_t bytes) {
  Copy(to, Pointer(from), bytes, nullptr, Waits::kAlways);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemcpyHtoDAsync_v2(uintptr_t to, const void* from, size_t bytes,
                                         const void* stream) {
  Copy(Pointer(to), from, bytes, stream, Waits::kIfNotPinned);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemcpyDtoHAsync_v2(void* to, uintptr_t from, size_t bytes,
                                         const void* stream) {
  Copy(to, Pointer(from), bytes, stream, Waits::kIfNotPinned);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t bytes,
                                         const void* stream) {
  Copy(Pointer(to), Pointer(from), bytes, stream, Waits::kNever);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemcpyAsync(uintptr_t to, uintptr_t from, size_t bytes, const void* stream) {
  Copy(Pointer(to), Pointer(from), bytes, stream, Waits::kIfNotPinned);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemsetD8Async(uintptr_t to, unsigned char value, size_t count,
                                    const void* stream) {
  Fill(Pointer(to), value, count, stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemsetD32Async(uintptr_t to, unsigned value, size_t count,
                                     const void* stream) {
  Fill(Pointer(to), 0, count * sizeof value, stream);
  if (count * sizeof value > kKept) return kSuccess;
  for (size_t i = 0; i < count; ++i) static_cast<unsigned*>(Pointer(to))[i] = value;
  return kSuccess;
}

HACKCUDA_EXPORT int cuPointerGetAttribute(void* value, int attribute, uintptr_t address) {
  const Place place = PlaceOf(Pointer(address));
  if (place.base == nullptr) return kInvalidValue;
  const auto set = [value](auto known) {
    memcpy(value, &known, sizeof known);
    return kSuccess;
  };
  switch (attribute) {
    case kDevicePointer:
    case kHostPointer:
      return set(address);
    case kContext:
      return set(uintptr_t{0x1000} + static_cast<uintptr_t>(place.device < 0 ? 0 : place.device));
    case kMemoryType:
      return set(place.side == Side::kDevice ? kDeviceMemory : kHostMemory);
    case kDeviceOrdinal:
      return set(place.device);
    case kRangeStart:
      return set(reinterpret_cast<uintptr_t>(place.base));
    case kRangeSize:
      return set(place.bytes);
    case kBufferId:
      return set(static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(place.base)));
    case kIsManaged:
      return set(0);
    case kIsMapped:
      return set(1);
    default:
      Refuse("libcuda", "cuPointerGetAttribute of an unknown attribute");
      return kInvalidValue;
  }
}
HACKCUDA_EXPORT int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                           uintptr_t address) {
  for (unsigned i = 0; i < count; ++i) cuPointerGetAttribute(values[i], attributes[i], address);
  return kSuccess;
}
HACKCUDA_EXPORT int cuMemGetAddressRange_v2(uintptr_t* base, size_t* bytes, uintptr_t address) {
  const Place place = PlaceOf(Pointer(address));
  if (place.base == nullptr) return kInvalidValue;
  if (base != nullptr) *base = reinterpret_cast<uintptr_t>(place.base);
  if (bytes != nullptr) *bytes = place.bytes;
  return kSuccess;
}

}  // namespace drydock::hackcuda::driver
