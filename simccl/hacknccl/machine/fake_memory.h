// Addresses that stand for device and pinned memory. Big blocks are reserved, never touched;
// everything is really returned when freed.
#ifndef DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_
#define DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_

#include <cstddef>

namespace drydock {

// Zeroed on first touch; nullptr when address space ran out. Thread-safe.
void* AllocateFake(size_t bytes);
// Addresses that AllocateFake did not give are ignored, as nullptr is.
void FreeFake(void* address);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_HACKNCCL_MACHINE_FAKE_MEMORY_H_
