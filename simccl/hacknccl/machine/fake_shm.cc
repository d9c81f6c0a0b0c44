// Memory that ranks of a host would share. Stands in for NCCL's misc/shmutils.cc, except for the
// exchange through it (solo/bootstrap.cc, oracle/bootstrap.cc).
//
// Only kernels and proxies would read this memory, so each rank has its own copy.
#include <cstdlib>

#include "shmutils.h"

ncclResult_t ncclShmOpen(char*, size_t, size_t bytes, void** host, void** device, int,
                         ncclShmHandle_t* handle) {
  *host = calloc(1, bytes);
  if (*host == nullptr) return ncclSystemError;
  if (device != nullptr) *device = *host;
  *handle = *host;
  return ncclSuccess;
}
ncclResult_t ncclShmClose(ncclShmHandle_t handle) {
  free(handle);
  return ncclSuccess;
}
ncclResult_t ncclShmUnlink(ncclShmHandle_t) { return ncclSuccess; }
