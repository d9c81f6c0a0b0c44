#include "capture/hackcuda/device/gpu.h"

#include <algorithm>
#include <cstdio>

#include "capture/hackcuda/device/log.h"

namespace drydock::hackcuda {
namespace {

constexpr Capability kCapabilities[] = {
    {70, 98304, 98304, 2048, 32},    {75, 65536, 65536, 1024, 16},
    {80, 167936, 166912, 2048, 32},  {86, 102400, 101376, 1536, 16},
    {89, 102400, 101376, 1536, 24},  {90, 233472, 232448, 2048, 32},
    {100, 233472, 232448, 2048, 32}, {103, 233472, 232448, 2048, 32},
    {120, 102400, 101376, 1536, 24},
};

// Of an H100. Programs print them.
constexpr int kBusBits = 5120;
constexpr int kBusKhz = 2619000;

}  // namespace

const Capability& CapabilityOf(int number) {
  const Capability* found = &kCapabilities[0];
  for (const Capability& capability : kCapabilities) {
    if (capability.number <= number) found = &capability;
  }
  return *found;
}

const Capability& OwnCapability() { return CapabilityOf(Process().compute_capability); }

int PciBus(int device) { return 0x10 + device * 8; }

void PciText(int device, char* text, size_t size) {
  snprintf(text, size, "0000:%02x:00.0", static_cast<unsigned>(PciBus(device)));
}

int BlocksPerSm(int threads, size_t shared_bytes) {
  const Capability& capability = OwnCapability();
  const int by_threads = capability.threads_per_sm / std::max(threads, 1);
  const auto by_shared = static_cast<int>(
      std::min<size_t>(64, capability.shared_per_sm / (shared_bytes + kSystemSharedPerBlock)));
  return std::clamp(std::min(by_threads, by_shared), 0, capability.blocks_per_sm);
}

bool AttributeOf(int attribute, int device, int* value) {
  const Capability& capability = OwnCapability();
  const auto set = [value](auto known) {
    *value = static_cast<int>(known);
    return true;
  };
  switch (attribute) {
    case kMaxThreadsPerBlock:
    case kMaxBlockX:
    case kMaxBlockY:
      return set(1024);
    case kMaxBlockZ:
      return set(64);
    case kMaxGridX:
      return set(2147483647);
    case kMaxGridY:
    case kMaxGridZ:
      return set(65535);
    case kMaxPitch:
      return set(2147483647);
    case kSharedPerBlock:
      return set(kDefaultSharedPerBlock);
    case kSharedPerBlockOptin:
      return set(capability.shared_per_block_optin);
    case kSharedPerSm:
      return set(capability.shared_per_sm);
    case kReservedSharedPerBlock:
      return set(kSystemSharedPerBlock);
    case kConstantMemory:
      return set(65536);
    case kWarpSize:
      return set(32);
    case kRegistersPerBlock:
    case kRegistersPerSm:
      return set(kRegisters);
    case kClockKhz:
      return set(Process().clock_khz);
    case kMemoryClockKhz:
      return set(kBusKhz);
    case kMemoryBusWidth:
      return set(kBusBits);
    case kTextureAlignment:
      return set(512);
    case kSms:
      return set(Process().sms);
    case kL2Bytes:
    case kMaxPersistingL2:
      return set(Process().l2_bytes);
    case kAccessPolicyWindow:
      return set(128 << 20);
    case kMaxThreadsPerSm:
      return set(capability.threads_per_sm);
    case kMaxBlocksPerSm:
      return set(capability.blocks_per_sm);
    case kMajor:
      return set(Process().compute_capability / 10);
    case kMinor:
      return set(Process().compute_capability % 10);
    case kPciBus:
      return set(PciBus(device));
    case kAsyncEngines:
      return set(3);
    case kFp32PerFp64:
      return set(2);
    case kClusterLaunch:
      return set(Process().compute_capability >= 90);
    case kGpuOverlap:
    case kCanMapHostMemory:
    case kConcurrentKernels:
    case kEcc:
    case kUnifiedAddressing:
    case kStreamPriorities:
    case kGlobalL1:
    case kLocalL1:
    case kManagedMemory:
    case kConcurrentManagedAccess:
    case kComputePreemption:
    case kHostPointerForRegistered:
    case kCooperativeLaunch:
    case kHostRegister:
    case kReadOnlyHostRegister:
    case kTimelineSemaphores:
    case kVirtualMemory:
    case kPosixHandles:
    case kUnifiedFunctions:
    case kIpcEvents:
      return set(1);
    // Memory pools, multicast and fabric handles are not offered, so programs do without them.
    case kMemoryPools:
    case kPoolHandleTypes:
    case kMultiCast:
    case kFabricHandles:
    case kGpuDirectRdma:
    case kRdmaWithVirtualMemory:
    case kRdmaFlushOptions:
    case kRdmaWriteOrder:
    case kSparseArrays:
    case kDeferredMapping:
    case kKernelTimeout:
    case kIntegrated:
    case kComputeMode:
    case kPciDevice:
    case kPciDomain:
    case kTcc:
    case kMultiGpuBoard:
    case kHostNativeAtomics:
    case kPageableAccess:
    case kPageableAccessUsesHostPageTables:
    case kDirectManagedAccess:
    case kNumaConfig:
    case kMps:
      return set(0);
    case kNumaId:
    case kHostNumaId:
      return set(-1);
    default:
      return false;
  }
}

}  // namespace drydock::hackcuda
