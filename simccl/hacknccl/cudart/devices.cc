// The GPUs of the virtual host, and errors.
#include <cstdio>
#include <cstring>
#include <mutex>

#include "simccl/hacknccl/cudart/runtime.h"

namespace drydock::cudart {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

const RecordingApi& Recording() {
  static const RecordingApi& api = *hacknccl_get_recording();
  return api;
}

cudaError_t Return(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t CheckHost() {
  const char* reason = Recording().reason();
  if (reason[0] == '\0') return cudaSuccess;
  static std::once_flag said;
  std::call_once(said, [reason] { fprintf(stderr, "libcudart: no device: %s\n", reason); });
  return cudaErrorNoDevice;
}

cudaError_t CheckDevice(int device) {
  const cudaError_t error = CheckHost();
  if (error != cudaSuccess) return error;
  return device >= 0 && device < Recording().host()->gpus ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace drydock::cudart

using drydock::RecordHost;
using drydock::cudart::CheckDevice;
using drydock::cudart::CheckHost;
using drydock::cudart::Recording;
using drydock::cudart::Return;

namespace {

int Attribute(cudaDeviceAttr attribute) {
  const RecordHost& host = *Recording().host();
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      return host.compute_capability / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return host.compute_capability % 10;
    case cudaDevAttrMultiProcessorCount:
      return host.sm_count;
    case cudaDevAttrGPUDirectRDMASupported:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = Recording().host()->gpus;
  return Return(CheckHost());
}
cudaError_t cudaGetDevice(int* device) {
  *device = Recording().device();
  return Return(CheckHost());
}
cudaError_t cudaSetDevice(int device) {
  const cudaError_t error = CheckDevice(device);
  if (error == cudaSuccess) Recording().set_device(device);
  return Return(error);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const RecordHost& host = *Recording().host();
  if (const cudaError_t error = CheckDevice(device); error != cudaSuccess) return Return(error);
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "%s", host.gpu_name);
  properties->totalGlobalMem = static_cast<size_t>(host.memory_bytes);
  properties->major = host.compute_capability / 10;
  properties->minor = host.compute_capability % 10;
  properties->multiProcessorCount = host.sm_count;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const cudaError_t error = CheckDevice(device);
  if (error == cudaSuccess) *value = Attribute(attribute);
  return Return(error);
}
cudaError_t cudaDeviceGetPCIBusId(char* out, int bytes, int device) {
  const cudaError_t error = CheckDevice(device);
  if (error == cudaSuccess) {
    snprintf(out, static_cast<size_t>(bytes), "%s", Recording().host()->bus_ids[device]);
  }
  return Return(error);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  const cudaError_t error =
      CheckDevice(device) != cudaSuccess ? CheckDevice(device) : CheckDevice(peer);
  *can = error == cudaSuccess && device != peer ? 1 : 0;
  return Return(error);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) { return Return(CheckDevice(peer)); }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return Return(CheckHost()); }
cudaError_t cudaDeviceReset() { return Return(CheckHost()); }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = drydock::cudart::last_error;
  drydock::cudart::last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return drydock::cudart::last_error; }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    default:
      return "unrecognized error code";
  }
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    default:
      return "unrecognized error code";
  }
}

}  // extern "C"
