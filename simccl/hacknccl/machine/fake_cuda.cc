// The CUDA runtime of a host without a GPU. Properties come from the current rank's host class,
// memory from fake_memory.h. Copies, streams, events and launches succeed and do nothing, since no
// data is ever read. Events are always complete, so that NCCL recycles its resources at once.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "simccl/hacknccl/machine/fake_memory.h"
#include "simccl/hacknccl/session/virtual_rank.h"

namespace {

using drydock::AllocateFake;
using drydock::CurrentRank;
using drydock::FreeFake;

// NCCL tests these handles against null and never looks inside.
template <class Handle>
Handle AnyHandle() {
  return reinterpret_cast<Handle>(0x10);
}

// Each helper thread of NCCL selects its device before it queries it.
thread_local int device = 0;

constexpr int kCudaVersion = 13000;
// Shared memory a thread block can opt in to, by compute capability: CUDA programming guide,
// technical specifications.
int SharedMemoryPerBlock(int capability) {
  if (capability >= 90 && capability < 120) return 232448;
  if (capability == 80 || capability == 87) return 166912;
  if (capability == 70) return 98304;
  return 101376;
}

cudaError_t Allocate(void** pointer, size_t bytes) {
  *pointer = AllocateFake(bytes);
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t Free(void* pointer) {
  FreeFake(pointer);
  return cudaSuccess;
}

}  // namespace

extern "C" {

// ---- Devices ----

cudaError_t cudaGetDevice(int* out) {
  *out = device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int wanted) {
  device = wanted;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(CurrentRank().host_class().gpu_bus_ids.size());
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  const drydock::HostClass& host = CurrentRank().host_class();
  memset(properties, 0, sizeof *properties);
  properties->totalGlobalMem = static_cast<size_t>(host.memory_bytes);
  properties->major = host.compute_capability / 10;
  properties->minor = host.compute_capability % 10;
  properties->multiProcessorCount = host.sm_count;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const drydock::HostClass& host = CurrentRank().host_class();
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = host.compute_capability / 10;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = host.compute_capability % 10;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = host.sm_count;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = SharedMemoryPerBlock(host.compute_capability);
      break;
    case cudaDevAttrGPUDirectRDMASupported:
      *value = 1;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int bytes, int index) {
  const auto& gpus = CurrentRank().host_class().gpu_bus_ids;
  if (index < 0 || static_cast<size_t>(index) >= gpus.size()) return cudaErrorInvalidValue;
  snprintf(out, static_cast<size_t>(bytes), "%s", gpus[static_cast<size_t>(index)].c_str());
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = kCudaVersion;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kCudaVersion;
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) { return "no error of a fake device is expected"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

// ---- Memory ----

cudaError_t cudaMalloc(void** pointer, size_t bytes) { return Allocate(pointer, bytes); }
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t, cudaStream_t) {
  return Allocate(pointer, bytes);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return Allocate(pointer, bytes);
}
cudaError_t cudaFree(void* pointer) { return Free(pointer); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return Free(pointer); }
cudaError_t cudaFreeHost(void* pointer) { return Free(pointer); }
cudaError_t cudaHostGetDevicePointer(void** out, void* host, unsigned) {
  *out = host;
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  *pool = AnyHandle<cudaMemPool_t>();
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind) { return cudaSuccess; }
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemcpyBatchAsync(void* const*, const void* const*, const size_t*, size_t,
                                 cudaMemcpyAttributes*, size_t*, size_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemset(void*, int, size_t) { return cudaSuccess; }
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  memset(attributes, 0, sizeof *attributes);
  attributes->type = cudaMemoryTypeDevice;
  attributes->device = device;
  attributes->devicePointer = const_cast<void*>(pointer);
  return cudaSuccess;
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void*) {
  memset(handle, 0, sizeof *handle);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t, unsigned) {
  return Allocate(pointer, 1);
}
cudaError_t cudaIpcCloseMemHandle(void* pointer) { return Free(pointer); }

// ---- Streams, events, graphs ----

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = AnyHandle<cudaStream_t>();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaStreamGetId(cudaStream_t, unsigned long long* id) {
  *id = 1;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**, size_t*) {
  if (status != nullptr) *status = cudaStreamCaptureStatusNone;
  if (id != nullptr) *id = 0;
  if (graph != nullptr) *graph = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t, cudaGraphNode_t*,
                                                const cudaGraphEdgeData*, size_t, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* argument) {
  function(argument);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = AnyHandle<cudaEvent_t>();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*,
                                     const cudaGraphEdgeData*, size_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*,
                                        size_t, cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned, unsigned) {
  return cudaSuccess;
}
cudaError_t cudaUserObjectCreate(cudaUserObject_t*, void*, cudaHostFn_t, unsigned, unsigned) {
  return cudaSuccess;
}

// ---- Kernels ----

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 640;  // NCCL_MAX_NTHREADS: every kernel may use all its threads
  attributes->binaryVersion = CurrentRank().host_class().compute_capability;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  *function = static_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return cudaSuccess;
}

}  // extern "C"
