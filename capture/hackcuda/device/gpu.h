// What programs ask about a GPU: the facts of the cluster's GPU file, and those of its compute
// capability.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_GPU_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_GPU_H_

#include <cstddef>

namespace drydock::hackcuda {

// What GPUs of a compute capability have in common (CUDA C++ Programming Guide, table "technical
// specifications per compute capability").
struct Capability {
  int number = 0;  // 90 = 9.0
  size_t shared_per_sm = 0, shared_per_block_optin = 0;
  int threads_per_sm = 0, blocks_per_sm = 0;
};
// The one of the process's GPU; an unknown one is treated as the next lower known.
const Capability& CapabilityOf(int number);
const Capability& OwnCapability();

inline constexpr size_t kDefaultSharedPerBlock = 49152;
inline constexpr size_t kSystemSharedPerBlock = 1024;
inline constexpr int kRegisters = 65536;

// cudaDeviceAttr and CUdevice_attribute, which have the same numbers.
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockX = 2,
  kMaxBlockY = 3,
  kMaxBlockZ = 4,
  kMaxGridX = 5,
  kMaxGridY = 6,
  kMaxGridZ = 7,
  kSharedPerBlock = 8,
  kConstantMemory = 9,
  kWarpSize = 10,
  kMaxPitch = 11,
  kRegistersPerBlock = 12,
  kClockKhz = 13,
  kTextureAlignment = 14,
  kGpuOverlap = 15,
  kSms = 16,
  kKernelTimeout = 17,
  kIntegrated = 18,
  kCanMapHostMemory = 19,
  kComputeMode = 20,
  kConcurrentKernels = 31,
  kEcc = 32,
  kPciBus = 33,
  kPciDevice = 34,
  kTcc = 35,
  kMemoryClockKhz = 36,
  kMemoryBusWidth = 37,
  kL2Bytes = 38,
  kMaxThreadsPerSm = 39,
  kAsyncEngines = 40,
  kUnifiedAddressing = 41,
  kPciDomain = 50,
  kMajor = 75,
  kMinor = 76,
  kStreamPriorities = 78,
  kGlobalL1 = 79,
  kLocalL1 = 80,
  kSharedPerSm = 81,
  kRegistersPerSm = 82,
  kManagedMemory = 83,
  kMultiGpuBoard = 84,
  kHostNativeAtomics = 86,
  kFp32PerFp64 = 87,
  kPageableAccess = 88,
  kConcurrentManagedAccess = 89,
  kComputePreemption = 90,
  kHostPointerForRegistered = 91,
  kCooperativeLaunch = 95,
  kSharedPerBlockOptin = 97,
  kHostRegister = 99,
  kPageableAccessUsesHostPageTables = 100,
  kDirectManagedAccess = 101,
  kVirtualMemory = 102,
  kPosixHandles = 103,
  kMaxBlocksPerSm = 106,
  kMaxPersistingL2 = 108,
  kAccessPolicyWindow = 109,
  kRdmaWithVirtualMemory = 110,
  kReservedSharedPerBlock = 111,
  kSparseArrays = 112,
  kReadOnlyHostRegister = 113,
  kTimelineSemaphores = 114,
  kMemoryPools = 115,
  kGpuDirectRdma = 116,
  kRdmaFlushOptions = 117,
  kRdmaWriteOrder = 118,
  kPoolHandleTypes = 119,
  kClusterLaunch = 120,
  kDeferredMapping = 121,
  kIpcEvents = 125,
  kUnifiedFunctions = 129,
  kNumaConfig = 130,
  kNumaId = 131,
  kMultiCast = 132,
  kFabricHandles = 128,
  kMps = 133,
  kHostNumaId = 134,
};

// Returns false for an attribute that nothing is known about.
bool AttributeOf(int attribute, int device, int* value);

// "0000:1b:00.0"
int PciBus(int device);
constexpr size_t kPciText = 13;
void PciText(int device, char* text, size_t size);

// Thread blocks of a kernel that fit an SM, if registers allow: those of a kernel are not known.
int BlocksPerSm(int threads, size_t shared_bytes);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_GPU_H_
