// Kernels of the program, by the function that launches them.
//
// Thread-safe.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_KERNELS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace drydock::hackcuda {

struct LaunchShape {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  size_t shared_bytes = 0;
};

// `function` stays valid as long as the process: it is the host's function, or a handle.
void NameKernel(const void* function, const char* name);
void LaunchKernel(const void* function, const LaunchShape& shape, const void* stream);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_KERNELS_H_
