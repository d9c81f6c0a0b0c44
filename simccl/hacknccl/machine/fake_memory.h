// Addresses for device and pinned memory. Large blocks are reserved and never touched.
// Freeing returns the addresses. Thread-safe.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_
#define DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace drydock {

// Returns zeroed memory, or null if the address space is exhausted.
void* AllocateFake(size_t bytes);
// Ignores null and addresses that are not from AllocateFake.
void FreeFake(void* address);

// Returns the bytes that are allocated now.
int64_t FakeMemoryInUse();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_
