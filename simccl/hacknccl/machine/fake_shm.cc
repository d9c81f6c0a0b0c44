// Memory that ranks of a host would share. Stands in for NCCL's misc/shmutils.cc, but for the
// exchange through it (fake_bootstrap.cc, oracle/bootstrap.cc).
//
// What NCCL would keep there is read by kernels and proxies alone: a rank's own copy will do.
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
