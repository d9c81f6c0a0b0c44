// The CUDA driver API. NCCL looks its functions up by name. Functions that return something are
// implemented here; all others succeed and do nothing.
#include <cuda_runtime_api.h>

#include <cstring>
#include <string_view>

#include "simccl/hacknccl/machine/fake_memory.h"
#include "simccl/hacknccl/session/launch_capture.h"
#include "simccl/hacknccl/session/virtual_rank.h"

namespace {

constexpr CUmemGenericAllocationHandle kAnyAllocation = 7;
constexpr size_t kGranularity = 2u << 20;

CUresult Succeed() { return CUDA_SUCCESS; }
CUresult NotSupported() { return CUDA_ERROR_NOT_SUPPORTED; }

CUresult ErrorText(CUresult, const char** text) {
  *text = "error of a fake device";
  return CUDA_SUCCESS;
}
CUresult DeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult DeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
      *value = drydock::CurrentRank().host_class().multicast;
      break;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
      *value = drydock::CurrentRank().host_class().trays > 1;
      break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED:
      *value = 1;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
CUresult ContextGetDevice(CUdevice* device) {
  cudaGetDevice(device);
  return CUDA_SUCCESS;
}
// One context per device: NCCL uses the context as a key.
CUresult ContextGetCurrent(CUcontext* context) {
  int device = 0;
  cudaGetDevice(&device);
  *context = reinterpret_cast<CUcontext>(0x1000 + static_cast<uintptr_t>(device));
  return CUDA_SUCCESS;
}
CUresult ContextCreate(CUcontext* context, void*, int, unsigned, CUdevice) {
  return ContextGetCurrent(context);
}

CUresult AddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  CUdeviceptr begin = address;
  size_t size = size_t{1} << 30;
  for (const drydock::CallBuffers::Memory& memory : drydock::CurrentLaunch().registered) {
    const auto at = reinterpret_cast<CUdeviceptr>(memory.at);
    if (address < at || address - at >= memory.bytes) continue;
    begin = at;
    size = memory.bytes;
  }
  if (base != nullptr) *base = begin;
  if (bytes != nullptr) *bytes = size;
  return CUDA_SUCCESS;
}
// NCCL can share all memory; none is of the legacy IPC kind.
CUresult PointerAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr) {
  if (attribute == CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES) {
    *static_cast<int*>(value) =
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
  } else if (attribute == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE) {
    *static_cast<int*>(value) = 0;
  }
  return CUDA_SUCCESS;
}
CUresult AddressReserve(CUdeviceptr* address, size_t bytes, size_t, CUdeviceptr,
                        unsigned long long) {
  *address = reinterpret_cast<CUdeviceptr>(drydock::AllocateFake(bytes));
  return *address == 0 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}
CUresult AddressFree(CUdeviceptr address, size_t) {
  drydock::FreeFake(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
CUresult MakeAllocation(CUmemGenericAllocationHandle* handle) {
  *handle = kAnyAllocation;
  return CUDA_SUCCESS;
}
CUresult Granularity(size_t* granularity) {
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}
CUresult ExportHandle(void* handle) {
  *static_cast<int*>(handle) = 0;
  return CUDA_SUCCESS;
}
CUresult AllocationProperties(CUmemAllocationProp* properties) {
  memset(properties, 0, sizeof *properties);
  return CUDA_SUCCESS;
}

struct Entry {
  std::string_view name;
  void* function;
};
template <class Function>
void* Erase(Function* function) {
  return reinterpret_cast<void*>(function);
}
// A C++ signature omits trailing parameters that the function ignores: on NCCL's platforms the
// caller passes and clears them.
const Entry kEntries[] = {
    {"cuGetErrorString", Erase(ErrorText)},
    {"cuGetErrorName", Erase(ErrorText)},
    {"cuDeviceGet", Erase(DeviceGet)},
    {"cuDeviceGetAttribute", Erase(DeviceGetAttribute)},
    {"cuCtxGetDevice", Erase(ContextGetDevice)},
    {"cuCtxGetCurrent", Erase(ContextGetCurrent)},
    {"cuCtxCreate", Erase(ContextCreate)},
    {"cuMemGetAddressRange", Erase(AddressRange)},
    {"cuPointerGetAttribute", Erase(PointerAttribute)},
    {"cuMemAddressReserve", Erase(AddressReserve)},
    {"cuMemAddressFree", Erase(AddressFree)},
    {"cuMemCreate", Erase(MakeAllocation)},
    {"cuMemImportFromShareableHandle", Erase(MakeAllocation)},
    {"cuMemRetainAllocationHandle", Erase(MakeAllocation)},
    {"cuMulticastCreate", Erase(MakeAllocation)},
    {"cuMemGetAllocationGranularity", Erase(Granularity)},
    {"cuMulticastGetGranularity", Erase(Granularity)},
    {"cuMemExportToShareableHandle", Erase(ExportHandle)},
    {"cuMemGetAllocationPropertiesFromHandle", Erase(AllocationProperties)},
    {"cuMemGetHandleForAddressRange", Erase(NotSupported)},
};

}  // namespace

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                        unsigned long long,
                                                        cudaDriverEntryPointQueryResult* result) {
  *function = Erase(Succeed);
  for (const Entry& entry : kEntries) {
    if (entry.name == name) *function = entry.function;
  }
  if (result != nullptr) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
