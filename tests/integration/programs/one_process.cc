// A program that drives all GPUs of a host from one process: first one thread through
// ncclCommInitAll and groups, then a thread for each GPU with a separate communicator.
#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

#include <thread>
#include <vector>

#define CHECK(call)                                               \
  do {                                                            \
    if ((call) != 0) {                                            \
      fprintf(stderr, "%s: %s\n", #call, ncclGetLastError(NULL)); \
      exit(1);                                                    \
    }                                                             \
  } while (0)

static void RunRank(ncclUniqueId id, int rank, int ranks) {
  CHECK(cudaSetDevice(rank));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comm;
  ncclResult_t state = ncclCommInitRankConfig(&comm, ranks, id, rank, &config);
  while (state == ncclInProgress) CHECK(ncclCommGetAsyncError(comm, &state));
  CHECK(state);
  state = ncclAllGather(NULL, NULL, 4096, ncclInt8, comm, NULL);
  while (state == ncclInProgress) CHECK(ncclCommGetAsyncError(comm, &state));
  CHECK(state);
  CHECK(ncclCommDestroy(comm));
}

int main() {
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));
  std::vector<ncclComm_t> comms(gpus);
  std::vector<cudaStream_t> streams(gpus);
  CHECK(ncclCommInitAll(comms.data(), gpus, NULL));
  for (int i = 0; i < gpus; ++i) {
    CHECK(cudaSetDevice(i));
    CHECK(cudaStreamCreate(&streams[i]));
    void* buffer = NULL;
    CHECK(cudaMalloc(&buffer, 4096));
    CHECK(cudaMemsetAsync(buffer, 0, 4096, streams[i]));
    CHECK(cudaLaunchKernel((const void*)RunRank, dim3(1), dim3(32), NULL, 0, streams[i]));
  }
  CHECK(ncclGroupStart());
  for (int i = 0; i < gpus; ++i) {
    CHECK(ncclAllReduce(NULL, NULL, 1 << 20, ncclHalf, ncclSum, comms[i], streams[i]));
    CHECK(ncclBroadcast(NULL, NULL, 1 << 10, ncclHalf, 2, comms[i], streams[i]));
  }
  CHECK(ncclGroupEnd());
  for (int i = 0; i < gpus; ++i) CHECK(ncclCommDestroy(comms[i]));

  ncclUniqueId id;
  CHECK(ncclGetUniqueId(&id));
  std::vector<std::thread> threads;
  for (int i = 0; i < gpus; ++i) threads.emplace_back(RunRank, id, i, gpus);
  for (std::thread& thread : threads) thread.join();
  return 0;
}
