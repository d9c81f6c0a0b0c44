// Calls on buffers that are registered, in a symmetric window, registered on some ranks only, and
// deregistered.
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

static void Check(ncclResult_t result) {
  if (result != ncclSuccess) {
    fprintf(stderr, "%s\n", ncclGetLastError(NULL));
    exit(1);
  }
}

constexpr int kRanks = 8;
constexpr size_t kCount = 1 << 22, kBytes = kCount * sizeof(float);

struct Rank {
  ncclComm_t comm;
  void* data;
};

static void AllReduce(Rank* ranks, size_t count) {
  Check(ncclGroupStart());
  for (int r = 0; r < kRanks; ++r) {
    Check(ncclAllReduce(ranks[r].data, ranks[r].data, count, ncclFloat, ncclSum, ranks[r].comm,
                        NULL));
  }
  Check(ncclGroupEnd());
}

int main() {
  ncclComm_t comms[kRanks];
  Check(ncclCommInitAll(comms, kRanks, NULL));
  Rank ranks[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    ranks[r].comm = comms[r];
    cudaSetDevice(r);
    Check(ncclMemAlloc(&ranks[r].data, kBytes));
  }
  AllReduce(ranks, kCount);
  void* handles[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    Check(ncclCommRegister(ranks[r].comm, ranks[r].data, kBytes, &handles[r]));
    if (r == 0) AllReduce(ranks, kCount / 2);  // registered on one rank only
  }
  AllReduce(ranks, kCount);
  for (int r = 0; r < kRanks; ++r) Check(ncclCommDeregister(ranks[r].comm, handles[r]));
  ncclWindow_t windows[kRanks];
  for (int r = 0; r < kRanks; ++r) {
    Check(ncclCommWindowRegister(ranks[r].comm, ranks[r].data, kBytes, &windows[r],
                                 NCCL_WIN_COLL_SYMMETRIC));
  }
  if (getenv("SYMMETRIC") != NULL) AllReduce(ranks, kCount);
  for (int r = 0; r < kRanks; ++r) Check(ncclCommWindowDeregister(ranks[r].comm, windows[r]));
  if (ncclCommWindowDeregister(ranks[0].comm, windows[0]) != ncclInvalidArgument) return 2;
  AllReduce(ranks, kCount / 4);
  for (int r = 0; r < kRanks; ++r) {
    Check(ncclMemFree(ranks[r].data));
    Check(ncclCommDestroy(ranks[r].comm));
  }
  return 0;
}
