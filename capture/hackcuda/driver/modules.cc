// Kernels that a program compiles and loads itself, as Triton does.
#include <cstring>

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/gpu.h"
#include "capture/hackcuda/device/kernels.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"
#include "capture/hackcuda/driver/abi.h"

namespace drydock::hackcuda::driver {
namespace {

constexpr int kAssumedRegisters = 64;

void* const kModule = reinterpret_cast<void*>(uintptr_t{1});

}  // namespace

HACKCUDA_EXPORT int cuModuleLoadData(void** module, const void*) {
  *module = kModule;
  return kSuccess;
}
HACKCUDA_EXPORT int cuModuleLoadDataEx(void** module, const void*, unsigned, int*, void**) {
  *module = kModule;
  return kSuccess;
}
HACKCUDA_EXPORT int cuModuleLoad(void** module, const char*) {
  *module = kModule;
  return kSuccess;
}
HACKCUDA_EXPORT int cuLibraryLoadData(void** library, const void*, int*, void**, unsigned, int*,
                                      void**, unsigned) {
  *library = kModule;
  return kSuccess;
}
HACKCUDA_EXPORT int cuModuleUnload(void*) { return kSuccess; }
HACKCUDA_EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = new char;  // a handle of its own; programs keep functions to the end
  NameKernel(*function, name);
  return kSuccess;
}
HACKCUDA_EXPORT int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}
HACKCUDA_EXPORT int cuKernelGetFunction(void** function, void* kernel) {
  *function = kernel;
  return kSuccess;
}
HACKCUDA_EXPORT int cuModuleGetGlobal_v2(uintptr_t* address, size_t* bytes, void*, const char*) {
  if (address != nullptr) *address = 0;
  if (bytes != nullptr) *bytes = 0;
  return kNotFound;
}
HACKCUDA_EXPORT int cuFuncGetAttribute(int* value, int attribute, const void*) {
  switch (attribute) {
    case kFunctionMaxThreads:
      *value = 1024;
      break;
    case kFunctionRegisters:
      *value = kAssumedRegisters;
      break;
    case kFunctionPtxVersion:
    case kFunctionBinaryVersion:
      *value = Process().compute_capability;
      break;
    case kFunctionMaxDynamicShared:
      *value = static_cast<int>(OwnCapability().shared_per_block_optin);
      break;
    default:
      *value = 0;
  }
  return kSuccess;
}
HACKCUDA_EXPORT int cuFuncSetAttribute(const void*, int, int) { return kSuccess; }
HACKCUDA_EXPORT int cuFuncSetCacheConfig(const void*, int) { return kSuccess; }
HACKCUDA_EXPORT int cuFuncLoad(const void*) { return kSuccess; }

HACKCUDA_EXPORT int cuLaunchKernel(const void* function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, const void* stream,
                                   void**, void**) {
  LaunchKernel(function,
               {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, {1, 1, 1}, shared_bytes},
               stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cuLaunchKernelEx(const LaunchConfig* config, const void* function, void**,
                                     void**) {
  LaunchShape shape;
  memcpy(shape.grid, config->grid, sizeof shape.grid);
  memcpy(shape.block, config->block, sizeof shape.block);
  shape.shared_bytes = config->shared_bytes;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    if (config->attributes[i].id != kClusterDimension) continue;
    memcpy(shape.cluster, config->attributes[i].value.cluster, sizeof shape.cluster);
  }
  LaunchKernel(function, shape, config->stream);
  return kSuccess;
}
HACKCUDA_EXPORT int cuLaunchCooperativeKernel(const void* function, unsigned grid_x,
                                              unsigned grid_y, unsigned grid_z, unsigned block_x,
                                              unsigned block_y, unsigned block_z,
                                              unsigned shared_bytes, const void* stream,
                                              void** arguments) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        stream, arguments, nullptr);
}
HACKCUDA_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*,
                                                                int threads, size_t shared_bytes) {
  *blocks = BlocksPerSm(threads, shared_bytes);
  return kSuccess;
}
HACKCUDA_EXPORT int cuOccupancyMaxActiveClusters(int* clusters, const void*, const LaunchConfig*) {
  *clusters = Process().sms / 2;
  return kSuccess;
}
HACKCUDA_EXPORT int cuTensorMapEncodeTiled(TensorMap* map, int, unsigned, void*, const void*,
                                           const void*, const void*, const void*, int, int, int,
                                           int) {
  *map = {};
  return kSuccess;
}

}  // namespace drydock::hackcuda::driver
