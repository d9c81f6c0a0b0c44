// Parts of NCCL that this library leaves out and that no call should reach.
#include "checks.h"
#include "comm.h"
#include "device.h"
#include "ras.h"

// The RAS network watches real processes.
ncclResult_t ncclRasCommInit(ncclComm*, rasRankInit*) { return ncclSuccess; }
ncclResult_t ncclRasCommFini(const ncclComm*) { return ncclSuccess; }
ncclResult_t ncclRasAddRanks(rasRankInit*, int) { return ncclSuccess; }

// Device code that NCCL starts outside its plans. A reduction of one rank is a local copy.
ncclResult_t ncclLaunchOneRank(void*, const void*, size_t, ncclDevRedOpFull, ncclDataType_t,
                               cudaStream_t) {
  return ncclSuccess;
}
ncclResult_t ncclGinResetSignalsAndCounters(ncclComm*, const ncclDevComm_t*) {
  WARN("GPU-initiated networking is not part of this library");
  return ncclInternalError;
}
