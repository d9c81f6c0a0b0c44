// The memory of the pretended GPUs: address space of this process, of the size that a GPU has. A
// page takes room only once something is written to it, so that a GPU of 80 GB costs what the
// program really reads back.
//
// The host can read and write it. Copies and fills of at most kKept bytes happen; what larger ones
// would have written is unknown, and reads as zeros.
//
// Thread-safe.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_MEMORY_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "capture/log/entry.h"

namespace drydock::hackcuda {

inline constexpr size_t kKept = size_t{64} << 10;

// The device of the calling thread. REQUIRES (SetDevice): it exists.
int Device();
void SetDevice(int device);

// On the current device; null if it is full.
void* AllocateDevice(size_t bytes);
// Returns false if nothing was allocated at the address.
bool FreeDevice(void* address);

// Pinned memory of the host.
void* AllocateHost(size_t bytes);
bool FreeHost(void* address);
// Memory of the program that it pins itself.
void PinHost(void* address, size_t bytes);
void UnpinHost(void* address);

// Addresses without memory, and memory without addresses (cuMemAddressReserve, cuMemCreate).
void* ReserveAddresses(size_t bytes);
bool FreeAddresses(void* address);
// Returns false if the device has not this many bytes left.
bool TakeMemory(int device, size_t bytes);
void GiveMemory(int device, size_t bytes);

size_t UsedMemory(int device);
size_t UsableMemory();  // of each device: without what the driver takes

// What lies at an address.
struct Place {
  capture::Side side = capture::Side::kHost;
  int device = -1;
  void* base = nullptr;  // of the allocation; null for memory of the program
  size_t bytes = 0;
};
Place PlaceOf(const void* address);

void CopyBytes(void* to, const void* from, size_t bytes);
void FillBytes(void* to, int value, size_t bytes);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_MEMORY_H_
