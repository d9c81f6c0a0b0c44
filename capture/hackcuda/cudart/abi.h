// What libcudart's callers pass and read, as far as libhackcuda looks at it: sizes, offsets and
// numbers of NVIDIA's public interface, of CUDA 12 and 13.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_CUDART_ABI_H_
#define DRYDOCK_CAPTURE_HACKCUDA_CUDART_ABI_H_

#include <cstddef>
#include <cstdint>

namespace drydock::hackcuda::cudart {

enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidDevice = 101,
  kNoDevice = 100,
  kInvalidResourceHandle = 400,
  kNotReady = 600,
  kNotSupported = 801,
};

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// cudaLaunchConfig_t and cudaLaunchAttribute.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    Dim3 cluster;
  } value;
};
inline constexpr int kClusterDimension = 4;
struct LaunchConfig {
  Dim3 grid, block;
  size_t shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// cudaPointerAttributes; CUDA 13 adds 64 reserved bytes.
struct PointerAttributes {
  int type;  // kMemory...
  int device;
  void* device_pointer;
  void* host_pointer;
};
inline constexpr int kMemoryUnregistered = 0, kMemoryHost = 1, kMemoryDevice = 2;

// cudaMemPoolAttr.
inline constexpr int kPoolReleaseThreshold = 4, kPoolUsedHigh = 8;

// cudaFuncAttributes.
struct FunctionAttributes {
  size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode;
  int max_dynamic_shared_bytes, shared_carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth;
  int cluster_scheduling, non_portable_cluster_allowed;
  int reserved[16];
};

// cudaDeviceProp of CUDA 12.
struct Properties12 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_mask;
  size_t total_memory, shared_per_block;
  int registers_per_block, warp_size;
  size_t memory_pitch;
  int max_threads_per_block, max_threads[3], max_grid[3];
  int clock_khz;
  size_t constant_memory;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int device_overlap, sms, kernel_timeout, integrated, can_map_host_memory, compute_mode;
  int textures[40];
  size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines;
  int unified_addressing, memory_clock_khz, memory_bus_width, l2_bytes, max_persisting_l2;
  int max_threads_per_sm, stream_priorities, global_l1, local_l1;
  size_t shared_per_sm;
  int registers_per_sm, managed_memory, multi_gpu_board, multi_gpu_board_group;
  int host_native_atomics, fp32_per_fp64, pageable_access, concurrent_managed_access;
  int compute_preemption, host_pointer_for_registered, cooperative_launch;
  int cooperative_multi_device_launch;
  size_t shared_per_block_optin;
  int host_page_tables, direct_managed_access, max_blocks_per_sm, access_policy_window;
  size_t reserved_shared_per_block;
  int host_register, sparse_arrays, read_only_host_register, timeline_semaphores, memory_pools;
  int gpu_direct_rdma;
  unsigned rdma_flush_options;
  int rdma_write_order;
  unsigned pool_handle_types;
  int deferred_mapping, ipc_events, cluster_launch, unified_functions;
  int reserved[63];
};

// cudaDeviceProp of CUDA 13.
struct Properties13 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_mask;
  size_t total_memory, shared_per_block;
  int registers_per_block, warp_size;
  size_t memory_pitch;
  int max_threads_per_block, max_threads[3], max_grid[3];
  size_t constant_memory;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int sms, integrated, can_map_host_memory;
  int textures[39];
  size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines;
  int unified_addressing, memory_bus_width, l2_bytes, max_persisting_l2;
  int max_threads_per_sm, stream_priorities, global_l1, local_l1;
  size_t shared_per_sm;
  int registers_per_sm, managed_memory, multi_gpu_board, multi_gpu_board_group;
  int host_native_atomics, pageable_access, concurrent_managed_access;
  int compute_preemption, host_pointer_for_registered, cooperative_launch;
  size_t shared_per_block_optin;
  int host_page_tables, direct_managed_access, max_blocks_per_sm, access_policy_window;
  size_t reserved_shared_per_block;
  int host_register, sparse_arrays, read_only_host_register, timeline_semaphores, memory_pools;
  int gpu_direct_rdma;
  unsigned rdma_flush_options;
  int rdma_write_order;
  unsigned pool_handle_types;
  int deferred_mapping, ipc_events, cluster_launch, unified_functions;
  int numa_config, numa_id, mps, host_numa_id;
  unsigned pci_device_id, pci_subsystem_id;
  int host_numa_multinode_ipc;
  int reserved[56];
};

}  // namespace drydock::hackcuda::cudart

#endif  // DRYDOCK_CAPTURE_HACKCUDA_CUDART_ABI_H_
