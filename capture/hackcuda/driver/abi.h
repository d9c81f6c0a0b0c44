// What libcuda's callers pass and read, as far as libhackcuda looks at it: NVIDIA's public driver
// interface.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DRIVER_ABI_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DRIVER_ABI_H_

#include <cstddef>
#include <cstdint>

namespace drydock::hackcuda::driver {

enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kNotFound = 500,
  kNotSupported = 801,
};

// CUlaunchConfig and CUlaunchAttribute.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned cluster[3];
  } value;
};
inline constexpr int kClusterDimension = 4;
struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// CUmemAllocationProp.
struct AllocationProperties {
  int type, handle_types;
  int location_type, location_id;
  void* windows_metadata;
  unsigned char compression, rdma_capable;
  unsigned short usage;
  unsigned char reserved[4];
};

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

// CUpointer_attribute.
enum PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kRangeStart = 11,
  kRangeSize = 12,
  kIsMapped = 13,
};
inline constexpr unsigned kHostMemory = 1, kDeviceMemory = 2;

// CUfunction_attribute.
inline constexpr int kFunctionMaxThreads = 0, kFunctionRegisters = 4, kFunctionPtxVersion = 5,
                     kFunctionBinaryVersion = 6, kFunctionMaxDynamicShared = 8;

}  // namespace drydock::hackcuda::driver

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DRIVER_ABI_H_
