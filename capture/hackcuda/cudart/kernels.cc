// Kernels: libraries register them when they are loaded, and launch them by a host function.
#include "capture/hackcuda/device/kernels.h"

#include <cstdlib>

#include "capture/hackcuda/cudart/runtime.h"
#include "capture/hackcuda/device/gpu.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"

namespace drydock::hackcuda::cudart {
namespace {

// Not every library that is compiled for GPUs says how many registers a kernel takes.
constexpr int kAssumedRegisters = 64;

LaunchShape ShapeOf(Dim3 grid, Dim3 block, size_t shared_bytes) {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, {1, 1, 1}, shared_bytes};
}

int Launch(const void* function, Dim3 grid, Dim3 block, size_t shared_bytes, void* stream) {
  LaunchKernel(function, ShapeOf(grid, block, shared_bytes), stream);
  return kSuccess;
}

// What <<<...>>> pushes and the function behind it pops.
struct Pushed {
  Dim3 grid, block;
  size_t shared_bytes;
  void* stream;
};
thread_local Pushed pushed;

}  // namespace

HACKCUDA_EXPORT void** __cudaRegisterFatBinary(void*) {
  return static_cast<void**>(calloc(1, sizeof(void*)));
}
HACKCUDA_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
HACKCUDA_EXPORT void __cudaUnregisterFatBinary(void** handle) { free(handle); }
HACKCUDA_EXPORT char __cudaInitModule(void**) { return 1; }
HACKCUDA_EXPORT void __cudaRegisterFunction(void**, const char* function, char*, const char* name,
                                            int, void*, void*, void*, void*, int*) {
  NameKernel(function, name);
}
HACKCUDA_EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes,
                                                     void* stream) {
  pushed = {grid, block, shared_bytes, stream};
  return 0;
}
HACKCUDA_EXPORT int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes,
                                               void* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared_bytes = pushed.shared_bytes;
  *static_cast<void**>(stream) = pushed.stream;
  return kSuccess;
}

HACKCUDA_EXPORT int cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void**,
                                     size_t shared_bytes, void* stream) {
  return Launch(function, grid, block, shared_bytes, stream);
}
HACKCUDA_EXPORT int cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void**,
                                                size_t shared_bytes, void* stream) {
  return Launch(function, grid, block, shared_bytes, stream);
}
HACKCUDA_EXPORT int cudaLaunchKernelExC(const LaunchConfig* config, const void* function, void**) {
  LaunchShape shape = ShapeOf(config->grid, config->block, config->shared_bytes);
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (config->attributes[i].id != kClusterDimension) continue;
    const Dim3& cluster = config->attributes[i].value.cluster;
    shape.cluster[0] = cluster.x;
    shape.cluster[1] = cluster.y;
    shape.cluster[2] = cluster.z;
  }
  LaunchKernel(function, shape, config->stream);
  return kSuccess;
}
// What nvcc 13 writes in place of cudaLaunchKernel.
HACKCUDA_EXPORT int __cudaGetKernel(void** kernel, const void* function) {
  *kernel = const_cast<void*>(function);
  return kSuccess;
}
HACKCUDA_EXPORT int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void**,
                                       size_t shared_bytes, void* stream) {
  return Launch(kernel, grid, block, shared_bytes, stream);
}
HACKCUDA_EXPORT int cudaGetFuncBySymbol(void** function, const void* symbol) {
  *function = const_cast<void*>(symbol);
  return kSuccess;
}

// Clusters of an H100 have up to 8 thread blocks unless a kernel asks for more.
HACKCUDA_EXPORT int cudaOccupancyMaxPotentialClusterSize(int* size, const void*, const void*) {
  constexpr int kPortableClusterSize = 8;
  *size = kPortableClusterSize;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaOccupancyMaxActiveClusters(int* clusters, const void*,
                                                   const LaunchConfig* config) {
  unsigned blocks = 1;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (config->attributes[i].id != kClusterDimension) continue;
    const Dim3& cluster = config->attributes[i].value.cluster;
    blocks = cluster.x * cluster.y * cluster.z;
  }
  const auto threads = static_cast<int>(config->block.x * config->block.y * config->block.z);
  const int resident = Process().sms * BlocksPerSm(threads, config->shared_bytes);
  *clusters = resident / static_cast<int>(blocks == 0 ? 1 : blocks);
  return kSuccess;
}

HACKCUDA_EXPORT int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  Log(EntryKind::kHostFunction, {StreamNumber(stream)});
  function(data);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*),
                                          void* data, unsigned) {
  Log(EntryKind::kHostFunction, {StreamNumber(stream)});
  function(stream, kSuccess, data);
  return kSuccess;
}

HACKCUDA_EXPORT int cudaFuncSetAttribute(const void*, int, int) { return kSuccess; }
HACKCUDA_EXPORT int cudaFuncSetCacheConfig(const void*, int) { return kSuccess; }
HACKCUDA_EXPORT int cudaFuncGetAttributes(FunctionAttributes* attributes, const void*) {
  const Capability& capability = OwnCapability();
  *attributes = {};
  attributes->max_threads_per_block = 1024;
  attributes->registers = kAssumedRegisters;
  attributes->ptx_version = attributes->binary_version = Process().compute_capability;
  attributes->max_dynamic_shared_bytes = static_cast<int>(capability.shared_per_block_optin);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                           int threads,
                                                                           size_t shared_bytes,
                                                                           unsigned) {
  const int by_registers = kRegisters / kAssumedRegisters / (threads < 1 ? 1 : threads);
  const int by_others = BlocksPerSm(threads, shared_bytes);
  *blocks = by_registers < by_others ? by_registers : by_others;
  if (*blocks < 1 && by_others >= 1) *blocks = 1;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                  int threads,
                                                                  size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                shared_bytes, 0);
}

}  // namespace drydock::hackcuda::cudart
