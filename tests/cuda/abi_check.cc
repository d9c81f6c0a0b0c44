// Compares what libhackcuda takes for CUDA's interface with CUDA's own headers. It only has to
// compile (tests/cuda/abi_test.py).
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "capture/hackcuda/cudart/abi.h"
#include "capture/hackcuda/device/gpu.h"
#include "capture/hackcuda/driver/abi.h"

namespace hackcuda = drydock::hackcuda;
namespace runtime = drydock::hackcuda::cudart;
namespace driver = drydock::hackcuda::driver;

#if CUDART_VERSION >= 13000
using Properties = runtime::Properties13;
#else
using Properties = runtime::Properties12;
#endif

#define SAME_PLACE(Own, own, Theirs, theirs) \
  static_assert(offsetof(Own, own) == offsetof(Theirs, theirs), #own)
#define SAME_SIZE(Own, Theirs) static_assert(sizeof(Own) == sizeof(Theirs), #Own)
#define SAME_NUMBER(own, theirs) \
  static_assert(static_cast<long>(own) == static_cast<long>(theirs), #own)

SAME_SIZE(Properties, cudaDeviceProp);
#define SAME_PROPERTY(own, theirs) SAME_PLACE(Properties, own, cudaDeviceProp, theirs)
SAME_PROPERTY(uuid, uuid);
SAME_PROPERTY(total_memory, totalGlobalMem);
SAME_PROPERTY(shared_per_block, sharedMemPerBlock);
SAME_PROPERTY(registers_per_block, regsPerBlock);
SAME_PROPERTY(warp_size, warpSize);
SAME_PROPERTY(memory_pitch, memPitch);
SAME_PROPERTY(max_threads_per_block, maxThreadsPerBlock);
SAME_PROPERTY(max_threads, maxThreadsDim);
SAME_PROPERTY(max_grid, maxGridSize);
SAME_PROPERTY(constant_memory, totalConstMem);
SAME_PROPERTY(major, major);
SAME_PROPERTY(minor, minor);
SAME_PROPERTY(texture_alignment, textureAlignment);
SAME_PROPERTY(sms, multiProcessorCount);
SAME_PROPERTY(can_map_host_memory, canMapHostMemory);
SAME_PROPERTY(surface_alignment, surfaceAlignment);
SAME_PROPERTY(concurrent_kernels, concurrentKernels);
SAME_PROPERTY(ecc, ECCEnabled);
SAME_PROPERTY(pci_bus, pciBusID);
SAME_PROPERTY(async_engines, asyncEngineCount);
SAME_PROPERTY(unified_addressing, unifiedAddressing);
SAME_PROPERTY(memory_bus_width, memoryBusWidth);
SAME_PROPERTY(l2_bytes, l2CacheSize);
SAME_PROPERTY(max_persisting_l2, persistingL2CacheMaxSize);
SAME_PROPERTY(max_threads_per_sm, maxThreadsPerMultiProcessor);
SAME_PROPERTY(stream_priorities, streamPrioritiesSupported);
SAME_PROPERTY(global_l1, globalL1CacheSupported);
SAME_PROPERTY(local_l1, localL1CacheSupported);
SAME_PROPERTY(shared_per_sm, sharedMemPerMultiprocessor);
SAME_PROPERTY(registers_per_sm, regsPerMultiprocessor);
SAME_PROPERTY(managed_memory, managedMemory);
SAME_PROPERTY(concurrent_managed_access, concurrentManagedAccess);
SAME_PROPERTY(compute_preemption, computePreemptionSupported);
SAME_PROPERTY(host_pointer_for_registered, canUseHostPointerForRegisteredMem);
SAME_PROPERTY(cooperative_launch, cooperativeLaunch);
SAME_PROPERTY(shared_per_block_optin, sharedMemPerBlockOptin);
SAME_PROPERTY(max_blocks_per_sm, maxBlocksPerMultiProcessor);
SAME_PROPERTY(access_policy_window, accessPolicyMaxWindowSize);
SAME_PROPERTY(reserved_shared_per_block, reservedSharedMemPerBlock);
SAME_PROPERTY(host_register, hostRegisterSupported);
SAME_PROPERTY(read_only_host_register, hostRegisterReadOnlySupported);
SAME_PROPERTY(timeline_semaphores, timelineSemaphoreInteropSupported);
SAME_PROPERTY(ipc_events, ipcEventSupported);
SAME_PROPERTY(cluster_launch, clusterLaunch);
SAME_PROPERTY(unified_functions, unifiedFunctionPointers);
#if CUDART_VERSION >= 13000
SAME_PROPERTY(host_numa_id, hostNumaId);
#else
SAME_PROPERTY(clock_khz, clockRate);
SAME_PROPERTY(memory_clock_khz, memoryClockRate);
SAME_PROPERTY(device_overlap, deviceOverlap);
SAME_PROPERTY(fp32_per_fp64, singleToDoublePrecisionPerfRatio);
#endif

SAME_SIZE(runtime::LaunchConfig, cudaLaunchConfig_t);
SAME_SIZE(runtime::LaunchAttribute, cudaLaunchAttribute);
SAME_PLACE(runtime::LaunchConfig, grid, cudaLaunchConfig_t, gridDim);
SAME_PLACE(runtime::LaunchConfig, block, cudaLaunchConfig_t, blockDim);
SAME_PLACE(runtime::LaunchConfig, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes);
SAME_PLACE(runtime::LaunchConfig, stream, cudaLaunchConfig_t, stream);
SAME_PLACE(runtime::LaunchConfig, attributes, cudaLaunchConfig_t, attrs);
SAME_PLACE(runtime::LaunchConfig, attribute_count, cudaLaunchConfig_t, numAttrs);
SAME_PLACE(runtime::LaunchAttribute, value, cudaLaunchAttribute, val);
SAME_NUMBER(runtime::kClusterDimension, cudaLaunchAttributeClusterDimension);

// CUDA 13 adds bytes at the end, which are left alone.
static_assert(sizeof(runtime::PointerAttributes) <= sizeof(cudaPointerAttributes));
SAME_PLACE(runtime::PointerAttributes, device, cudaPointerAttributes, device);
SAME_PLACE(runtime::PointerAttributes, device_pointer, cudaPointerAttributes, devicePointer);
SAME_PLACE(runtime::PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
SAME_NUMBER(runtime::kMemoryUnregistered, cudaMemoryTypeUnregistered);
SAME_NUMBER(runtime::kMemoryHost, cudaMemoryTypeHost);
SAME_NUMBER(runtime::kMemoryDevice, cudaMemoryTypeDevice);

SAME_SIZE(runtime::FunctionAttributes, cudaFuncAttributes);
SAME_PLACE(runtime::FunctionAttributes, max_threads_per_block, cudaFuncAttributes,
           maxThreadsPerBlock);
SAME_PLACE(runtime::FunctionAttributes, registers, cudaFuncAttributes, numRegs);
SAME_PLACE(runtime::FunctionAttributes, ptx_version, cudaFuncAttributes, ptxVersion);
SAME_PLACE(runtime::FunctionAttributes, binary_version, cudaFuncAttributes, binaryVersion);
SAME_PLACE(runtime::FunctionAttributes, max_dynamic_shared_bytes, cudaFuncAttributes,
           maxDynamicSharedSizeBytes);

SAME_NUMBER(runtime::kSuccess, cudaSuccess);
SAME_NUMBER(runtime::kInvalidValue, cudaErrorInvalidValue);
SAME_NUMBER(runtime::kMemoryAllocation, cudaErrorMemoryAllocation);
SAME_NUMBER(runtime::kNoDevice, cudaErrorNoDevice);
SAME_NUMBER(runtime::kInvalidDevice, cudaErrorInvalidDevice);
SAME_NUMBER(runtime::kInvalidResourceHandle, cudaErrorInvalidResourceHandle);
SAME_NUMBER(runtime::kNotReady, cudaErrorNotReady);
SAME_NUMBER(runtime::kNotSupported, cudaErrorNotSupported);
SAME_NUMBER(runtime::kPoolReleaseThreshold, cudaMemPoolAttrReleaseThreshold);
SAME_NUMBER(runtime::kPoolUsedHigh, cudaMemPoolAttrUsedMemHigh);

SAME_SIZE(driver::LaunchConfig, CUlaunchConfig);
SAME_SIZE(driver::LaunchAttribute, CUlaunchAttribute);
SAME_PLACE(driver::LaunchConfig, grid, CUlaunchConfig, gridDimX);
SAME_PLACE(driver::LaunchConfig, block, CUlaunchConfig, blockDimX);
SAME_PLACE(driver::LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_PLACE(driver::LaunchConfig, stream, CUlaunchConfig, hStream);
SAME_PLACE(driver::LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME_PLACE(driver::LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
SAME_NUMBER(driver::kClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME_SIZE(driver::AllocationProperties, CUmemAllocationProp);
SAME_PLACE(driver::AllocationProperties, location_id, CUmemAllocationProp, location.id);
SAME_SIZE(driver::TensorMap, CUtensorMap);
static_assert(alignof(driver::TensorMap) <= alignof(CUtensorMap));

SAME_NUMBER(driver::kSuccess, CUDA_SUCCESS);
SAME_NUMBER(driver::kInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME_NUMBER(driver::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(driver::kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME_NUMBER(driver::kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME_NUMBER(driver::kNotFound, CUDA_ERROR_NOT_FOUND);
SAME_NUMBER(driver::kNotSupported, CUDA_ERROR_NOT_SUPPORTED);

SAME_NUMBER(driver::kContext, CU_POINTER_ATTRIBUTE_CONTEXT);
SAME_NUMBER(driver::kMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME_NUMBER(driver::kDevicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
SAME_NUMBER(driver::kHostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER);
SAME_NUMBER(driver::kBufferId, CU_POINTER_ATTRIBUTE_BUFFER_ID);
SAME_NUMBER(driver::kIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME_NUMBER(driver::kDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME_NUMBER(driver::kRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME_NUMBER(driver::kRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME_NUMBER(driver::kIsMapped, CU_POINTER_ATTRIBUTE_MAPPED);
SAME_NUMBER(driver::kHostMemory, CU_MEMORYTYPE_HOST);
SAME_NUMBER(driver::kDeviceMemory, CU_MEMORYTYPE_DEVICE);

SAME_NUMBER(driver::kFunctionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_NUMBER(driver::kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_NUMBER(driver::kFunctionPtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME_NUMBER(driver::kFunctionBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME_NUMBER(driver::kFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);

#define SAME_ATTRIBUTE(own, theirs) SAME_NUMBER(hackcuda::own, CU_DEVICE_ATTRIBUTE_##theirs)
SAME_ATTRIBUTE(kMaxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
SAME_ATTRIBUTE(kMaxBlockX, MAX_BLOCK_DIM_X);
SAME_ATTRIBUTE(kMaxBlockY, MAX_BLOCK_DIM_Y);
SAME_ATTRIBUTE(kMaxBlockZ, MAX_BLOCK_DIM_Z);
SAME_ATTRIBUTE(kMaxGridX, MAX_GRID_DIM_X);
SAME_ATTRIBUTE(kMaxGridY, MAX_GRID_DIM_Y);
SAME_ATTRIBUTE(kMaxGridZ, MAX_GRID_DIM_Z);
SAME_ATTRIBUTE(kSharedPerBlock, MAX_SHARED_MEMORY_PER_BLOCK);
SAME_ATTRIBUTE(kConstantMemory, TOTAL_CONSTANT_MEMORY);
SAME_ATTRIBUTE(kWarpSize, WARP_SIZE);
SAME_ATTRIBUTE(kMaxPitch, MAX_PITCH);
SAME_ATTRIBUTE(kRegistersPerBlock, MAX_REGISTERS_PER_BLOCK);
SAME_ATTRIBUTE(kClockKhz, CLOCK_RATE);
SAME_ATTRIBUTE(kTextureAlignment, TEXTURE_ALIGNMENT);
SAME_ATTRIBUTE(kGpuOverlap, GPU_OVERLAP);
SAME_ATTRIBUTE(kSms, MULTIPROCESSOR_COUNT);
SAME_ATTRIBUTE(kKernelTimeout, KERNEL_EXEC_TIMEOUT);
SAME_ATTRIBUTE(kIntegrated, INTEGRATED);
SAME_ATTRIBUTE(kCanMapHostMemory, CAN_MAP_HOST_MEMORY);
SAME_ATTRIBUTE(kComputeMode, COMPUTE_MODE);
SAME_ATTRIBUTE(kConcurrentKernels, CONCURRENT_KERNELS);
SAME_ATTRIBUTE(kEcc, ECC_ENABLED);
SAME_ATTRIBUTE(kPciBus, PCI_BUS_ID);
SAME_ATTRIBUTE(kPciDevice, PCI_DEVICE_ID);
SAME_ATTRIBUTE(kTcc, TCC_DRIVER);
SAME_ATTRIBUTE(kMemoryClockKhz, MEMORY_CLOCK_RATE);
SAME_ATTRIBUTE(kMemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH);
SAME_ATTRIBUTE(kL2Bytes, L2_CACHE_SIZE);
SAME_ATTRIBUTE(kMaxThreadsPerSm, MAX_THREADS_PER_MULTIPROCESSOR);
SAME_ATTRIBUTE(kAsyncEngines, ASYNC_ENGINE_COUNT);
SAME_ATTRIBUTE(kUnifiedAddressing, UNIFIED_ADDRESSING);
SAME_ATTRIBUTE(kPciDomain, PCI_DOMAIN_ID);
SAME_ATTRIBUTE(kMajor, COMPUTE_CAPABILITY_MAJOR);
SAME_ATTRIBUTE(kMinor, COMPUTE_CAPABILITY_MINOR);
SAME_ATTRIBUTE(kStreamPriorities, STREAM_PRIORITIES_SUPPORTED);
SAME_ATTRIBUTE(kGlobalL1, GLOBAL_L1_CACHE_SUPPORTED);
SAME_ATTRIBUTE(kLocalL1, LOCAL_L1_CACHE_SUPPORTED);
SAME_ATTRIBUTE(kSharedPerSm, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME_ATTRIBUTE(kRegistersPerSm, MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME_ATTRIBUTE(kManagedMemory, MANAGED_MEMORY);
SAME_ATTRIBUTE(kMultiGpuBoard, MULTI_GPU_BOARD);
SAME_ATTRIBUTE(kHostNativeAtomics, HOST_NATIVE_ATOMIC_SUPPORTED);
SAME_ATTRIBUTE(kFp32PerFp64, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
SAME_ATTRIBUTE(kPageableAccess, PAGEABLE_MEMORY_ACCESS);
SAME_ATTRIBUTE(kConcurrentManagedAccess, CONCURRENT_MANAGED_ACCESS);
SAME_ATTRIBUTE(kComputePreemption, COMPUTE_PREEMPTION_SUPPORTED);
SAME_ATTRIBUTE(kHostPointerForRegistered, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
SAME_ATTRIBUTE(kCooperativeLaunch, COOPERATIVE_LAUNCH);
SAME_ATTRIBUTE(kSharedPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_ATTRIBUTE(kHostRegister, HOST_REGISTER_SUPPORTED);
SAME_ATTRIBUTE(kPageableAccessUsesHostPageTables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
SAME_ATTRIBUTE(kDirectManagedAccess, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
SAME_ATTRIBUTE(kVirtualMemory, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME_ATTRIBUTE(kPosixHandles, HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME_ATTRIBUTE(kMaxBlocksPerSm, MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME_ATTRIBUTE(kMaxPersistingL2, MAX_PERSISTING_L2_CACHE_SIZE);
SAME_ATTRIBUTE(kAccessPolicyWindow, MAX_ACCESS_POLICY_WINDOW_SIZE);
SAME_ATTRIBUTE(kRdmaWithVirtualMemory, GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
SAME_ATTRIBUTE(kReservedSharedPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK);
SAME_ATTRIBUTE(kSparseArrays, SPARSE_CUDA_ARRAY_SUPPORTED);
SAME_ATTRIBUTE(kReadOnlyHostRegister, READ_ONLY_HOST_REGISTER_SUPPORTED);
SAME_ATTRIBUTE(kTimelineSemaphores, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED);
SAME_ATTRIBUTE(kMemoryPools, MEMORY_POOLS_SUPPORTED);
SAME_ATTRIBUTE(kGpuDirectRdma, GPU_DIRECT_RDMA_SUPPORTED);
SAME_ATTRIBUTE(kRdmaFlushOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS);
SAME_ATTRIBUTE(kRdmaWriteOrder, GPU_DIRECT_RDMA_WRITES_ORDERING);
SAME_ATTRIBUTE(kPoolHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES);
SAME_ATTRIBUTE(kClusterLaunch, CLUSTER_LAUNCH);
SAME_ATTRIBUTE(kDeferredMapping, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED);
SAME_ATTRIBUTE(kIpcEvents, IPC_EVENT_SUPPORTED);
SAME_ATTRIBUTE(kUnifiedFunctions, UNIFIED_FUNCTION_POINTERS);
SAME_ATTRIBUTE(kNumaConfig, NUMA_CONFIG);
SAME_ATTRIBUTE(kNumaId, NUMA_ID);
SAME_ATTRIBUTE(kMultiCast, MULTICAST_SUPPORTED);
SAME_ATTRIBUTE(kFabricHandles, HANDLE_TYPE_FABRIC_SUPPORTED);
SAME_ATTRIBUTE(kMps, MPS_ENABLED);
SAME_ATTRIBUTE(kHostNumaId, HOST_NUMA_ID);
