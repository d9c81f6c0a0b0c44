// Types of the driver entry points that NCCL looks up at run time (misc/cudawrap.cc), one per line:
// name, the CUDA version its signature dates from, parameters.
#pragma once

#include "cuda.h"

#define DRYDOCK_ENTRY(name, version, ...) typedef CUresult (*PFN_##name##_v##version)(__VA_ARGS__)

DRYDOCK_ENTRY(cuGetErrorString, 6000, CUresult, const char**);
DRYDOCK_ENTRY(cuGetErrorName, 6000, CUresult, const char**);
DRYDOCK_ENTRY(cuDeviceGet, 2000, CUdevice*, int);
DRYDOCK_ENTRY(cuDeviceGetAttribute, 2000, int*, CUdevice_attribute, CUdevice);
DRYDOCK_ENTRY(cuCtxCreate, 11040, CUcontext*, void*, int, unsigned, CUdevice);
DRYDOCK_ENTRY(cuCtxDestroy, 4000, CUcontext);
DRYDOCK_ENTRY(cuCtxGetCurrent, 4000, CUcontext*);
DRYDOCK_ENTRY(cuCtxSetCurrent, 4000, CUcontext);
DRYDOCK_ENTRY(cuCtxGetDevice, 2000, CUdevice*);
DRYDOCK_ENTRY(cuLaunchKernel, 4000, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
              unsigned, unsigned, CUstream, void**, void**);
DRYDOCK_ENTRY(cuLaunchKernelEx, 11060, const CUlaunchConfig*, CUfunction, void**, void**);
DRYDOCK_ENTRY(cuPointerGetAttribute, 4000, void*, CUpointer_attribute, CUdeviceptr);

DRYDOCK_ENTRY(cuMemGetAddressRange, 3020, CUdeviceptr*, size_t*, CUdeviceptr);
DRYDOCK_ENTRY(cuMemAddressReserve, 10020, CUdeviceptr*, size_t, size_t, CUdeviceptr,
              unsigned long long);
DRYDOCK_ENTRY(cuMemAddressFree, 10020, CUdeviceptr, size_t);
DRYDOCK_ENTRY(cuMemCreate, 10020, CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*,
              unsigned long long);
DRYDOCK_ENTRY(cuMemGetAllocationGranularity, 10020, size_t*, const CUmemAllocationProp*,
              CUmemAllocationGranularity_flags);
DRYDOCK_ENTRY(cuMemExportToShareableHandle, 10020, void*, CUmemGenericAllocationHandle,
              CUmemAllocationHandleType, unsigned long long);
DRYDOCK_ENTRY(cuMemImportFromShareableHandle, 10020, CUmemGenericAllocationHandle*, void*,
              CUmemAllocationHandleType);
DRYDOCK_ENTRY(cuMemMap, 10020, CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
              unsigned long long);
DRYDOCK_ENTRY(cuMemUnmap, 10020, CUdeviceptr, size_t);
DRYDOCK_ENTRY(cuMemRelease, 10020, CUmemGenericAllocationHandle);
DRYDOCK_ENTRY(cuMemRetainAllocationHandle, 11000, CUmemGenericAllocationHandle*, void*);
DRYDOCK_ENTRY(cuMemSetAccess, 10020, CUdeviceptr, size_t, const CUmemAccessDesc*, size_t);
DRYDOCK_ENTRY(cuMemGetAllocationPropertiesFromHandle, 10020, CUmemAllocationProp*,
              CUmemGenericAllocationHandle);
DRYDOCK_ENTRY(cuMemGetHandleForAddressRange, 11070, void*, CUdeviceptr, size_t,
              CUmemRangeHandleType, unsigned long long);

DRYDOCK_ENTRY(cuMulticastCreate, 12010, CUmemGenericAllocationHandle*,
              const CUmulticastObjectProp*);
DRYDOCK_ENTRY(cuMulticastAddDevice, 12010, CUmemGenericAllocationHandle, CUdevice);
DRYDOCK_ENTRY(cuMulticastBindMem, 12010, CUmemGenericAllocationHandle, size_t,
              CUmemGenericAllocationHandle, size_t, size_t, unsigned long long);
DRYDOCK_ENTRY(cuMulticastBindAddr, 12010, CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t,
              unsigned long long);
DRYDOCK_ENTRY(cuMulticastGetGranularity, 12010, size_t*, const CUmulticastObjectProp*,
              CUmulticastGranularity_flags);
DRYDOCK_ENTRY(cuMulticastUnbind, 12010, CUmemGenericAllocationHandle, CUdevice, size_t, size_t);

DRYDOCK_ENTRY(cuStreamBatchMemOp, 11070, CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);
DRYDOCK_ENTRY(cuStreamWaitValue32, 11070, CUstream, CUdeviceptr, cuuint32_t, unsigned);
DRYDOCK_ENTRY(cuStreamWaitValue64, 11070, CUstream, CUdeviceptr, cuuint64_t, unsigned);
DRYDOCK_ENTRY(cuStreamWriteValue32, 11070, CUstream, CUdeviceptr, cuuint32_t, unsigned);
DRYDOCK_ENTRY(cuStreamWriteValue64, 11070, CUstream, CUdeviceptr, cuuint64_t, unsigned);

#undef DRYDOCK_ENTRY
