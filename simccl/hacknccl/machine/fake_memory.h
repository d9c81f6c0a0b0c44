// Addresses for device and pinned memory. Large blocks are reserved and never touched.
// Freeing returns the addresses. Thread-safe.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_
#define DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace drydock {

// Returns zeroed memory, or null if this machine has no memory or address space left.
void* AllocateFake(size_t bytes);
// Returns the bytes of the last call of AllocateFake that returned null since the last call of this
// function, 0: there was none.
size_t TakeExhaustion();
// Ignores null and addresses that are not from AllocateFake.
void FreeFake(void* address);

// Returns the bytes that are allocated now.
int64_t FakeMemoryInUse();

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_
